"""Gold: the value that the strict parsers read in a slot, and the span they read it from."""

from __future__ import annotations

from functools import cache
from typing import Any

from deg_schema import FieldPlan, Options, compile_schema, find_candidates, read_span

__all__ = ["is_parsed", "read_slot"]

Reading = tuple[Any, tuple[int, int]]

_OPTIONS = Options()


def is_parsed(leaf: dict[str, Any]) -> bool:
    """Say whether the leaf's value is read by a parser, not copied."""
    kind, form = _essence(leaf)
    return kind in ("number", "integer") or form is not None


def read_slot(leaf: dict[str, Any], context: str, slot: tuple[int, int]) -> Reading | None:
    """Return the value and the span of the widest candidate in the slot that can be read.

    The candidates are those of the slot's own lines, as a reader of the whole context sees them.
    """
    start, end = slot
    plan = _plan(*_essence(leaf))
    first = context.rfind("\n", 0, start) + 1
    last = context.find("\n", end)
    around = context[first : last if last >= 0 else len(context)]
    inside = [
        (first + left, first + right)
        for left, right in find_candidates(plan, around)
        if start <= first + left
        # "6:02 am." at the end of a sentence: the full stop may belong to the candidate
        and (first + right <= end or context[end : first + right] == ".")
    ]
    for left, right in sorted(inside, key=lambda span: span[0] - span[1]):
        reading = read_span(plan, context[left:right], _OPTIONS)
        if reading.reason is None:
            return reading.value, (left, right)
    return None


def _essence(leaf: dict[str, Any]) -> tuple[str, str | None]:
    for branch in (leaf, *leaf.get("anyOf", ()), *leaf.get("oneOf", ())):
        found = branch.get("type")
        kind = found[0] if isinstance(found, list) else found
        if kind is not None and kind != "null":
            return kind, branch.get("format")
    raise AssertionError(f"a leaf without a type: {leaf!r}")


@cache
def _plan(kind: str, form: str | None) -> FieldPlan:
    leaf = {"type": kind, "format": form} if form else {"type": kind}
    plan: FieldPlan = compile_schema({"type": "object", "properties": {"x": leaf}}).fields[0]
    return plan
