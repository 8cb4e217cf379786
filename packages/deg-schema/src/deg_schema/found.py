"""What was found, in the shape of the value: one leaf or array for each outcome."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from deg_schema.errors import FillError
from deg_schema.outcomes import Decided, Extracted, Generated, Items, Missing, Outcome
from deg_schema.plan import ArrayPlan, FieldPlan, FillPlan, ObjectPlan, OnNull
from deg_schema.pointer import escape_token
from deg_schema.tree import Branch, tree_of

__all__ = ["Found", "FoundArray", "FoundLeaf", "FoundObject", "gather", "is_absent", "lack_of"]


@dataclass(frozen=True, slots=True)
class FoundLeaf:
    """A field of one item, or of none, and its outcome.

    Args:
        pointer: Where its outcome was given; items are not dropped there yet.
        outcome: `None` for a text that was not written: not yet, or not as its item is dropped.
    """

    field: FieldPlan
    pointer: str
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object, the root where it has no plan, and what was found of each property."""

    plan: ObjectPlan | None
    members: dict[str, Found]


@dataclass(frozen=True, slots=True)
class FoundArray:
    """An array and the items of it that have every value that they require."""

    plan: ArrayPlan
    pointer: str
    items: tuple[Found, ...]
    num_dropped: int
    limit: str | None = None


Found: TypeAlias = FoundLeaf | FoundObject | FoundArray


def gather(plan: FillPlan, outcomes: Mapping[str, Outcome]) -> Found:
    """Give every outcome its place in the value, and drop the items that lack a value.

    Raises:
        FillError: An outcome is missing, of the wrong sort, or belongs to nothing.
    """
    seen: set[str] = set()
    found = _gather(tree_of(plan), "", outcomes, seen)
    if unknown := outcomes.keys() - seen:
        raise FillError("the outcome belongs to no field", min(unknown))
    return found


def lack_of(found: Found) -> FillError | None:
    """Return why *found* can be part of no valid value, if anything that it requires is missing."""
    if isinstance(found, FoundObject):
        if is_absent(found):
            return None
        lacks = (lack_of(member) for member in found.members.values())
        return next((lack for lack in lacks if lack is not None), None)
    if isinstance(found, FoundArray):
        num_items, least = len(found.items), found.plan.min_items
        if num_items >= least:
            return None
        message = f"minItems {least}: only {num_items} items have their required values"
        return FillError(message, found.pointer)
    if not isinstance(found.outcome, Missing) or found.field.on_null != "forbid":
        return None
    return FillError(
        f"the field is required and its value is {found.outcome.reason!r}; "
        "make it nullable to get null instead",
        found.pointer,
    )


def is_absent(found: FoundObject) -> bool:
    """Say whether an optional object is left out: nothing in it was found, nor may all be null."""
    if found.plan is None or found.plan.required:
        return False
    rules = set(_rules(found))
    return bool(rules) and None not in rules and ("forbid" in rules or "null" not in rules)


def _rules(found: Found) -> Iterator[OnNull | None]:
    """Say of everything in *found* what becomes of it as nothing was found; `None` if it was."""
    if isinstance(found, FoundObject):
        for member in found.members.values():
            yield from _rules(member)
    elif isinstance(found, FoundArray):
        rule: OnNull = "omit" if lack_of(found) is None else "forbid"
        yield None if found.items else rule
    else:
        yield found.field.on_null if isinstance(found.outcome, Missing) else None


def _gather(branch: Branch, pointer: str, outcomes: Mapping[str, Outcome], seen: set[str]) -> Found:
    part = branch.part
    if isinstance(part, FieldPlan):
        seen.add(pointer)
        return _gather_leaf(part, pointer, outcomes.get(pointer))
    if isinstance(part, ArrayPlan):
        seen.add(pointer)
        given = _checked_items(part, pointer, outcomes.get(pointer))
        (item,) = branch.children
        indices = range(given.count)
        items = [_gather(item, f"{pointer}/{index}", outcomes, seen) for index in indices]
        kept = tuple(item for item in items if lack_of(item) is None)
        return FoundArray(part, pointer, kept, given.count - len(kept), given.limit)
    members = {
        child.name: _gather(child, f"{pointer}/{escape_token(child.name)}", outcomes, seen)
        for child in branch.children
    }
    return FoundObject(part, members)


def _gather_leaf(field: FieldPlan, pointer: str, outcome: Outcome | None) -> FoundLeaf:
    if outcome is not None:
        _check_outcome(field, pointer, outcome)
    elif field.mode != "generate":
        raise FillError("the field has no outcome", pointer)
    return FoundLeaf(field, pointer, outcome)


def _checked_items(array: ArrayPlan, pointer: str, outcome: Outcome | None) -> Items:
    if outcome is None:
        raise FillError("the array has no outcome", pointer)
    if not isinstance(outcome, Items):
        raise FillError(f"{type(outcome).__name__} is no outcome of an array", pointer)
    if outcome.count < 0:
        raise FillError(f"an array has no {outcome.count} items", pointer)
    if array.max_items is not None and outcome.count > array.max_items:
        raise FillError(f"maxItems {array.max_items}: not {outcome.count} items", pointer)
    return outcome


def _check_outcome(field: FieldPlan, pointer: str, outcome: Outcome) -> None:
    family = field.mode.partition(".")[0]
    expected = {
        "decide": (Decided,),
        "extract": (Extracted, Missing),
        "generate": (Generated,),
    }[family]
    if not isinstance(outcome, expected):
        name = type(outcome).__name__
        raise FillError(f"{name} is no outcome of mode {field.mode!r}", pointer)
    if isinstance(outcome, Decided):
        _check_probabilities(field, pointer, outcome.probabilities)
    elif isinstance(outcome, (Extracted, Missing)) and not math.isfinite(outcome.confidence):
        raise FillError(f"the confidence is {outcome.confidence}", pointer)


def _check_probabilities(field: FieldPlan, pointer: str, probabilities: tuple[float, ...]) -> None:
    if len(probabilities) != field.num_outcomes:
        raise FillError(
            f"{len(probabilities)} probabilities for {field.num_outcomes} outcomes", pointer
        )
    if not all(0 <= probability <= 1.0001 for probability in probabilities):
        raise FillError("a probability is not between 0 and 1", pointer)
