"""Coherence of a plan that came from outside: what `compile_schema` makes true of every plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from deg_schema.compilation import on_null_of
from deg_schema.errors import Problem
from deg_schema.json_values import clip
from deg_schema.limits import MAX_DEPTH, MAX_FIELDS, MAX_MIN_ITEMS, MAX_OPTIONS, MAX_SCORE_LEVELS
from deg_schema.patterns import parse_pattern
from deg_schema.plan import ArrayPlan, FieldPlan, FillPlan, ObjectPlan
from deg_schema.pointer import Pointer

__all__ = ["check_plan"]

_Path: TypeAlias = tuple[str, ...]
_Part: TypeAlias = FieldPlan | ObjectPlan | ArrayPlan

_TYPES = {
    "decide.score": ("integer",),
    "decide.noul": ("boolean",),
    "extract.number": ("number", "integer"),
    "extract.date": ("string",),
    "extract.span": ("string",),
    "generate": ("string",),
}


def check_plan(plan: FillPlan) -> list[Problem]:
    """Return everything in *plan* that no schema compiles to."""
    if len(plan.fields) + len(plan.objects) + len(plan.arrays) > MAX_FIELDS:
        return [Problem("", f"the plan has more than {MAX_FIELDS} parts; compile it anew")]
    tree = _Tree(plan)
    lists: dict[str, Sequence[_Part]] = {
        "fields": plan.fields,
        "objects": plan.objects,
        "arrays": plan.arrays,
    }
    return [
        Problem(f"/{name}/{index}", message)
        for name, parts in lists.items()
        for index, part in enumerate(parts)
        for message in _faults(tree, part)
    ]


def _faults(tree: _Tree, part: _Part) -> Iterator[str]:
    yield from tree.place_faults(part)
    if isinstance(part, FieldPlan):
        yield from _field_faults(part)
    else:
        yield from tree.range_faults(part)
    if isinstance(part, ArrayPlan):
        yield from tree.array_faults(part)


class _Tree:
    """The parts of a plan by their paths, and the leaves that are below each path."""

    def __init__(self, plan: FillPlan) -> None:
        self._fields = plan.fields
        self._parts: dict[_Path, list[_Part]] = {}
        self._below: dict[_Path, list[int]] = {}
        everything: tuple[_Part, ...] = (*plan.fields, *plan.objects, *plan.arrays)
        for part in everything:
            self._parts.setdefault(part.path, []).append(part)
        for index, field in enumerate(plan.fields):
            for length in range(1, min(len(field.path), MAX_DEPTH + 1)):
                self._below.setdefault(field.path[:length], []).append(index)

    def place_faults(self, part: _Part) -> Iterator[str]:
        """Tell what is wrong with the path of *part*."""
        path = part.path
        if not 1 <= len(path) <= MAX_DEPTH + 1:
            yield f"a path has 1 to {MAX_DEPTH + 1} steps"
            return
        if len(self._parts[path]) > 1:
            yield "two parts have this path"
        holders = self._parts.get(path[:-1], ())
        if len(path) > 1 and not (holders and isinstance(holders[0], (ObjectPlan, ArrayPlan))):
            yield "no object and no array holds it"
            return
        steps = holders[0].item_steps if holders else ()
        if holders and isinstance(holders[0], ArrayPlan):
            steps = (*steps, len(path) - 1)
            if path[-1] != "*" or not part.required:
                yield "the item of an array is named '*' and is required"
        if part.item_steps != steps:
            yield f"'item_steps' do not point to each item of {clip(str(Pointer(path)))}"

    def range_faults(self, part: ObjectPlan | ArrayPlan) -> Iterator[str]:
        """Tell what is wrong with the leaves that *part* names as its own."""
        below = self._below.get(part.path, [])
        # the range is not spelled out before its length is known to be small
        named = range(part.start, part.stop)
        is_whole = part.start + len(below) == part.stop <= len(self._fields)
        if not is_whole or below != list(named):
            yield "its leaves are not those from 'start' to 'stop'"

    def array_faults(self, array: ArrayPlan) -> Iterator[str]:
        """Tell what is wrong with the keywords of *array*."""
        if (*array.path, "*") not in self._parts:
            yield "the array has no item"
        if array.max_items is not None and array.min_items > array.max_items:
            yield "'min_items' is more than 'max_items'"
        if array.min_items > MAX_MIN_ITEMS:
            yield f"'min_items' is more than {MAX_MIN_ITEMS}"
        leaves = [self._fields[index] for index in self._below.get(array.path, ())]
        if array.anchored != any(leaf.mode.startswith("extract") for leaf in leaves):
            yield "'anchored' says whether a leaf of the item is extracted"


def _field_faults(field: FieldPlan) -> Iterator[str]:
    if field.type not in _TYPES.get(field.mode, (field.type,)):
        yield f"the mode {field.mode!r} has no type {field.type!r}"
    if field.on_null != on_null_of(required=field.required, nullable=field.nullable):
        yield f"'on_null' {field.on_null!r} contradicts 'required' and 'nullable'"
    if field.mode == "decide.choice":
        if not 2 <= len(field.options) <= MAX_OPTIONS:
            yield f"a choice has 2 to {MAX_OPTIONS} options"
        if len({(isinstance(value, bool), value) for value in field.options}) < len(field.options):
            yield "an option stands twice"
        if field.nullable != (None in field.options):
            yield "'nullable' contradicts the options"
    elif field.options:
        yield f"the mode {field.mode!r} has no options"
    if field.mode == "decide.score":
        if not 2 <= len(field.levels) <= MAX_SCORE_LEVELS:
            yield f"a score has 2 to {MAX_SCORE_LEVELS} levels"
        if list(field.levels) != sorted(set(field.levels)):
            yield "the levels do not ascend"
    elif field.levels:
        yield f"the mode {field.mode!r} has no levels"
    if field.null_outcome != (field.mode == "decide.score" and field.nullable):
        yield "'null_outcome' is for a nullable score, and for it alone"
    if len(field.option_descriptions) != len(field.options):
        yield "there is not one description for each option"
    if len(field.level_labels) != len(field.levels):
        yield "there is not one label for each level"
    if (field.mode == "extract.date") != (field.format in ("date", "date-time")):
        yield f"the mode {field.mode!r} does not have the format {field.format!r}"
    elif field.format is not None and not field.mode.startswith("extract."):
        yield f"the mode {field.mode!r} has no format"
    if field.max_tokens is not None and field.mode != "generate":
        yield "'max_tokens' is only for what is generated"
    if field.mode in ("generate", "decide.noul") and field.nullable:
        yield f"the mode {field.mode!r} is never null"
    if field.constraints.pattern is not None:
        try:
            parse_pattern(field.constraints.pattern)
        except ValueError as error:
            yield f"the pattern is invalid: {error}"
