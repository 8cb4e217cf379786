"""Differences of two plans: which answers can change, and which provably cannot."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from deg_schema.plan import FieldPlan, FillPlan
from deg_schema.pointer import Pointer

__all__ = ["Change", "Difference", "compare_plans"]

Change: TypeAlias = Literal["added", "removed", "can change", "same outcome"]


@dataclass(frozen=True, slots=True)
class Difference:
    """What became of the value at one pointer.

    Args:
        details: What is different about it, one part each.
    """

    pointer: str
    change: Change
    details: tuple[str, ...] = ()


def compare_plans(old: FillPlan, new: FillPlan) -> tuple[Difference, ...]:
    """Compare the leaves of two plans by their fingerprints, in the order of *new*.

    A leaf that is decided or extracted is answered from the document and its own spec alone: the
    same fingerprint is the same answer. One that is written also reads the other answers.
    """
    before = {field.path: field for field in old.fields}
    after = {field.path: field for field in new.fields}
    answers_stay = _parallel(old) == _parallel(new)
    differences = [
        _difference(before.get(path), field, answers_stay=answers_stay)
        for path, field in after.items()
    ]
    removed = [
        Difference(field.pointer, "removed") for path, field in before.items() if path not in after
    ]
    return (*differences, *removed, *_objects(old, new))


def _parallel(plan: FillPlan) -> set[str]:
    return {field.fingerprint for field in plan.fields if field.mode != "generate"}


def _difference(old: FieldPlan | None, new: FieldPlan, *, answers_stay: bool) -> Difference:
    if old is None:
        return Difference(new.pointer, "added")
    if old.fingerprint != new.fingerprint:
        return Difference(new.pointer, "can change", tuple(_details(_parts(old), _parts(new))))
    if new.mode == "generate" and not answers_stay:
        return Difference(new.pointer, "can change", ("the answers that it is written from",))
    return Difference(new.pointer, "same outcome")


def _parts(field: FieldPlan) -> dict[str, Any]:
    parts = dataclasses.asdict(field)
    constraints: dict[str, Any] = parts.pop("constraints")
    # beside what they are about: a list of none of them says nothing
    descriptions = zip(field.options, field.option_descriptions, strict=False)
    labels = zip(field.levels, field.level_labels, strict=False)
    parts["option_descriptions"] = tuple(pair for pair in descriptions if pair[1] is not None)
    parts["level_labels"] = tuple(pair for pair in labels if pair[1] is not None)
    return parts | constraints


def _details(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    for name, value in new.items():
        # 1, 1.0 and true are not the same
        if repr(old[name]) != repr(value):
            yield from (f"{name}: {detail}" for detail in _changes(old[name], value))


def _changes(old: Any, new: Any) -> Iterator[str]:
    if not isinstance(new, tuple):
        yield f"{_spell(old)} -> {_spell(new)}"
        return
    before, after = Counter(map(_spell, old)), Counter(map(_spell, new))
    gone = [f"without {part}" for part in before - after]
    come = [f"with {part}" for part in after - before]
    if gone or come:
        yield ", ".join([*gone, *come])
    else:
        yield "in another order"


def _objects(old: FillPlan, new: FillPlan) -> Iterator[Difference]:
    before = {nested.path: nested for nested in old.objects}
    after = {nested.path: nested for nested in new.objects}
    for path in {**after, **before}:
        pointer = str(Pointer(path))
        if path in before and path in after:
            required = before[path].required, after[path].required
            if required[0] != required[1]:
                detail = f"required: {_spell(required[0])} -> {_spell(required[1])}"
                yield Difference(pointer, "can change", (detail,))
        elif (nested := before.get(path) or after[path]).start == nested.stop:
            # an object that has leaves comes and goes with them
            yield Difference(pointer, "added" if path in after else "removed")


def _spell(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
