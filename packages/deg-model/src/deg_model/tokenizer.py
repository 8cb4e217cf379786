"""Text to tokens and back to places in the text."""

from __future__ import annotations

from pathlib import Path

import tokenizers

from deg_model.errors import WeightsError

__all__ = ["Tokenizer"]

_CACHED_LENGTH = 64
_CACHED_LINES = 4096


class Tokenizer:
    """A byte-level tokenizer that adds nothing of its own and knows where each token stands.

    Special tokens are read as such only where deg writes them (`special=True`): a document that
    happens to contain the text of one is read as plain text.
    """

    def __init__(self, inner: tokenizers.Tokenizer) -> None:
        self._inner = inner
        self._inner.no_padding()
        self._inner.no_truncation()
        self._inner.encode_special_tokens = True
        self._cache: dict[str, tuple[int, ...]] = {}
        self._special_cache: dict[str, tuple[int, ...]] = {}

    @classmethod
    def load(cls, folder: Path) -> Tokenizer:
        """Read `tokenizer.json` from *folder*.

        Raises:
            WeightsError: The file is missing or damaged.
        """
        path = folder / "tokenizer.json"
        if not path.is_file():
            raise WeightsError(f"{path} does not exist: the base weights there are not complete")
        try:
            return cls(tokenizers.Tokenizer.from_file(str(path)))
        except Exception as error:  # tokenizers raises nothing narrower
            raise WeightsError(f"{path} is damaged ({error}): delete {folder}") from error

    def encode(self, text: str, *, special: bool = False) -> tuple[int, ...]:
        """Return the tokens of *text*."""
        if special:
            return self._special(text)
        ids = self._cache.get(text)
        if ids is None:
            ids = tuple(self._inner.encode(text, add_special_tokens=False).ids)
            # the same few lines of text open every fork
            if len(text) <= _CACHED_LENGTH and len(self._cache) < _CACHED_LINES:
                self._cache[text] = ids
        return ids

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the tokens of *text* and the code points [start, end) that each one covers."""
        encoding = self._inner.encode(text, add_special_tokens=False)
        return encoding.ids, encoding.offsets

    def decode(self, ids: list[int]) -> str:
        """Return the text of *ids*, special tokens left out."""
        return str(self._inner.decode(ids, skip_special_tokens=True))

    def _special(self, text: str) -> tuple[int, ...]:
        # the flag belongs to the whole tokenizer, so each such text is read once
        if text not in self._special_cache:
            self._inner.encode_special_tokens = False
            try:
                encoding = self._inner.encode(text, add_special_tokens=False)
            finally:
                self._inner.encode_special_tokens = True
            self._special_cache[text] = tuple(encoding.ids)
        return self._special_cache[text]
