"""What an error answer says is wrong, whichever of the server's APIs says it."""

from __future__ import annotations

from typing import Any

import msgspec

from deg_client.errors import Problem
from deg_client.sendable import escape_token

__all__ = ["problems_of"]

_LONGEST_TEXT = 200


def problems_of(content: bytes) -> tuple[Problem, ...]:
    """Read the problems of an error answer; a text in other words is one problem."""
    try:
        said = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # a proxy on the way answers in its own words
        return _text(content.decode(errors="replace"))
    if not isinstance(said, dict):
        return _text(str(said))
    if isinstance(error := said.get("error"), dict):
        return (Problem(_place(error.get("param")), str(error.get("message"))),)
    detail = said.get("detail", said)
    if isinstance(detail, list) and all(isinstance(part, dict) for part in detail):
        return tuple(Problem(_place(part.get("loc")), str(part.get("msg"))) for part in detail)
    if isinstance(detail, dict) and "message" in detail:
        return (Problem("", str(detail["message"])),)
    return _text(str(detail))


def _place(loc: Any) -> str:
    if isinstance(loc, list):
        # the part of the request comes first, which is always its body
        return "".join(f"/{escape_token(str(name))}" for name in loc[loc[:1] == ["body"] :])
    return loc if isinstance(loc, str) else ""


def _text(text: str) -> tuple[Problem, ...]:
    return (Problem("", text.strip()[:_LONGEST_TEXT]),) if text.strip() else ()
