"""Plans in the order of their schema: each array, then what its items hold."""

from __future__ import annotations

from collections.abc import Iterator

from deg_schema.plan import ArrayPlan, FieldPlan, FillPlan

__all__ = ["in_reading_order"]


def in_reading_order(plan: FillPlan) -> Iterator[ArrayPlan | FieldPlan]:
    """Give the leaves of *plan* in schema order, each array before its first leaf."""
    waiting = list(reversed(plan.arrays))
    for index, field in enumerate(plan.fields):
        while waiting and waiting[-1].start <= index:
            yield waiting.pop()
        yield field
    # an array whose items hold nothing starts where the leaves end
    yield from reversed(waiting)
