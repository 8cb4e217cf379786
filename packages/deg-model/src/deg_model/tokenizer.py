"""Text to tokens and back to places in the text."""

from __future__ import annotations

from pathlib import Path

import tokenizers

from deg_model.errors import WeightsError

__all__ = ["Tokenizer"]


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

    @classmethod
    def load(cls, folder: Path) -> Tokenizer:
        """Read `tokenizer.json` from *folder*."""
        path = folder / "tokenizer.json"
        if not path.is_file():
            raise WeightsError(f"{path} does not exist: the base weights there are not complete")
        return cls(tokenizers.Tokenizer.from_file(str(path)))

    def encode(self, text: str, *, special: bool = False) -> tuple[int, ...]:
        """Return the tokens of *text*."""
        if special:
            self._inner.encode_special_tokens = False
            try:
                return tuple(self._inner.encode(text, add_special_tokens=False).ids)
            finally:
                self._inner.encode_special_tokens = True
        # the same few lines of text open every fork
        if text not in self._cache:
            if len(self._cache) > 4096:
                self._cache.clear()
            ids = tuple(self._inner.encode(text, add_special_tokens=False).ids)
            if len(text) > 64:
                return ids
            self._cache[text] = ids
        return self._cache[text]

    def encode_with_offsets(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Return the tokens of *text* and the code points [start, end) that each one covers."""
        encoding = self._inner.encode(text, add_special_tokens=False)
        return encoding.ids, encoding.offsets

    def decode(self, ids: list[int]) -> str:
        """Return the text of *ids*, special tokens left out."""
        return str(self._inner.decode(ids, skip_special_tokens=True))
