"""Where the values of a labelled document stand in it, when only the values were given.

A text is looked for as it is, a number or a date wherever its parser reads that very value. In an
array the items are looked for in their order, each behind the start of the one before it, so that
equal values in several rows find each its own row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deg_schema import (
    ArrayPlan,
    FieldPlan,
    FillPlan,
    Options,
    find_candidates,
    has_candidates,
    read_span,
)
from deg_train.records import lookup

__all__ = ["Located", "locate", "reads_as"]

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Located:
    """What was found: the places of each value by pointer, and the pointers without any."""

    spans: dict[str, tuple[Span, ...]]
    missing: tuple[str, ...]


def locate(
    plan: FillPlan,
    context: str,
    value: Mapping[str, Any],
    given: Mapping[str, tuple[Span, ...]],
    options: Options,
) -> Located:
    """Find every extracted value that is not among the *given* places.

    Outside arrays every place that reads as the value counts; in an item the one nearest to the
    item's other values.
    """
    finder = _Finder(plan, context, value, given, options)
    finder.find_outside()
    for array in plan.arrays:
        if not array.item_steps:
            finder.find_items(array, (), (0, len(context)))
    return Located(finder.spans, tuple(finder.missing))


def reads_as(field: FieldPlan, text: str, value: object, options: Options) -> bool:
    """Say whether *text* is what *value* was copied or parsed from."""
    if field.mode == "extract.span" and not has_candidates(field):
        return text == value
    reading = read_span(field, text, options)
    return reading.reason is None and reading.value == value


class _Finder:
    def __init__(
        self,
        plan: FillPlan,
        context: str,
        value: Mapping[str, Any],
        given: Mapping[str, tuple[Span, ...]],
        options: Options,
    ) -> None:
        self.spans: dict[str, tuple[Span, ...]] = dict(given)
        self.missing: list[str] = []
        self._plan, self._context, self._value, self._options = plan, context, value, options
        self._candidates: dict[tuple[str, str | None], list[Span]] = {}
        self._read: dict[str, list[tuple[Span, object]]] = {}

    def find_outside(self) -> None:
        """Find the values that stand in no array."""
        for field, pointer in self._asked(self._plan.fields, ()):
            places = self._places(field, lookup(self._value, pointer))
            if places:
                self.spans[pointer] = tuple(places)
            else:
                self.missing.append(pointer)

    def find_items(self, array: ArrayPlan, indices: tuple[int, ...], region: Span) -> None:
        """Find the items of *array*, and those of the arrays in it, inside *region*."""
        items = lookup(self._value, array.pointer_at(indices)) or []
        leaves = self._plan.fields[array.start : array.stop]
        starts: list[int] = []
        for index in range(len(items)):
            inside = (*indices, index)
            after = starts[-1] + 1 if starts else region[0]
            found = self._item(list(self._asked(leaves, inside)), (after, region[1]))
            self.spans |= {pointer: (place,) for pointer, place in found.items()}
            starts.append(self._start(leaves, inside, after))
        for index, start in enumerate(starts):
            end = starts[index + 1] if index + 1 < len(starts) else region[1]
            for nested in self._plan.arrays:
                if array.holds(nested):
                    self.find_items(nested, (*indices, index), (start, max(start, end)))

    def _item(self, asked: Sequence[tuple[FieldPlan, str]], region: Span) -> dict[str, Span]:
        """Choose a place for each value of an item: those that lie closest together, first."""
        places = {}
        for field, pointer in asked:
            found = self._places(field, lookup(self._value, pointer))
            inside = [place for place in found if region[0] <= place[0] and place[1] <= region[1]]
            # what stands once, above the list, may be meant too
            if inside or found:
                places[pointer] = inside or found
            else:
                self.missing.append(pointer)
        if not places:
            return {}
        rarest = min(places, key=lambda pointer: len(places[pointer]))
        chosen = [
            {pointer: self._nearest(around, place) for pointer, around in places.items()}
            for place in places[rarest]
        ]
        return min(chosen, key=self._extent)

    def _nearest(self, places: Sequence[Span], to: Span) -> Span:
        """Return the nearest of *places* by lines, then by letters; rather behind than before."""
        gaps = {place: (min(place[1], to[1]), max(place[0], to[0])) for place in places}
        return min(
            places,
            key=lambda place: (
                self._context.count("\n", *gaps[place]),
                max(0, gaps[place][1] - gaps[place][0]),
                place < to,
                place,
            ),
        )

    def _extent(self, chosen: Mapping[str, Span]) -> tuple[int, int, int]:
        """Return how many lines and letters the places of an item take up, and the first."""
        first = min(start for start, _ in chosen.values())
        last = max(end for _, end in chosen.values())
        return self._context.count("\n", first, last), last - first, first

    def _start(self, leaves: Sequence[FieldPlan], indices: tuple[int, ...], after: int) -> int:
        """Return where an item starts: its first place behind the item before it."""
        pointers = [
            leaf.pointer_at(indices) for leaf in leaves if len(leaf.item_steps) == len(indices)
        ]
        starts = [start for p in pointers for start, _ in self.spans.get(p, ())[:1]]
        return min((start for start in starts if start >= after), default=after)

    def _asked(
        self, leaves: Sequence[FieldPlan], indices: tuple[int, ...]
    ) -> Iterator[tuple[FieldPlan, str]]:
        """Yield the extracted leaves at *indices* that have a value and no place yet."""
        for field in leaves:
            if not field.mode.startswith("extract") or len(field.item_steps) != len(indices):
                continue
            pointer = field.pointer_at(indices)
            if lookup(self._value, pointer) is not None and pointer not in self.spans:
                yield field, pointer

    def _places(self, field: FieldPlan, value: object) -> list[Span]:
        if not has_candidates(field):
            return _occurrences(str(value), self._context)
        return [place for place, said in self._readings(field) if said == value]

    def _readings(self, field: FieldPlan) -> list[tuple[Span, object]]:
        """Return every place that reads as some value of *field*, and that value.

        They are read once, however many items ask: else a list would take its length squared.
        """
        if field.pointer not in self._read:
            kind = (field.mode, field.format)
            if kind not in self._candidates:
                self._candidates[kind] = find_candidates(field, self._context)
            read = [
                ((start, end), read_span(field, self._context[start:end], self._options))
                for start, end in self._candidates[kind]
            ]
            self._read[field.pointer] = [(at, one.value) for at, one in read if one.reason is None]
        return self._read[field.pointer]


def _occurrences(text: str, context: str) -> list[Span]:
    """Find *text* where it is no part of a longer word, else where it is none of a longer number.

    The second finds `77` in `No77`, and `ab` in `ab77`.
    """
    if not text.strip() or text != text.strip():
        return []
    for edge in (_word_edge, _kind_edge):
        before, after = (edge(letter) for letter in (text[0], text[-1]))
        pattern = f"(?<!{before})" if before else ""
        pattern += re.escape(text) + (f"(?!{after})" if after else "")
        places = [found.span() for found in re.finditer(pattern, context)]
        if places:
            return places
    return []


def _word_edge(letter: str) -> str:
    return r"\w" if letter.isalnum() else ""


def _kind_edge(letter: str) -> str:
    return r"\d" if letter.isdigit() else r"[^\W\d_]" if letter.isalpha() else ""
