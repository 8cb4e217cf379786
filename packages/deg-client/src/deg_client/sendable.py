"""The body of a request, and what no JSON text can say: refused before sending, with its place."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import msgspec

from deg_client.errors import NotSent, Problem

__all__ = ["encode_body", "escape_token"]

_LONE_SURROGATE = (
    "a text holds half a character (a lone surrogate), which UTF-8 cannot say; replace it"
)
_NOT_FINITE = "a number is not finite, which JSON cannot say; leave it out or write null"
_TOO_DEEP = "it nests too deep; flatten it"


def encode_body(parts: Mapping[str, object]) -> bytes:
    """Return the JSON of *parts*; a part of type `msgspec.Raw` is taken as it stands.

    Raises:
        NotSent: A part cannot be said in JSON; the problems point into the body.
    """
    try:
        body = msgspec.json.encode(parts)
    except (TypeError, ValueError, RecursionError) as error:
        reason = _TOO_DEEP if isinstance(error, RecursionError) else f"it is no JSON: {error}"
        # the first error of the encoder knows no place
        raise NotSent.because(_problems(parts) or [Problem("", reason)]) from None
    # what is not finite is encoded as null, without a word
    if b"null" in body and (problems := _problems(parts)):
        raise NotSent.because(problems)
    return body


def escape_token(token: str) -> str:
    """Spell one name as it stands between the slashes of a pointer."""
    # the order matters: "~" first, or the "~1" of a "/" would be escaped again
    return token.replace("~", "~0").replace("/", "~1")


def _problems(parts: Mapping[str, object]) -> list[Problem]:
    found: list[Problem] = []
    for name, part in parts.items():
        try:
            found += _walk(part, f"/{_shown(name)}")
        except RecursionError:
            found.append(Problem(f"/{_shown(name)}", _TOO_DEEP))
    return found


def _walk(value: object, place: str) -> Iterator[Problem]:
    if isinstance(value, str):
        if _is_broken(value):
            yield Problem(place, _LONE_SURROGATE)
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield Problem(place, _NOT_FINITE)
    elif isinstance(value, Mapping):
        for name, part in value.items():
            if isinstance(name, str) and _is_broken(name):
                yield Problem(f"{place}/{_shown(name)}", f"in its name, {_LONE_SURROGATE}")
            yield from _walk(part, f"{place}/{_shown(name)}")
    elif isinstance(value, (list, tuple)):
        for index, part in enumerate(value):
            yield from _walk(part, f"{place}/{index}")
    elif value is not None and not isinstance(value, (int, msgspec.Raw)):
        yield from _walk_object(value, place)


def _walk_object(value: object, place: str) -> Iterator[Problem]:
    try:
        plain = msgspec.to_builtins(value)
    except (TypeError, ValueError):
        yield Problem(place, f"JSON has no way to say a {type(value).__name__}")
    else:
        yield from _walk(plain, place)


def _is_broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _shown(name: object) -> str:
    # the place is printed and logged, where half a character would raise again
    return escape_token(str(name).encode(errors="backslashreplace").decode())
