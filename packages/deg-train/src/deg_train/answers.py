"""Records answered by an engine, many in one pass, and the laws that hold of every answer."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Protocol
from urllib.parse import unquote

from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for

from deg_schema import (
    DegError,
    FieldPlan,
    FillError,
    Options,
    Pointer,
    compile_schema,
    read_span,
    value_problems,
)
from deg_train.records import Record, lookup

__all__ = ["Answered", "Filler", "answer_all", "holds_slice_law", "is_valid"]

_GROUP_CHARACTERS = 16_000


class Filler(Protocol):
    """What an engine does for an evaluation."""

    def fill_many(
        self, requests: Sequence[tuple[str, Mapping[str, Any], Mapping[str, Any]]], /
    ) -> Sequence[Mapping[str, Any] | DegError]:
        """Fill each schema from the context beside it, with the options behind it."""
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
    response: Mapping[str, Any]
    refused: tuple[str, ...] = ()


def answer_all(engine: Filler, records: Sequence[Record]) -> Iterator[list[Answered]]:
    """Answer *records* in order, group by group."""
    for group in _groups(records):
        documents = [(record.context, record.schema, record.options) for record in group]
        filled = engine.fill_many(documents)
        yield [
            _relaxed(engine, record, response)
            if isinstance(response, DegError)
            else Answered(record, response)
            for record, response in zip(group, filled, strict=True)
        ]


def is_valid(answered: Answered) -> bool:
    """Say whether the value is valid against the schema, by a validator that is not ours.

    Ours has passed it already, or it would not be here. Numbers are compared as the decimals that
    they are written as. A pattern of ECMA-262 that Python cannot read is left to ours.
    """
    schema, value = (
        json.loads(json.dumps(part), parse_float=Decimal)
        for part in (answered.record.schema, answered.response["value"])
    )
    validator = validator_for(schema, default=Draft202012Validator)(schema)
    try:
        return bool(validator.is_valid(value))
    except re.error:
        return not value_problems(answered.response["value"], answered.record.schema)


def holds_slice_law(answered: Answered) -> list[bool]:
    """Say of each extracted value whether it is its slice, or what its slice reads as."""
    record, response = answered.record, answered.response
    held, options = [], Options(**record.options)
    fields = compile_schema(record.schema).fields
    for pointer, meta in response["meta"].items():
        span = meta.get("span")
        if span is None:
            continue
        field = next(field for field in fields if _is_at(field, pointer))
        text = record.context[slice(*span)]
        value = lookup(response["value"], pointer)
        said = text if field.mode == "extract.span" else read_span(field, text, options).value
        held.append(value is not None and value == said)
    return held


def _is_at(field: FieldPlan, pointer: str) -> bool:
    tokens = pointer.split("/")[1:]
    if len(tokens) != len(field.path):
        return False
    indices = [tokens[step] for step in field.item_steps]
    return field.pointer_at(indices) == pointer


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


def _relaxed(engine: Filler, record: Record, error: DegError) -> Answered:
    """Answer a record whose required field was refused: that field alone is then left out.

    Of an array with too few items it is the least number that is left out.
    """
    refused: list[str] = []
    schema = copy.deepcopy(record.schema)
    while True:
        if not isinstance(error, FillError):
            raise error
        parent, _, token = error.pointer.rpartition("/")
        holder, name = _schema_at(schema, parent), token.replace("~1", "/").replace("~0", "~")
        required = holder.get("required", [])
        leaf = _target(holder["properties"].get(name, {}), schema)
        if "minItems" in leaf:
            del leaf["minItems"]
        elif name in required:
            required.remove(name)
        else:
            raise error
        refused.append(error.pointer)
        (response,) = engine.fill_many([(record.context, schema, record.options)])
        if not isinstance(response, DegError):
            return Answered(replace(record, schema=schema), response, tuple(refused))
        error = response


def _schema_at(schema: dict[str, Any], pointer: str) -> dict[str, Any]:
    part = _target(schema, schema)
    for token in pointer.split("/")[1:]:
        part = _target(part["properties"][token.replace("~1", "/").replace("~0", "~")], schema)
    return part


def _target(part: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return what *part* of *schema* refers to, itself where it refers to nothing."""
    while "$ref" in part:
        part = Pointer.parse(unquote(part["$ref"][1:])).lookup(schema)
    return part
