"""Turning: the yes-no questions of a record put the other way round, with their answers."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from deg_train.generate.names import styled_name
from deg_train.generate.negation import affirmed, criteria, negated
from deg_train.records import Record, step

__all__ = ["turned", "with_criteria"]

_NEUTRAL = ("answer", "result", "holds", "check", "is_so", "flag", "question", "decision")
_NEGATIVE = ("not_{}", "no_{}", "without_{}", "lacks_{}")


def turned(record: Record, rng: Random) -> Record:
    """Return the record with its yes-no questions negated, or asked by what yes and no mean.

    Half of the plain questions are kept beside, some of them in other words: what differs between
    the two is then the negation.
    Those inside arrays, and those whose opposite cannot be put in words, stay as they are.
    """
    return _rewritten(record, rng, is_turned=True)


def with_criteria(record: Record, rng: Random) -> Record:
    """Return the record with lines under its yes-no questions that say what yes and no mean."""
    return _rewritten(record, rng, is_turned=False)


def _rewritten(record: Record, rng: Random, *, is_turned: bool) -> Record:
    probabilities = dict(record.probabilities)

    def rewrite(schema: dict[str, Any], value: dict[str, Any], at: str) -> tuple[Any, Any]:
        properties: dict[str, Any] = {}
        values, required = dict(value), list(schema.get("required", ()))
        for name, leaf in schema["properties"].items():
            pointer = f"{at}{step(name)}"
            if "properties" in leaf:
                # a pointer inside keeps its path: only leaves are renamed
                inner = rewrite(leaf, value.get(name, {}), pointer)
                properties[name] = inner[0]
                values |= {name: inner[1]} if name in value else {}
                continue
            asked = _asked(leaf, rng, is_turned=is_turned)
            if asked is None:
                properties[name] = leaf
                continue
            new = _new_name(name, {*schema["properties"], *properties}, rng) if is_turned else name
            properties[new] = {**leaf, "description": asked}
            if not is_turned:
                continue
            is_kept = rng.random() < 0.5
            if name in values:
                answer = values[name] if is_kept else values.pop(name)
                values[new] = answer if answer is None else not answer
            if name in required:
                required = [*(each for each in required if is_kept or each != name), new]
            if pointer in probabilities:
                yes, no, *rest = probabilities[pointer]
                probabilities[f"{at}{step(new)}"] = (no, yes, *rest)
                if not is_kept:
                    del probabilities[pointer]
            if is_kept:
                said = affirmed(leaf["description"], rng) if rng.random() < 0.5 else None
                properties[name] = leaf if said is None else {**leaf, "description": said}
        made = {**schema, "properties": properties}
        return made | ({"required": required} if required else {}), values

    schema, value = rewrite(record.schema, record.value, "")
    return replace(record, schema=schema, value=value, probabilities=probabilities)


def _asked(leaf: dict[str, Any], rng: Random, *, is_turned: bool) -> str | None:
    """Return another description of a yes-no leaf, None where it stays."""
    kinds = leaf.get("type")
    is_yes_no = kinds == "boolean" or (isinstance(kinds, list) and "boolean" in kinds)
    # a title would still ask the question as it was
    if not is_yes_no or "description" not in leaf or "title" in leaf or "enum" in leaf:
        return None
    if not is_turned:
        return criteria(leaf["description"], rng)
    if rng.random() < 0.25:
        return criteria(leaf["description"], rng, swapped=True)
    return negated(leaf["description"], rng)


def _new_name(name: str, taken: set[str], rng: Random) -> str:
    while True:
        made = rng.choice(_NEUTRAL)
        if rng.random() < 0.6:
            made = styled_name(rng.choice(_NEGATIVE).format(name), rng)
        elif made in taken:
            made = f"{made}_{rng.randint(1, 60)}"
        if made not in taken:
            return made
