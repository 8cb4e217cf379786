"""JSON Pointers: the addresses that problems and extracted values carry."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from deg_schema.errors import InvalidPointer

__all__ = ["Pointer", "escape_token"]

_BAD_ESCAPE = re.compile(r"~(?![01])")
_INDEX = re.compile(r"(?:0|[1-9][0-9]*)\Z")


@dataclass(frozen=True, slots=True)
class Pointer:
    """A place in a JSON document, as RFC 6901 spells it."""

    tokens: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Pointer:
        """Read a pointer from its text, such as `/items/0/name`."""
        if not text:
            return cls()
        if not text.startswith("/"):
            raise InvalidPointer(f"{text!r} does not start with '/'")
        if _BAD_ESCAPE.search(text):
            raise InvalidPointer(f"{text!r} has a '~' that is neither '~0' nor '~1'")
        return cls(tuple(_unescape(token) for token in text[1:].split("/")))

    def __str__(self) -> str:
        return "".join(f"/{escape_token(token)}" for token in self.tokens)

    def __truediv__(self, token: str | int) -> Pointer:
        return Pointer((*self.tokens, str(token)))

    def lookup(self, document: Any) -> Any:
        """Return what *document* holds at this place.

        Raises:
            LookupError: The document holds nothing there.
        """
        for token in self.tokens:
            document = _step(document, token)
        return document


def escape_token(token: str) -> str:
    """Spell one name as it stands between the slashes of a pointer."""
    # the order matters: "~" first, or the "~1" of a "/" would be escaped again
    return token.replace("~", "~0").replace("/", "~1")


def _unescape(token: str) -> str:
    return token.replace("~1", "/").replace("~0", "~")


def _step(document: Any, token: str) -> Any:
    if isinstance(document, list):
        if not _INDEX.match(token) or len(token) > 18:
            raise LookupError(token)
        return document[int(token)]
    if isinstance(document, dict):
        return document[token]
    raise LookupError(token)
