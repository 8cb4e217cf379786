"""Faults of a JSON text: what keeps it from being read, where, and the way out."""

from __future__ import annotations

import json
from dataclasses import dataclass

from deg_schema.json_values import clip
from deg_schema.lazy import lazy

__all__ = ["JsonFault", "explain_fault"]

_SPACES = " \t\r\n"
_NAME = lazy(r"[A-Za-z_$][\w$.-]*")
_CONSTANTS = {
    "True": "true",
    "False": "false",
    "None": "null",
    "undefined": "null",
    "nil": "null",
}
_OTHER_QUOTES = "'`\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}"
_BY_PARSER = (
    ("Extra data", "it ends before this; keep one schema in a file"),
    ("Unterminated string", "this text has no closing quote; add it"),
    ("Invalid control", "a line break or tab stands in a text; write it as '\\n' or '\\t'"),
    ("Invalid \\", "a lone backslash stands in a text; write it twice"),
    ("Expecting ',' delimiter", "a comma is missing before this; add it"),
    ("Expecting ':' delimiter", "a ':' and a value are missing after the key; add them"),
    ("Expecting property name", "a key is missing here; write it in quotes"),
    ("Expecting value", "a value is missing here; write one"),
)


@dataclass(frozen=True, slots=True)
class JsonFault:
    """Why a text is no JSON, and the offset of the character to look at."""

    message: str
    offset: int


def explain_fault(error: json.JSONDecodeError) -> JsonFault:
    """Say what is wrong at the place where Python stopped to read."""
    text, offset = error.doc, error.pos
    if not text.strip(_SPACES):
        return JsonFault("the file is empty; write a schema into it", 0)
    before = text[:offset].rstrip(_SPACES)
    # where Python points to depends on its version: to the comma, or to what comes after it
    if text[offset : offset + 1] == ",":
        before, offset = text[: offset + 1], _end_of_spaces(text, offset + 1)
    if before.endswith(",") and text[offset : offset + 1] in ("}", "]"):
        message = f"nothing follows this comma but '{text[offset]}'; remove the comma"
        return JsonFault(f"the file is no JSON: {message}", len(before) - 1)
    offset = error.pos
    message = _by_text(text, offset, error.msg) or _by_parser(error.msg) or error.msg
    return JsonFault(f"the file is no JSON: {message}", min(offset, len(text.rstrip(_SPACES))))


def _by_text(text: str, offset: int, complaint: str) -> str | None:
    if not text[offset:].strip(_SPACES):
        return "it ends too early; close every brace and bracket"
    if text.startswith(("//", "/*", "#"), offset):
        return "it has no comments; remove this one, or write '$comment'"
    if complaint.startswith("Extra data") and offset > 0:
        return None
    if text[offset] in _OTHER_QUOTES:
        return f'{text[offset]} quotes no text; write " instead'
    if text[offset] in "+.":
        return "a number starts with a digit or '-'; write '0.5' or '5'"
    if text[offset].isdigit() and text[offset - 1 : offset] == "0":
        return "a number starts with no zero; remove it"
    match = _NAME().match(text, offset)
    return None if match is None else _of_word(match[0], is_first=not text[:offset].strip(_SPACES))


def _of_word(word: str, *, is_first: bool) -> str:
    if word in _CONSTANTS:
        return f"{word!r} is no value; write {_CONSTANTS[word]!r}"
    if is_first:
        return "it starts with neither '{' nor '['; convert it if it is YAML"
    return f"{clip(word)} stands without quotes; write them around it"


def _by_parser(complaint: str) -> str | None:
    return next((msg for start, msg in _BY_PARSER if complaint.startswith(start)), None)


def _end_of_spaces(text: str, offset: int) -> int:
    while offset < len(text) and text[offset] in _SPACES:
        offset += 1
    return offset
