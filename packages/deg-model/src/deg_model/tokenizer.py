"""Text to tokens and back to places in the text."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import tokenizers

from deg_model.chat import CHATS, Chat
from deg_model.errors import WeightsError

__all__ = ["Tokenizer"]

_CACHED_LENGTH = 64
_CACHED_LINES = 4096

# a byte-level vocabulary spells bytes that are no visible letter with those from U+0100 on
_VISIBLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_HIDDEN = tuple(byte for byte in range(0x100) if byte not in _VISIBLE)
_BYTE_OF_LETTER = {chr(byte): byte for byte in _VISIBLE} | {
    chr(0x100 + index): byte for index, byte in enumerate(_HIDDEN)
}


class Tokenizer:
    """A byte-level tokenizer that adds nothing of its own and knows where each token stands.

    Special tokens are read as such only where deg writes them (`special=True`): a document that
    happens to contain the text of one is read as plain text.

    Args:
        inner: The tokenizer proper.
        chat: How the family that it belongs to opens a conversation.
    """

    def __init__(self, inner: tokenizers.Tokenizer, chat: Chat = CHATS["llama"]) -> None:
        self._inner = inner
        self.chat = chat
        self._inner.no_padding()
        self._inner.no_truncation()
        self._inner.encode_special_tokens = True
        self._cache: dict[str, tuple[int, ...]] = {}
        self._special_cache: dict[str, tuple[int, ...]] = {}

    @classmethod
    def load(cls, folder: Path, family: str = "llama") -> Tokenizer:
        """Read `tokenizer.json` from *folder*, to be used as *family* does.

        Raises:
            WeightsError: The file is missing or damaged, or lacks a token that the family's chat
                is made of.
        """
        path = folder / "tokenizer.json"
        if not path.is_file():
            raise WeightsError(f"{path} does not exist: the base weights there are not complete")
        try:
            inner = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises nothing narrower
            raise WeightsError(f"{path} is damaged ({error}): delete {folder}") from error
        chat = CHATS[family]
        for token in chat.special_tokens:
            if inner.token_to_id(token) is None:
                raise WeightsError(f"{path} has no {token!r}: it is not of family {family!r}")
        return cls(inner, chat)

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

    @cached_property
    def token_bytes(self) -> tuple[bytes | None, ...]:
        """What each token spells, by its number; None for those that are no part of a text.

        A character may be spelled by several tokens, and a token may hold parts of two.
        """
        added = set(self._inner.get_added_tokens_decoder())
        texts: list[bytes | None] = [None] * (max(self._inner.get_vocab().values(), default=-1) + 1)
        for token, number in self._inner.get_vocab().items():
            if number not in added and all(letter in _BYTE_OF_LETTER for letter in token):
                texts[number] = bytes(_BYTE_OF_LETTER[letter] for letter in token) or None
        return tuple(texts)

    @property
    def answer_end(self) -> int:
        """The token that ends an answer.

        Raises:
            WeightsError: The vocabulary lacks it.
        """
        number = self._inner.token_to_id(self.chat.answer_end)
        if number is None:
            raise WeightsError(f"the tokenizer has no {self.chat.answer_end!r} to end a text with")
        return int(number)

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
