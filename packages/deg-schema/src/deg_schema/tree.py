"""A plan as a tree: each object and each array with what it holds, in schema order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeAlias

from deg_schema.plan import ArrayPlan, FieldPlan, FillPlan, ObjectPlan

__all__ = ["Branch", "split_plan", "tree_of"]

_Part: TypeAlias = FieldPlan | ObjectPlan | ArrayPlan


@dataclass(slots=True)
class Branch:
    """One value of a schema.

    Args:
        name: The property name, or `*` for the item of an array.
        part: What is planned for it; `None` for the root.
        children: The properties of an object, or the one item of an array.
    """

    name: str
    part: _Part | None
    children: list[Branch] = field(default_factory=list)


def tree_of(plan: FillPlan) -> Branch:
    """Arrange the parts of *plan* as its values nest."""
    spans: list[tuple[int, int, _Part]] = []
    spans += ((index, index + 1, leaf) for index, leaf in enumerate(plan.fields))
    spans += ((nested.start, nested.stop, nested) for nested in plan.objects)
    spans += ((array.start, array.stop, array) for array in plan.arrays)
    root = Branch("", None)
    branches = {part.path: Branch(part.path[-1], part) for *_, part in spans}
    branches[()] = root
    # of two siblings that start at one leaf, the first has none
    for *_, part in sorted(spans, key=lambda span: span[:2]):
        branches[part.path[:-1]].children.append(branches[part.path])
    return root


def split_plan(plan: FillPlan) -> list[FillPlan]:
    """Return a plan for each property of the root, in schema order."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for index, leaf in enumerate(plan.fields):
        spans.setdefault(leaf.path[0], []).append((index, index + 1))
    parts: list[ObjectPlan | ArrayPlan] = [*plan.objects, *plan.arrays]
    for part in parts:
        spans.setdefault(part.path[0], []).append((part.start, part.stop))
    ranges = {
        name: (min(places)[0], max(stop for _, stop in places)) for name, places in spans.items()
    }
    names = sorted(ranges, key=ranges.__getitem__)
    return [_part_of(plan, name, *ranges[name]) for name in names]


def _part_of(plan: FillPlan, name: str, start: int, stop: int) -> FillPlan:
    objects = (nested for nested in plan.objects if nested.path[0] == name)
    arrays = (array for array in plan.arrays if array.path[0] == name)
    return FillPlan(
        plan.fields[start:stop],
        tuple(replace(one, start=one.start - start, stop=one.stop - start) for one in objects),
        tuple(replace(one, start=one.start - start, stop=one.stop - start) for one in arrays),
    )
