"""Records as questions with targets: what one document teaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from deg_model import (
    MAX_COUNT,
    MAX_SPAN_TOKENS,
    EncodedContext,
    Fork,
    Item,
    Tokenizer,
    anchor_fork,
    count_fork,
    encode_context,
    fork_of,
    item_at,
)
from deg_schema import ArrayPlan, FieldPlan, FillPlan, compile_schema
from deg_train.gold_anchors import gold_anchors, regions_of
from deg_train.records import Record, lookup

__all__ = ["Example", "Question", "example_of"]

# a list of twenty rows would drown whatever else a step holds
_MAX_IN_ITEMS = 6


@dataclass(frozen=True, slots=True)
class Question:
    """One fork and its answer.

    Attributes:
        fork: The question as tokens.
        outcome: The index of the right outcome of a decide question; for yes-no 0 is yes. Of a
            count question the number of items.
        counts: Of a count question, the least and the most items that may be.
        spans: Every right span of an extract question, as first and last context token; none of
            them means that the document does not hold the value.
        starts: Of an anchor question, the context token where each item starts.
        region: Of an anchor question, where items may start: a first token and one after the last.
    """

    fork: Fork
    outcome: int = -1
    counts: tuple[int, int] = (0, 0)
    spans: tuple[tuple[int, int], ...] = ()
    starts: tuple[int, ...] = ()
    region: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Example:
    """One document and the questions about it.

    Attributes:
        num_skipped: Arrays that teach nothing: two of their items start at the same place, or their
            schema does not allow for as many items as they have.
    """

    context: EncodedContext
    questions: tuple[Question, ...]
    num_skipped: int = 0

    @property
    def num_tokens(self) -> int:
        """The tokens that a pass over this example reads."""
        return len(self.context.ids) + sum(len(q.fork.ids) for q in self.questions)


def example_of(record: Record, tokenizer: Tokenizer, rng: Random | None = None) -> Example:
    """Turn *record* into tokens and targets; a field that cannot be taught is left out.

    Of the questions about values in items a few are drawn by *rng*, all are kept without one; those
    about whole arrays are kept in any case.
    """
    asker = _Asker(record, compile_schema(record.schema), tokenizer)
    others, in_items = asker.ask()
    if rng is not None and len(in_items) > _MAX_IN_ITEMS:
        in_items = rng.sample(in_items, _MAX_IN_ITEMS)
    return Example(asker.context, (*others, *in_items), asker.num_skipped)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a part of the schema is asked about: the items around it, their indices, a region."""

    region: tuple[int, int]
    items: tuple[Item, ...] = ()
    indices: tuple[int, ...] = ()


class _Asker:
    """Asks everything that the schema of a record wants to know."""

    def __init__(self, record: Record, plan: FillPlan, tokenizer: Tokenizer) -> None:
        self.context = encode_context(record.context, tokenizer)
        self.num_skipped = 0
        self._record, self._plan, self._tokenizer = record, plan, tokenizer

    def ask(self) -> tuple[list[Question], list[Question]]:
        """Return the questions about the document and its arrays, and those about items."""
        whole = _Place((0, self.context.num_tokens))
        others = list(self._fields(self._plan.fields, whole))
        in_items: list[Question] = []
        for array in self._plan.arrays:
            if not array.item_steps:
                own, inner = self._array(array, whole)
                others += own
                in_items += inner
        return others, in_items

    def _array(self, array: ArrayPlan, place: _Place) -> tuple[list[Question], list[Question]]:
        """Return the questions about an array and the arrays in it, and those about items."""
        pointer = array.pointer_at(place.indices)
        value = lookup(self._record.value, pointer) or []
        leaves = self._plan.fields[array.start : array.stop]
        count = self._count(array, leaves, len(value), place)
        if not count.counts[0] <= count.outcome <= count.counts[1]:
            self.num_skipped += 1
            return [], []
        own = [count]
        ranges: list[tuple[int, int]] = []
        if array.anchored:
            starts = gold_anchors(
                self._record.spans, pointer, len(value), self.context, place.region
            )
            if starts is None:
                self.num_skipped += 1
                return [], []
            fork = anchor_fork(array, leaves, self._tokenizer, place.items)
            own.append(Question(fork, starts=starts, region=place.region))
            ranges = regions_of(starts, place.region[1])
        inner: list[Question] = []
        for index in range(len(value)):
            item, region = Item(array, index), place.region
            if array.anchored:
                region = ranges[index]
                item = item_at(array, self.context, self._record.context, *region)
            inside = _Place(region, (*place.items, item), (*place.indices, index))
            inner += self._fields(leaves, inside)
            for nested in self._plan.arrays:
                if _is_inside(nested, array):
                    arrays, values = self._array(nested, inside)
                    own += arrays
                    inner += values
        return own, inner

    def _count(
        self, array: ArrayPlan, leaves: Sequence[FieldPlan], num_items: int, place: _Place
    ) -> Question:
        fork = count_fork(array, leaves, self._tokenizer, place.items)
        least = min(array.min_items, MAX_COUNT)
        most = MAX_COUNT if array.max_items is None else min(array.max_items, MAX_COUNT)
        return Question(fork, outcome=min(num_items, MAX_COUNT), counts=(least, most))

    def _fields(self, fields: Sequence[FieldPlan], place: _Place) -> Iterator[Question]:
        for field in fields:
            if field.mode != "generate" and len(field.item_steps) == len(place.items):
                question = self._field(field, place)
                if question is not None:
                    yield question

    def _field(self, field: FieldPlan, place: _Place) -> Question | None:
        pointer = field.pointer_at(place.indices)
        value = lookup(self._record.value, pointer)
        fork = fork_of(field, self._tokenizer, place.items)
        if field.mode.startswith("extract"):
            places = self._record.spans.get(pointer, ())
            spans = {self.context.cover(start, end) for start, end in places}
            within = sorted(span for span in spans if span[1] - span[0] < MAX_SPAN_TOKENS)
            # a value too long to be pointed at is not an absent one
            return None if spans and not within else Question(fork, spans=tuple(within))
        if field.mode == "decide.noul":
            return Question(fork, outcome=0 if value else 1)
        outcomes: tuple[Any, ...] = field.options if field.mode == "decide.choice" else field.levels
        if value is None and field.null_outcome:
            return Question(fork, outcome=len(outcomes))
        typed = [(type(outcome), outcome) for outcome in outcomes]
        return Question(fork, outcome=typed.index((type(value), value)))


def _is_inside(nested: ArrayPlan, array: ArrayPlan) -> bool:
    """Say whether *nested* stands in the items of *array*, in no other array between."""
    depth = len(array.path)
    return len(nested.item_steps) == len(array.item_steps) + 1 and nested.path[:depth] == array.path
