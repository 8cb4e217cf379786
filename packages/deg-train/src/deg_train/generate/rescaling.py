"""Rescaling: the same scale by other numbers, so that a level is read and not remembered."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from deg_train.records import Record

__all__ = ["rescaled"]

_FIRST = (0, 0, 1, 1, 1, -2, 2, 5, 10)


def rescaled(record: Record, rng: Random) -> Record:
    """Move the scales of a record to another lowest level, and turn some of those with words.

    Scales inside objects or arrays stay as they are.
    """
    properties, value = dict(record.schema["properties"]), dict(record.value)
    for name, leaf in record.schema["properties"].items():
        if f"/{name}" in record.probabilities or not _is_scale(leaf):
            continue
        lowest, highest = leaf["minimum"], leaf["maximum"]
        first, is_turned = rng.choice(_FIRST), _can_turn(leaf) and rng.random() < 0.3
        levels = range(lowest, highest + 1)
        moved = {
            level: first + (highest - level if is_turned else level - lowest) for level in levels
        }
        new = {**leaf, "minimum": first, "maximum": first + highest - lowest}
        if "x-levels" in leaf:
            words = {moved[int(level)]: text for level, text in leaf["x-levels"].items()}
            new["x-levels"] = {str(level): words[level] for level in sorted(words)}
        properties[name] = new
        if value.get(name) is not None:
            value[name] = moved[value[name]]
    return replace(record, schema={**record.schema, "properties": properties}, value=value)


def _is_scale(leaf: dict[str, Any]) -> bool:
    return (
        leaf.get("type") in ("integer", ["integer", "null"])
        and {"minimum", "maximum"} <= leaf.keys()
        and 1 <= leaf["maximum"] - leaf["minimum"] <= 10
    )


def _can_turn(leaf: dict[str, Any]) -> bool:
    # only words for every level say which end is which
    num_levels = leaf["maximum"] - leaf["minimum"] + 1
    return len(leaf.get("x-levels", {})) == num_levels and " from " not in str(
        leaf.get("description", "")
    )
