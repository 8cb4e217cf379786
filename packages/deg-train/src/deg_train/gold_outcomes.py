"""What a fill would have found, had it found all that a record says: its values as outcomes."""

from __future__ import annotations

from typing import Any

from deg_schema import (
    ArrayPlan,
    Decided,
    Extracted,
    FieldPlan,
    FillPlan,
    Items,
    JsonScalar,
    Missing,
    Options,
    Outcome,
    parse_options,
    read_span,
)
from deg_train.records import Record, lookup

__all__ = ["gold_outcomes", "outcome_of"]


def outcome_of(field: FieldPlan, value: Any) -> int | None:
    """Return the index of the outcome that *value* is of a decide field, None if it is none."""
    if value is None and field.null_outcome:
        return len(field.levels)
    outcomes: tuple[Any, ...] = field.options or field.levels or (True, False)
    # True is no 1 here, though Python says so
    typed = [(isinstance(outcome, bool), outcome) for outcome in outcomes]
    right = isinstance(value, bool), value
    return typed.index(right) if right in typed else None


def gold_outcomes(record: Record, plan: FillPlan) -> tuple[dict[str, Outcome], frozenset[str]]:
    """Return the outcome of every array and of every field but the texts, by pointer.

    A copied value is what the runtime reads at its first place.

    Returns:
        The outcomes, and the pointers of decided fields that the record leaves open; their outcome
        is any.
    """
    options = parse_options(record.options)
    outcomes: dict[str, Outcome] = {}
    still_open = set()
    # the indices of every item of each array, by its path
    items: dict[tuple[str, ...], list[tuple[int, ...]]] = {(): [()]}
    for array in sorted(plan.arrays, key=lambda each: len(each.path)):
        items[array.path] = []
        for indices in items[_around(array)]:
            pointer = array.pointer_at(indices)
            num_items = len(lookup(record.value, pointer) or [])
            outcomes[pointer] = Items(num_items)
            items[array.path] += [(*indices, index) for index in range(num_items)]
    for field in plan.fields:
        for indices in items[_around(field)] if field.mode != "generate" else ():
            pointer = field.pointer_at(indices)
            if field.num_outcomes:
                index = outcome_of(field, lookup(record.value, pointer))
                outcomes[pointer] = _decided(field, index or 0)
                still_open |= {pointer} if index is None else set()
            else:
                outcomes[pointer] = _found(field, pointer, record, options)
    return outcomes, frozenset(still_open)


def _around(part: FieldPlan | ArrayPlan) -> tuple[str, ...]:
    """Return the path of the array whose items hold *part*, `()` for none."""
    return part.path[: part.item_steps[-1]] if part.item_steps else ()


def _decided(field: FieldPlan, index: int) -> Decided:
    return Decided(tuple(float(number == index) for number in range(field.num_outcomes)))


def _found(field: FieldPlan, pointer: str, record: Record, options: Options) -> Outcome:
    value: JsonScalar = lookup(record.value, pointer)
    if value is None:
        return Missing("not_found", 1.0)
    for start, end in record.spans.get(pointer, ())[:1]:
        # what JSON has as 1250 may be read as 1250.0
        reading = read_span(field, record.context[start:end], options)
        value = value if reading.reason is not None else reading.value
    return Extracted(value, (0, 0), 1.0)
