"""Fill plans: what is asked about each leaf of a schema, and the hashes that identify it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, TypeAlias

from deg_schema.pointer import Pointer

__all__ = [
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
        path: The property names from the root.
        type: `any` marks a choice whose options are of several types.
        options: The values of a choice in schema order; `None` is the JSON null.
        null_outcome: A score has one more outcome, the last, for null.
        on_null: What becomes of the field when nothing is found.
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

    @property
    def pointer(self) -> str:
        """The RFC 6901 pointer of the value."""
        return str(Pointer(self.path))

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
        constraints = {name: getattr(self.constraints, name) for name in _CONSTRAINT_NAMES}
        return _sha256(spec | {"constraints": constraints})


_FIELD_NAMES = tuple(part.name for part in fields(FieldPlan))
_CONSTRAINT_NAMES = tuple(part.name for part in fields(Constraints))


@dataclass(frozen=True, slots=True)
class ObjectPlan:
    """One nested object; its leaves are `fields[start:stop]` of the plan."""

    path: tuple[str, ...]
    required: bool
    start: int
    stop: int


@dataclass(frozen=True)
class FillPlan:
    """The leaves of a schema in schema order, depth first, and the objects that hold them."""

    fields: tuple[FieldPlan, ...] = ()
    objects: tuple[ObjectPlan, ...] = ()

    # not a plain property: hashing every leaf at each fill would cost more than compiling
    @cached_property
    def fingerprint(self) -> str:
        """The hash of the set of parallel leaves and the ordered list of generated ones."""
        parallel = {field.fingerprint for field in self.fields if field.mode != "generate"}
        generated = [field.fingerprint for field in self.fields if field.mode == "generate"]
        return _sha256({"generate": generated, "parallel": sorted(parallel)})


def _sha256(spec: dict[str, Any]) -> str:
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
