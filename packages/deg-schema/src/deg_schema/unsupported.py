"""What the contract allows and this version does not do, told before any work is done."""

from __future__ import annotations

from deg_schema.errors import Problem
from deg_schema.plan import FieldPlan, FillPlan
from deg_schema.pointer import escape_token

__all__ = ["unsupported", "why_unsupported"]


def unsupported(plan: FillPlan) -> tuple[Problem, ...]:
    """Return a problem for every field that cannot be filled, at its place in the schema."""
    return tuple(
        Problem("".join(f"/properties/{escape_token(name)}" for name in field.path), message)
        for field in plan.fields
        if (message := why_unsupported(field))
    )


def why_unsupported(field: FieldPlan) -> str | None:
    """Say why *field* cannot be filled, or return `None` where it can."""
    if field.mode == "generate":
        return "this version writes no text ('x-generate'); leave the field out"
    return None
