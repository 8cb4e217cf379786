"""Between the two phases: what was decided and copied, and which texts are left to write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deg_schema.found import Found, FoundArray, FoundLeaf, gather, is_absent, lack_of
from deg_schema.outcomes import Outcome
from deg_schema.plan import FieldPlan, FillPlan, JsonScalar
from deg_schema.pointer import escape_token
from deg_schema.response import LEFT_OUT, meta_of, meta_of_array, value_of

__all__ = ["Settled", "SettledPart", "Unwritten", "settle"]


@dataclass(frozen=True, slots=True)
class SettledPart:
    """A field or an array whose outcome stands.

    Args:
        pointer: Where it stands in the response.
        meta: What the response says of it.
        has_value: Whether it is a field with a value, which may be null.
        value: The value; `None` where there is none too.
    """

    pointer: str
    meta: dict[str, Any]
    has_value: bool = False
    value: JsonScalar = None


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A text that is to be written.

    Args:
        field: Its field.
        pointer: Where it will stand in the response.
        source: Where its outcome is to be given: items are not dropped there yet.
    """

    field: FieldPlan
    pointer: str
    source: str


@dataclass(frozen=True, slots=True)
class Settled:
    """What is known before any text is written, each in the order of the schema."""

    parts: list[SettledPart] = field(default_factory=list)
    texts: list[Unwritten] = field(default_factory=list)

    @property
    def known(self) -> tuple[tuple[str, JsonScalar], ...]:
        """Pointers in the response with the values that stand there."""
        return tuple((part.pointer, part.value) for part in self.parts if part.has_value)


def settle(plan: FillPlan, outcomes: Mapping[str, Outcome]) -> Settled:
    """Drop the items that lack a required value, and tell what is left.

    Args:
        plan: A plan, or a part of one.
        outcomes: Of all of its arrays and of all fields but the texts, keyed by pointer.

    Raises:
        FillError: An outcome is missing or of the wrong sort, a required field has no value, or an
            array has too few items.
    """
    found = gather(plan, outcomes)
    if lack := lack_of(found):
        raise lack
    settled = Settled()
    _walk(found, "", settled, is_there=True)
    return settled


def _walk(found: Found, pointer: str, settled: Settled, *, is_there: bool) -> None:
    if isinstance(found, FoundLeaf):
        _tell(found, pointer, settled, is_there=is_there)
    elif isinstance(found, FoundArray):
        settled.parts.append(SettledPart(pointer, meta_of_array(found)))
        for index, item in enumerate(found.items):
            _walk(item, f"{pointer}/{index}", settled, is_there=is_there)
    else:
        is_there = is_there and not is_absent(found)
        for name, member in found.members.items():
            _walk(member, f"{pointer}/{escape_token(name)}", settled, is_there=is_there)


def _tell(leaf: FoundLeaf, pointer: str, settled: Settled, *, is_there: bool) -> None:
    if leaf.outcome is None:
        settled.texts.append(Unwritten(leaf.field, pointer, leaf.pointer))
        return
    meta, value = meta_of(leaf.field, leaf.outcome), value_of(leaf.field, leaf.outcome)
    if value is LEFT_OUT or not is_there:
        settled.parts.append(SettledPart(pointer, meta))
    else:
        settled.parts.append(SettledPart(pointer, meta, has_value=True, value=value))
