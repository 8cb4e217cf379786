"""Records as questions with targets: what one document teaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from deg_model import (
    DECIDE_HEADS,
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
from deg_train.gold_outcomes import outcome_of
from deg_train.gold_texts import gold_texts
from deg_train.records import Record, lookup
from deg_train.sampling import cap_decided, cap_tokens, cropped, drawn_option_order

__all__ = ["Example", "Question", "example_of"]

# a list of twenty rows would drown whatever else a step holds, a decided column the others
_MOST_IN_ITEMS = 5
_MOST_DECIDED = 3
# of what may be read, for the document; the rest is for the questions
_CONTEXT_SHARE = 0.75


@dataclass(frozen=True, slots=True)
class Question:
    """One fork and its answer.

    Attributes:
        fork: The question as tokens.
        pointer: What it asks about, `*` for the index of each item.
        outcome: The index of the right outcome of a decide question; for yes-no 0 is yes. Of a
            count question the number of items.
        probabilities: Of a decide question, how likely each outcome is to be right, where the
            record says so; `outcome` is then the likeliest.
        counts: Of a count question, the least and the most items that may be.
        spans: Every right span of an extract question, as first and last context token; none of
            them means that the document does not hold the value.
        starts: Of an anchor question, the context token where each item starts.
        region: Of an anchor question, where items may start: a first token and one after the last.
        is_anchored: Of a count question, whether the items have anchors too.
        targets: Of a text, the tokens that come after the last `len(targets)` of the fork.
    """

    fork: Fork
    pointer: str = ""
    outcome: int = -1
    probabilities: tuple[float, ...] = ()
    counts: tuple[int, int] = (0, 0)
    spans: tuple[tuple[int, int], ...] = ()
    starts: tuple[int, ...] = ()
    region: tuple[int, int] = (0, 0)
    is_anchored: bool = False
    targets: tuple[int, ...] = ()

    @property
    def loss(self) -> str:
        """What its loss is part of, by the names of contract 12.4."""
        if self.fork.head == "count":
            return "anchor_count" if self.is_anchored else "count"
        return "decide" if self.fork.head in DECIDE_HEADS else self.fork.head


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


def example_of(
    record: Record,
    tokenizer: Tokenizer,
    rng: Random | None = None,
    *,
    max_tokens: int | None = None,
    texts: bool = False,
) -> Example:
    """Turn *record* into tokens and targets; a field that cannot be taught is left out.

    Args:
        record: What is taught.
        tokenizer: The base's.
        rng: Draws a window of a document that is too long, and those of the questions that fit, a
            few of each decided field of an array among them, and orders of options; without it
            nothing is left out, and options stand in the order in which a fill asks them.
        max_tokens: What the document and its questions may have together.
        texts: Teach what `x-generate` fields say too, where the whole document is read: for a run
            that trains the stack which writes them.
    """
    plan = compile_schema(record.schema)
    context = encode_context(record.context, tokenizer)
    is_cropped = False
    if rng is not None and max_tokens is not None:
        most = int(_CONTEXT_SHARE * max_tokens)
        if context.num_tokens > most:
            record, is_cropped = cropped(record, context, most, rng), True
            context = encode_context(record.context, tokenizer)
    asker = _Asker(record, plan, tokenizer, context, rng, is_cropped=is_cropped)
    questions, in_items = asker.ask()
    if texts and not is_cropped:
        for text in gold_texts(record, plan, context, tokenizer).texts:
            question = Question(text.fork, text.field.pointer, targets=text.targets)
            (in_items if text.field.item_steps else questions).append(question)
    if rng is not None:
        in_items = cap_decided(in_items, _MOST_DECIDED, rng)
        if len(in_items) > _MOST_IN_ITEMS:
            in_items = rng.sample(in_items, _MOST_IN_ITEMS)
    questions += in_items
    if rng is not None and max_tokens is not None:
        questions = cap_tokens(questions, max_tokens - len(context.ids), rng)
    return Example(context, tuple(questions), asker.num_skipped)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a part of the schema is asked about: the items around it, their indices, a region."""

    region: tuple[int, int]
    items: tuple[Item, ...] = ()
    indices: tuple[int, ...] = ()


class _Asker:
    """Asks everything that the schema of a record wants to know."""

    def __init__(
        self,
        record: Record,
        plan: FillPlan,
        tokenizer: Tokenizer,
        context: EncodedContext,
        rng: Random | None,
        *,
        is_cropped: bool,
    ) -> None:
        self.num_skipped = 0
        self._record, self._plan, self._tokenizer = record, plan, tokenizer
        self._context, self._rng, self._is_cropped = context, rng, is_cropped

    def ask(self) -> tuple[list[Question], list[Question]]:
        """Return the questions about the document and its arrays, and those about items."""
        whole = _Place((0, self._context.num_tokens))
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
        # a window shows some of the items, be they fewer than may be
        own = [] if self._is_cropped else [count]
        if own and not count.counts[0] <= count.outcome <= count.counts[1]:
            self.num_skipped += 1
            return [], []
        ranges: list[tuple[int, int]] = []
        if array.anchored:
            starts = gold_anchors(
                self._record.spans, pointer, len(value), self._context, place.region
            )
            # a window that shows no item does not say that there is none
            if starts is None or (self._is_cropped and not starts):
                self.num_skipped += 1
                return [], []
            fork = anchor_fork(array, leaves, self._tokenizer, place.items)
            own.append(Question(fork, array.pointer, starts=starts, region=place.region))
            ranges = regions_of(starts, place.region[1])
        inner: list[Question] = []
        for index in range(len(value)):
            item, region = Item(array, index), place.region
            if array.anchored:
                region = ranges[index]
                item = item_at(array, self._context, self._record.context, *region)
            inside = _Place(region, (*place.items, item), (*place.indices, index))
            inner += self._fields(leaves, inside)
            for nested in self._plan.arrays:
                if array.holds(nested):
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
        outcome = min(num_items, MAX_COUNT)
        return Question(
            fork,
            array.pointer,
            outcome=outcome,
            counts=(least, most),
            is_anchored=array.anchored,
        )

    def _fields(self, fields: Sequence[FieldPlan], place: _Place) -> Iterator[Question]:
        for field in fields:
            if field.mode != "generate" and len(field.item_steps) == len(place.items):
                question = self._field(field, place)
                if question is not None:
                    yield question

    def _field(self, field: FieldPlan, place: _Place) -> Question | None:
        pointer = field.pointer_at(place.indices)
        value = lookup(self._record.value, pointer)
        order = None
        if field.mode == "decide.choice" and self._rng is not None:
            order = drawn_option_order(field, self._rng)
        fork = fork_of(field, self._tokenizer, place.items, option_order=order)
        if field.mode.startswith("extract"):
            spans = self._spans(pointer)
            # what is too long to be pointed at, or was not found, is not absent
            is_known = bool(spans) or (value is None and not self._is_cropped)
            return Question(fork, field.pointer, spans=spans) if is_known else None
        if self._is_cropped:
            return None
        probabilities = self._record.probabilities.get(pointer, ())
        outcome = outcome_of(field, value)
        if probabilities:
            outcome = max(range(len(probabilities)), key=probabilities.__getitem__)
        if outcome is None:
            return None
        return Question(fork, field.pointer, outcome=outcome, probabilities=probabilities)

    def _spans(self, pointer: str) -> tuple[tuple[int, int], ...]:
        """Return the tokens of each place of a value that can be pointed at."""
        spans = {self._context.cover(*place) for place in self._record.spans.get(pointer, ())}
        return tuple(sorted(span for span in spans if span[1] - span[0] < MAX_SPAN_TOKENS))
