"""Hiding: a document at a random place in unrelated text, or that text without it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any, Protocol

from deg_schema import compile_schema
from deg_train.generate.names import words_of
from deg_train.generate.prose import TOPICS, draw_prose
from deg_train.generate.surroundings import surrounded
from deg_train.records import Record

__all__ = ["Documents", "hidden", "without_document"]

# of what stands around a document, at least this much
_LEAST = 250
_NUM_TRIES = 4


class Documents(Protocol):
    """Whatever yields records whose documents may stand around another."""

    def sample(self, rng: Random) -> Record:
        """Draw one record."""
        ...


def hidden(record: Record, most: int, others: Documents, rng: Random) -> Record:
    """Put the document at a random place in unrelated text of at most *most* characters.

    The length is drawn log-uniformly. A record that already is as long stays as it is.
    """
    least = len(record.context) + _LEAST
    if least >= most:
        return record
    room = int(math.exp(rng.uniform(math.log(least), math.log(most)))) - len(record.context)
    before = rng.choice((0, 1, rng.random())) * room
    parts = (
        _unrelated(record, int(before), others, rng),
        _unrelated(record, int(room - before), others, rng),
    )
    return surrounded(record, parts[0] and parts[0] + "\n\n", parts[1] and "\n\n" + parts[1])


def without_document(record: Record, length: int, others: Documents, rng: Random) -> Record | None:
    """Ask unrelated text for the outermost arrays of the record, of which it has no item.

    Nothing else is asked. None where the record has no array that may be empty.
    """
    plan = compile_schema(record.schema)
    leaves = record.schema.get("properties", {})
    names = [
        array.path[0]
        for array in plan.arrays
        if array.path[0] in leaves and len(array.path) == 1 and array.min_items == 0
    ]
    # of a schema that is a reference nothing can be left out
    if not names:
        return None
    properties = {name: leaves[name] for name in names}
    schema = {**record.schema, "properties": properties}
    required = [name for name in record.schema.get("required", ()) if name in names]
    schema.pop("required", None)
    if required:
        schema["required"] = required
    text = _unrelated(record, max(length, _LEAST), others, rng)
    empty: dict[str, Any] = {name: [] for name in names}
    return replace(record, context=text, schema=schema, value=empty, spans={}, probabilities={})


def _unrelated(record: Record, length: int, others: Documents, rng: Random) -> str:
    """Draw text of about *length* characters: prose, and documents that share no name."""
    if length < 40:
        return ""
    asked = frozenset(_asked(record.schema))
    parts: list[str] = []
    size = 0
    while size < length:
        text = _other_document(asked, others, rng) if _has_lists(record) else ""
        if not text or size + len(text) > length or rng.random() < 0.5:
            text = draw_prose(min(length - size, rng.randint(200, 1500)), rng, TOPICS)
        parts.append(text)
        size += len(text) + 2
    text = "\n\n".join(parts)
    return text[: _last_end(text, length)].strip()


def _last_end(text: str, length: int) -> int:
    """Return where the last sentence, or line, ends that is within *length* characters."""
    ends = [match.end() for match in re.finditer(r"[.!]\s|\n|$", text) if match.end() <= length]
    return ends[-1] if ends else length


def _has_lists(record: Record) -> bool:
    """Say whether a list is asked for: only then may the text around have values of its own."""
    leaves = record.schema.get("properties", {})
    return any(leaf.get("type") == "array" for leaf in leaves.values())


def _other_document(asked: frozenset[str], others: Documents, rng: Random) -> str:
    for _ in range(_NUM_TRIES):
        text = others.sample(rng).context
        if asked.isdisjoint(re.findall(r"[a-z]+", text.lower())):
            return text
    return ""


def _asked(schema: dict[str, Any]) -> Iterator[str]:
    """Yield the words of every name that is asked for, long enough to mean something."""
    for name, leaf in schema.get("properties", {}).items():
        yield from (word for word in words_of(name) if len(word) > 3)
        yield from _asked(leaf.get("items", leaf))
