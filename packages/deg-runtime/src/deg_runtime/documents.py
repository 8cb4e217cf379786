"""What a user points at: documents, schemas and option words, read whole or refused in one line."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = [
    "STANDARD_INPUT",
    "DocumentError",
    "check_target",
    "parse_json",
    "read_document",
    "read_options",
    "read_schema",
    "write_whole",
]

STANDARD_INPUT = "-"

_MAX_DIGITS = 1200


class DocumentError(ValueError):
    """A file, or a word of the command line, cannot be read or written; the message is one line."""


def read_document(name: str, *, as_json: bool = False) -> str | dict[str, Any] | list[Any]:
    """Read a context: a text, or JSON where the name ends in `.json` or *as_json* says so.

    Args:
        name: A path, or `-` for the standard input.
        as_json: Read JSON whatever the name is.

    Raises:
        DocumentError: It is not there, not UTF-8, or JSON that is no object, array or string.
    """
    text = _read_text(name)
    if not as_json and Path(name).suffix.lower() != ".json":
        return text
    context = _parse(text, name)
    if not isinstance(context, (str, dict, list)):
        raise DocumentError(f"{name}: a JSON document is an object, an array or a string")
    return context


def read_schema(path: Path) -> Any:
    """Read the JSON of a schema; whether it is one is for the compiler to say.

    Raises:
        DocumentError: It is not there, not UTF-8 or no JSON.
    """
    return _parse(_read_text(str(path)), str(path))


def parse_json(text: str) -> Any:
    """Read a JSON text in which no key comes twice.

    Raises:
        DocumentError: It is none; the message names the place in it.
    """
    try:
        return json.loads(text, object_pairs_hook=_object, parse_int=_integer)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno} " if "\n" in text.strip() else ""
        raise DocumentError(f"no JSON ({error.msg} at {line}column {error.colno})") from None
    except RecursionError:
        raise DocumentError("nests too deep; flatten it") from None
    except _RepeatedKey as error:
        raise DocumentError(f"the key {error} is given twice; keep one") from None


def read_options(words: Iterable[str]) -> dict[str, Any]:
    """Read `name=value` words; a value is JSON where it reads as JSON, else a text.

    Raises:
        DocumentError: A word has no `=`, or a name comes twice.
    """
    options: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise DocumentError(f"--option {word!r}: write NAME=VALUE, such as date_order=DMY")
        if name in options:
            raise DocumentError(f"--option {name}: given twice; keep one")
        options[name] = text
        with contextlib.suppress(ValueError, RecursionError):
            options[name] = json.loads(text)
    return options


def check_target(target: Path, *sources: str) -> None:
    """Refuse a place that cannot be written, or that would overwrite one of *sources*.

    Raises:
        DocumentError: The message says which.
    """
    if not target.parent.is_dir():
        raise DocumentError(f"{target}: the folder {target.parent} is not there; make it first")
    if target.exists():
        if not target.is_file():
            raise DocumentError(f"{target}: not a file; name one to write to")
        if any(Path(name).exists() and target.samefile(name) for name in sources):
            raise DocumentError(f"{target}: it would overwrite what it is made from")
    if not os.access(target.parent, os.W_OK):
        raise DocumentError(f"{target}: the folder {target.parent} cannot be written to")


def write_whole(target: Path, text: str) -> None:
    """Write a file that appears complete or not at all.

    Raises:
        OSError: There is no room, or no permission.
    """
    target = target.resolve()
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        unfinished.write_text(text, encoding="utf-8", newline="\n")
        unfinished.replace(target)
    except OSError as error:
        # a write says what failed, not where
        raise OSError(error.errno, error.strerror, str(target)) from None
    finally:
        unfinished.unlink(missing_ok=True)


def _read_text(name: str) -> str:
    try:
        content = sys.stdin.buffer.read() if name == STANDARD_INPUT else Path(name).read_bytes()
    except FileNotFoundError:
        raise DocumentError(f"{name}: there is no such file") from None
    except IsADirectoryError:
        raise DocumentError(f"{name}: is a folder; name a file in it") from None
    except (OSError, ValueError) as error:
        # a ValueError is a name that no file can have
        reason = getattr(error, "strerror", None) or str(error)
        raise DocumentError(f"{name}: cannot be read ({reason})") from None
    try:
        # a byte order mark is no part of the text
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{name}: not UTF-8 text (at byte {error.start}); convert it to plain text first"
        raise DocumentError(message) from None


def _parse(text: str, name: str) -> Any:
    try:
        return parse_json(text)
    except DocumentError as error:
        raise DocumentError(f"{name}: {error}") from None


class _RepeatedKey(Exception):
    pass


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise _RepeatedKey(repr(next(name for name in names if names.count(name) > 1)))
    return members


def _integer(digits: str) -> int | float:
    # what is too long to convert is refused later at its place, as every infinite number is
    return int(digits) if len(digits) <= _MAX_DIGITS else math.inf
