"""What a stream yields: fields as they are answered, texts as they are written, the response."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from deg_runtime.rounds import Asked
from deg_schema import (
    ArrayPlan,
    FieldPlan,
    FillError,
    FillPlan,
    JsonScalar,
    ObjectPlan,
    Outcome,
    Pointer,
    settle,
    split_plan,
)

__all__ = ["Event", "FieldDone", "Filled", "Finished", "TextPiece"]


@dataclass(frozen=True, slots=True)
class FieldDone:
    """A field or an array whose outcome stands.

    Attributes:
        pointer: Where it stands in the response.
        meta: What the response will say of it.
        has_value: Whether it is a field with a value, which may be null.
        value: The value; `None` where there is none too.
    """

    pointer: str
    meta: Mapping[str, Any]
    has_value: bool = False
    value: JsonScalar = None


@dataclass(frozen=True, slots=True)
class TextPiece:
    """The next piece of the text at *pointer*."""

    pointer: str
    text: str


@dataclass(frozen=True, slots=True)
class Filled:
    """The response, which `Engine.fill` would return; the last event."""

    response: dict[str, Any]


Event: TypeAlias = FieldDone | TextPiece | Filled


class Finished:
    """Tells the properties of the root that were answered since it was last asked.

    What stands in an array, or beside one in an object, waits for all of it: as long as an item may
    be dropped, those after it have no pointers yet.
    """

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._waiting = [(plan, _name_of(plan)) for plan in split_plan(asked.plan)]

    def events(self) -> Iterator[FieldDone]:
        """Yield what has come to stand."""
        ready = [plan for plan, name in self._waiting if name not in self._asked.open]
        self._waiting = [pair for pair in self._waiting if pair[1] in self._asked.open]
        outcomes: dict[str, dict[str, Outcome]] = {}
        for pointer, outcome in self._asked.outcomes.items():
            outcomes.setdefault(Pointer.parse(pointer).tokens[0], {})[pointer] = outcome
        for plan in ready:
            yield from _events_of(plan, outcomes.get(_name_of(plan), {}))


def _events_of(plan: FillPlan, outcomes: Mapping[str, Outcome]) -> Iterator[FieldDone]:
    try:
        settled = settle(plan, outcomes)
    except FillError:
        # the whole request fails when all is answered, for the first reason in schema order
        return
    for part in settled.parts:
        yield FieldDone(part.pointer, part.meta, part.has_value, part.value)


def _name_of(plan: FillPlan) -> str:
    parts: list[FieldPlan | ObjectPlan | ArrayPlan] = [*plan.fields, *plan.objects, *plan.arrays]
    return parts[0].path[0]
