"""The order of options, which must not change an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from deg_schema import compile_schema
from deg_train.records import Record

__all__ = ["has_choices", "is_reordered", "twins", "with_shuffled_options"]


def has_choices(record: Record) -> bool:
    """Say whether the record asks to choose between at least two options."""
    fields = compile_schema(record.schema).fields
    return any(field.mode == "decide.choice" and len(field.options) > 1 for field in fields)


def twins(record: Record, rng: Random) -> tuple[Record, Record]:
    """Return the record, and the same with its options in another order.

    The record must have choices; there is no other order of one option.
    """
    other = record
    while other.schema == record.schema:
        other = with_shuffled_options(record, rng)
    return record, other


def is_reordered(record: Record, other: Record) -> bool:
    """Say whether two records differ, and in nothing but the order of options."""
    return (
        record.context == other.context
        and record.schema != other.schema
        and _sorted(record.schema) == _sorted(other.schema)
    )


def with_shuffled_options(record: Record, rng: Random) -> Record:
    """Return the record with the options of every choice in another order."""
    schema = _shuffled(record.schema, rng)
    probabilities = dict(record.probabilities)
    if probabilities:
        before = {field.pointer: field for field in compile_schema(record.schema).fields}
        for field in compile_schema(schema).fields:
            numbers = probabilities.get(field.pointer)
            if numbers and field.mode == "decide.choice":
                old = [(type(each), each) for each in before[field.pointer].options]
                new = [(type(each), each) for each in field.options]
                probabilities[field.pointer] = tuple(numbers[old.index(each)] for each in new)
    return replace(record, schema=schema, probabilities=probabilities)


def _shuffled(schema: dict[str, Any], rng: Random) -> dict[str, Any]:
    return _reordered(schema, lambda options: rng.sample(options, len(options)))


def _sorted(schema: dict[str, Any]) -> dict[str, Any]:
    return _reordered(schema, lambda options: sorted(options, key=json.dumps))


def _reordered(schema: dict[str, Any], reorder: Callable[[list[Any]], list[Any]]) -> dict[str, Any]:
    made = dict(schema)
    if "enum" in made:
        made["enum"] = reorder(made["enum"])
    for key in ("oneOf", "anyOf"):
        branches = made.get(key, [])
        if branches and all("const" in branch for branch in branches):
            made[key] = reorder(branches)
    if "properties" in made:
        leaves = made["properties"].items()
        made["properties"] = {name: _reordered(leaf, reorder) for name, leaf in leaves}
    if "items" in made:
        made["items"] = _reordered(made["items"], reorder)
    return made
