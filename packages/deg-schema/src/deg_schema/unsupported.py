"""What the contract allows and this version does not do, told before any work is done."""

from __future__ import annotations

from deg_schema.errors import Problem
from deg_schema.plan import ArrayPlan, FieldPlan, FillPlan
from deg_schema.pointer import escape_token

__all__ = ["unsupported", "why_unsupported"]


def unsupported(plan: FillPlan) -> tuple[Problem, ...]:
    """Return a problem for every array and field that cannot be filled, at its schema's place.

    What stands in an array is not named beside it, except for the arrays there.
    """
    parts: list[ArrayPlan | FieldPlan] = [*plan.arrays]
    parts += (field for field in plan.fields if not field.item_steps)
    return tuple(
        Problem(_place(part), message) for part in parts if (message := why_unsupported(part))
    )


def why_unsupported(part: FieldPlan | ArrayPlan) -> str | None:
    """Say why *part* cannot be filled, or return `None` where it can."""
    if isinstance(part, ArrayPlan):
        return "this version fills no arrays; ask for each value as a property of its own"
    if part.mode == "generate":
        return "this version writes no text ('x-generate'); leave the field out"
    return None


def _place(part: FieldPlan | ArrayPlan) -> str:
    return "".join(
        "/items" if step in part.item_steps else f"/properties/{escape_token(name)}"
        for step, name in enumerate(part.path)
    )
