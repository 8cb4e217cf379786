"""Records answered by an engine, many in one pass, and the laws that hold of every answer."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from jsonschema import Draft202012Validator

from deg_schema import FillError, Options, compile_schema, read_span
from deg_train.records import Record, lookup

__all__ = ["Answered", "Filler", "answer_all", "holds_slice_law", "is_valid"]

_GROUP_CHARACTERS = 16_000


class Filler(Protocol):
    """What an engine does for an evaluation."""

    def fill_many(
        self, documents: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> list[dict[str, Any] | FillError]:
        """Fill each schema from the context beside it."""
        ...


@dataclass(frozen=True, slots=True)
class Answered:
    """A record and the response to it.

    Attributes:
        record: The record; where fields were refused, with them made optional.
        response: The response of contract section 8.
        refused: Fields that must not be null and for which the document holds no valid value.
    """

    record: Record
    response: dict[str, Any]
    refused: tuple[str, ...] = ()


def answer_all(engine: Filler, records: Sequence[Record]) -> Iterator[list[Answered]]:
    """Answer *records* in order, group by group."""
    for group in _groups(records):
        documents = [(record.context, record.schema) for record in group]
        filled = engine.fill_many(documents)
        yield [
            _relaxed(engine, record, response)
            if isinstance(response, FillError)
            else Answered(record, response)
            for record, response in zip(group, filled, strict=True)
        ]


def is_valid(answered: Answered) -> bool:
    """Say whether the value is valid against the schema, by a validator that is not ours."""
    validator = Draft202012Validator(answered.record.schema)
    return bool(validator.is_valid(answered.response["value"]))


def holds_slice_law(answered: Answered) -> list[bool]:
    """Say of each extracted value whether it is its slice, or what its slice reads as."""
    record, response = answered.record, answered.response
    held = []
    for field in compile_schema(record.schema).fields:
        span = response["meta"][field.pointer].get("span")
        if span is None:
            continue
        text = record.context[slice(*span)]
        value = lookup(response["value"], field.pointer)
        said = text if field.mode == "extract.span" else read_span(field, text, Options()).value
        held.append(value is not None and value == said)
    return held


def _groups(records: Sequence[Record]) -> Iterator[list[Record]]:
    group: list[Record] = []
    size = 0
    for record in records:
        if group and size + len(record.context) > _GROUP_CHARACTERS or len(group) == 32:
            yield group
            group, size = [], 0
        group.append(record)
        size += len(record.context)
    if group:
        yield group


def _relaxed(engine: Filler, record: Record, error: FillError) -> Answered:
    """Answer a record whose required field was refused: that field alone is then left out."""
    refused: list[str] = []
    schema = copy.deepcopy(record.schema)
    while True:
        parent, _, token = error.pointer.rpartition("/")
        required, name = _required(schema, parent), token.replace("~1", "/").replace("~0", "~")
        if name not in required:
            raise error
        required.remove(name)
        refused.append(error.pointer)
        (response,) = engine.fill_many([(record.context, schema)])
        if not isinstance(response, FillError):
            return Answered(replace(record, schema=schema), response, tuple(refused))
        error = response


def _required(schema: dict[str, Any], pointer: str) -> list[str]:
    for token in pointer.split("/")[1:]:
        schema = schema["properties"][token.replace("~1", "/").replace("~0", "~")]
    found: list[str] = schema.get("required", [])
    return found
