"""Fill plans: what is asked about each leaf of a schema, and the hashes that identify it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, TypeAlias

from deg_schema.limits import MAX_UNANCHORED_ITEMS
from deg_schema.pointer import escape_token

__all__ = [
    "ArrayPlan",
    "Constraints",
    "FieldPlan",
    "FillPlan",
    "JsonScalar",
    "LeafType",
    "Mode",
    "Number",
    "ObjectPlan",
    "OnNull",
]

JsonScalar: TypeAlias = str | int | float | bool | None
Number: TypeAlias = int | float
LeafType: TypeAlias = Literal["string", "number", "integer", "boolean", "any"]
Mode: TypeAlias = Literal[
    "decide.choice",
    "decide.score",
    "decide.noul",
    "extract.number",
    "extract.date",
    "extract.span",
    "generate",
]
OnNull: TypeAlias = Literal["null", "omit", "forbid"]


@dataclass(frozen=True, slots=True)
class Constraints:
    """What a value must satisfy; `None` where the schema says nothing."""

    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    minimum: Number | None = None
    maximum: Number | None = None
    exclusive_minimum: Number | None = None
    exclusive_maximum: Number | None = None
    multiple_of: Number | None = None


NO_CONSTRAINTS = Constraints()


@dataclass(frozen=True, slots=True)
class FieldPlan:
    """One leaf of a schema: how its value is found and what it may be.

    Args:
        path: The property names from the root; `*` stands for each item of an array.
        type: `any` marks a choice whose options are of several types.
        options: The values of a choice in schema order; `None` is the JSON null.
        null_outcome: A score has one more outcome, the last, for null.
        on_null: What becomes of the field when nothing is found.
        item_steps: The positions in `path` of each `*` that stands for an item; a property may
            be named `*` too.
    """

    path: tuple[str, ...]
    mode: Mode
    type: LeafType
    options: tuple[JsonScalar, ...] = ()
    option_descriptions: tuple[str | None, ...] = ()
    levels: tuple[int, ...] = ()
    level_labels: tuple[str | None, ...] = ()
    null_outcome: bool = False
    format: str | None = None
    constraints: Constraints = NO_CONSTRAINTS
    required: bool = False
    nullable: bool = False
    on_null: OnNull = "omit"
    title: str | None = None
    description: str | None = None
    max_tokens: int | None = None
    item_steps: tuple[int, ...] = ()

    @property
    def pointer(self) -> str:
        """The RFC 6901 pointer of the value, with `*` for each item."""
        return _pointer(self.path)

    def pointer_at(self, indices: Sequence[int | str]) -> str:
        """Return the pointer of the value in one item, the outermost index first."""
        return _pointer_at(self.path, self.item_steps, indices)

    @property
    def asked_order(self) -> tuple[int, ...]:
        """The positions in `options` in the order in which a model reads them.

        Numbers come first, by value, then texts by code point, then false, true and null. An enum
        is a set (JSON Schema validation, 6.1.2): in whichever order a schema has its options, the
        question is the same, and so are the bits of its answer.
        """
        return tuple(sorted(range(len(self.options)), key=lambda i: _place_of(self.options[i])))

    @property
    def num_outcomes(self) -> int:
        """How many probabilities a decide field has; 0 for the other modes."""
        if self.mode == "decide.noul":
            return 2
        return len(self.options) + len(self.levels) + self.null_outcome

    @property
    def fingerprint(self) -> str:
        """The sha256 of the leaf's canonical spec, the same whatever its siblings are."""
        spec: dict[str, Any] = {name: getattr(self, name) for name in _FIELD_NAMES}
        # what is in no array hashes as it did before there were any
        if not self.item_steps:
            del spec["item_steps"]
        constraints = {name: getattr(self.constraints, name) for name in _CONSTRAINT_NAMES}
        return _sha256(spec | {"constraints": constraints})


def _place_of(option: JsonScalar) -> tuple[int, Number, str]:
    """Return what sorts *option* among the options of a choice."""
    if option is None or isinstance(option, bool):
        return 2, 2 if option is None else option, ""
    return (1, 0, option) if isinstance(option, str) else (0, option, "")


_FIELD_NAMES = tuple(part.name for part in fields(FieldPlan))
_CONSTRAINT_NAMES = tuple(part.name for part in fields(Constraints))


@dataclass(frozen=True, slots=True)
class ObjectPlan:
    """One nested object; its leaves are `fields[start:stop]` of the plan."""

    path: tuple[str, ...]
    required: bool
    start: int
    stop: int
    item_steps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ArrayPlan:
    """One array: how many items it may have; its leaves are `fields[start:stop]` of the plan.

    Args:
        path: The property names to the array itself, with `*` for each item around it.
        anchored: An item is found by where it stands in the document, as some leaf of it is
            copied from there; the items of other arrays are counted.
        item_steps: The positions in `path` of each `*` that stands for an item.
    """

    path: tuple[str, ...]
    min_items: int = 0
    max_items: int | None = None
    unique_items: bool = False
    required: bool = False
    title: str | None = None
    description: str | None = None
    start: int = 0
    stop: int = 0
    anchored: bool = False
    item_steps: tuple[int, ...] = ()

    @property
    def pointer(self) -> str:
        """The RFC 6901 pointer of the array, with `*` for each item around it."""
        return _pointer(self.path)

    def pointer_at(self, indices: Sequence[int | str]) -> str:
        """Return the pointer of the array in one item, the outermost index first."""
        return _pointer_at(self.path, self.item_steps, indices)

    def holds(self, nested: ArrayPlan) -> bool:
        """Say whether *nested* stands in the items of this array, in no other array between."""
        is_next = len(nested.item_steps) == len(self.item_steps) + 1
        return is_next and nested.path[: len(self.path)] == self.path

    def limit(self, max_items: int | None = None) -> int | None:
        """Return the most items to write, given the option `max_items`; `None` is no limit."""
        if self.max_items is not None:
            return self.max_items
        if max_items is None:
            max_items = None if self.anchored else MAX_UNANCHORED_ITEMS
        return None if max_items is None else max(max_items, self.min_items)

    @property
    def fingerprint(self) -> str:
        """The sha256 of the array's own spec, the same whatever stands beside it or in it."""
        spec: dict[str, Any] = {name: getattr(self, name) for name in _ARRAY_NAMES}
        return _sha256(spec | {"mode": "array"})


# where its leaves stand in the plan is no part of what an array asks
_ARRAY_NAMES = tuple(part.name for part in fields(ArrayPlan) if part.name not in ("start", "stop"))


@dataclass(frozen=True)
class FillPlan:
    """The leaves of a schema, the objects and the arrays, each in schema order, depth first."""

    fields: tuple[FieldPlan, ...] = ()
    objects: tuple[ObjectPlan, ...] = ()
    arrays: tuple[ArrayPlan, ...] = ()

    # not a plain property: hashing every leaf at each fill would cost more than compiling
    @cached_property
    def fingerprint(self) -> str:
        """The hash of the set of arrays and parallel leaves and the ordered list of generated."""
        parallel = {field.fingerprint for field in self.fields if field.mode != "generate"}
        parallel |= {array.fingerprint for array in self.arrays}
        generated = [field.fingerprint for field in self.fields if field.mode == "generate"]
        return _sha256({"generate": generated, "parallel": sorted(parallel)})


def _pointer(path: tuple[str, ...]) -> str:
    return "".join(f"/{escape_token(name)}" for name in path)


def _pointer_at(
    path: tuple[str, ...], item_steps: tuple[int, ...], indices: Sequence[int | str]
) -> str:
    tokens = list(path)
    for step, index in zip(item_steps, indices, strict=True):
        tokens[step] = str(index)
    return _pointer(tuple(tokens))


def _sha256(spec: dict[str, Any]) -> str:
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
