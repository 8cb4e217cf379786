"""Rounds of questions: all that can be asked now in one batch, then what its answers lead to.

Fields outside arrays are asked in the first round, with the arrays there: how many items, or where
each starts. The fields and arrays of the items that were found are asked in the next, and so on. A
question depends on its document, itself and the items around it alone, so a round may hold those of
any requests.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from torch import Tensor

from deg_model import (
    ArrayMode,
    ContextState,
    DegModel,
    Fork,
    Item,
    SpanScores,
    Tokenizer,
    anchor_fork,
    count_fork,
    fork_of,
    item_at,
)
from deg_runtime.arrays import find_anchors, regions_of, take_count
from deg_runtime.decode import decode
from deg_runtime.memory import fork_token_budget
from deg_runtime.places import Places
from deg_runtime.trace import Trace
from deg_schema import ArrayPlan, DegError, FieldPlan, FillError, FillPlan, Items, Options, Outcome

__all__ = ["MAX_QUESTIONS", "Asked", "run_rounds"]

MAX_QUESTIONS = 100_000
"""The most questions of one request: arrays in arrays ask more than their document has words."""

_Answer: TypeAlias = Tensor | SpanScores


@dataclass
class Asked:
    """A request while its questions are asked.

    Attributes:
        plan: What is asked.
        text: The document.
        context: The document as it was read.
        options: Of the request.
        mode: How the model finds the items of arrays; a plan without arrays needs none.
        outcomes: What was found, by pointer; items are not dropped there yet.
        open: The properties of the root of which something is still asked.
        num_questions: How many were asked.
        num_tokens: How many tokens they have.
        error: Why the request cannot be filled.
        places: What is known of places in the document, whatever is asked.
    """

    plan: FillPlan
    text: str
    context: ContextState
    options: Options
    mode: ArrayMode | None
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    num_questions: int = 0
    num_tokens: int = 0
    error: DegError | None = None
    places: Places = field(init=False)

    def __post_init__(self) -> None:
        self.places = Places(self.text, self.context.encoded)

    @cached_property
    def members(self) -> dict[tuple[str, ...], _Members]:
        """What stands directly in the items of each array, by its path; by `()` in no array."""
        members: dict[tuple[str, ...], _Members] = {(): _Members()}
        for array in self.plan.arrays:
            members[array.path] = _Members()
        for array in self.plan.arrays:
            members[_array_around(array)].arrays.append(array)
        for leaf in self.plan.fields:
            # texts are written when all questions are answered
            if leaf.mode != "generate":
                members[_array_around(leaf)].fields.append(leaf)
        return members

    @cached_property
    def is_anchored(self) -> bool:
        """Whether the document is long enough for items to be found by where they start."""
        mode = self.mode
        num_tokens = self.context.encoded.num_tokens
        return mode is not None and mode.mode == "anchor" and num_tokens >= mode.min_tokens


def run_rounds(model: DegModel, requests: Sequence[Asked], trace: Trace) -> Iterator[None]:
    """Ask everything about *requests*, and stop after each round for what is known by then.

    A request that cannot be filled gets its `error`, and no more is asked of it.
    """
    tokenizer = model.tokenizer
    _share_places(requests)
    questions = [question for asked in requests for question in _first(asked, tokenizer)]
    while questions:
        start = time.perf_counter()
        for some in _groups(questions, fork_token_budget(model)):
            forks = [fork for question in some for fork in question.forks]
            contexts = [question.asked.context for question in some for _ in question.forks]
            answers = iter(model.answer(forks, contexts))
            for question in some:
                question.take([next(answers) for _ in question.forks])
        trace.asked(
            sum(len(question.forks) for question in questions),
            sum(question.num_tokens for question in questions),
            start,
        )
        questions = [more for question in questions for more in question.next(tokenizer)]
        questions = [question for question in questions if question.asked.error is None]
        for asked in requests:
            asked.open = set()
        for question in questions:
            question.asked.open.add(question.part.path[0])
        yield


@dataclass(slots=True)
class _Members:
    fields: list[FieldPlan] = field(default_factory=list)
    arrays: list[ArrayPlan] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Scope:
    """The items around a question from the outermost in, and the tokens that are theirs."""

    region: tuple[int, int]
    items: tuple[Item, ...] = ()
    indices: tuple[int, ...] = ()

    def inside(self, item: Item, index: int) -> _Scope:
        region = self.region if item.anchor is None else (item.anchor, item.end)
        return _Scope(region, (*self.items, item), (*self.indices, index))


@dataclass(slots=True)
class _FieldQuestion:
    """What the value of a field is."""

    asked: Asked
    part: FieldPlan
    scope: _Scope
    forks: tuple[Fork, ...]

    @property
    def num_tokens(self) -> int:
        return sum(len(fork.ids) for fork in self.forks)

    def take(self, answers: Sequence[_Answer]) -> None:
        asked, (answer,) = self.asked, answers
        outcome = decode(
            self.part, answer, asked.text, asked.context, asked.options, places=asked.places
        )
        asked.outcomes[self.part.pointer_at(self.scope.indices)] = outcome

    def next(self, tokenizer: Tokenizer) -> list[_Question]:
        return []


@dataclass(slots=True)
class _ArrayQuestion:
    """How many items an array has, or where each of them starts."""

    asked: Asked
    part: ArrayPlan
    scope: _Scope
    forks: tuple[Fork, ...]
    items: list[Item] = field(default_factory=list)

    @property
    def num_tokens(self) -> int:
        return sum(len(fork.ids) for fork in self.forks)

    def take(self, answers: Sequence[_Answer]) -> None:
        logits = [answer for answer in answers if isinstance(answer, Tensor)]
        is_anchored = self.forks[0].head == "anchor"
        found = self._anchored(*logits) if is_anchored else self._counted(*logits)
        self.asked.outcomes[self.part.pointer_at(self.scope.indices)] = found

    def next(self, tokenizer: Tokenizer) -> list[_Question]:
        questions: list[_Question] = []
        for index, item in enumerate(self.items):
            scope = self.scope.inside(item, index)
            questions += _questions(self.asked, self.part.path, scope, tokenizer)
            if self.asked.num_questions > MAX_QUESTIONS:
                self.asked.error = self._too_many()
                return []
        return questions

    def _too_many(self) -> FillError:
        return FillError(
            f"with the {len(self.items):,} items of this array, the document asks more than "
            f"{MAX_QUESTIONS:,} questions: give a smaller 'maxItems' or 'max_items', or split the "
            "document",
            self.part.pointer_at(self.scope.indices),
        )

    def _anchored(self, logits_T: Tensor, count_logits_N: Tensor | None = None) -> Items:
        asked, array, region = self.asked, self.part, self.scope.region
        anchors = find_anchors(logits_T, region, array, asked.options, count_logits_N)
        encoded = asked.context.encoded
        self.items = [
            item_at(array, encoded, asked.text, start, end)
            for start, end in regions_of(anchors.tokens, region[1])
        ]
        return Items(len(self.items), anchors.limit)

    def _counted(self, count_logits_N: Tensor) -> Items:
        found = take_count(count_logits_N, self.part, self.asked.options)
        self.items = [Item(self.part, index=index) for index in range(found.count)]
        return found


_Question: TypeAlias = _FieldQuestion | _ArrayQuestion


def _share_places(requests: Sequence[Asked]) -> None:
    """Let the requests on one document find its places once."""
    places: dict[str, Places] = {}
    for asked in requests:
        asked.places = places.setdefault(asked.text, asked.places)


def _first(asked: Asked, tokenizer: Tokenizer) -> list[_Question]:
    return _questions(asked, (), _Scope((0, asked.context.encoded.num_tokens)), tokenizer)


def _questions(
    asked: Asked, path: tuple[str, ...], scope: _Scope, tokenizer: Tokenizer
) -> list[_Question]:
    """Ask of every field and array that stands directly in the item at the end of *scope*."""
    members = asked.members[path]
    questions: list[_Question] = [
        _FieldQuestion(asked, leaf, scope, (fork_of(leaf, tokenizer, scope.items),))
        for leaf in members.fields
    ]
    questions += [
        _ArrayQuestion(asked, array, scope, _array_forks(asked, array, scope, tokenizer))
        for array in members.arrays
    ]
    asked.num_questions += sum(len(question.forks) for question in questions)
    asked.num_tokens += sum(question.num_tokens for question in questions)
    return questions


def _array_forks(
    asked: Asked, array: ArrayPlan, scope: _Scope, tokenizer: Tokenizer
) -> tuple[Fork, ...]:
    fields = asked.plan.fields[array.start : array.stop]
    if not (array.anchored and asked.is_anchored):
        return (count_fork(array, fields, tokenizer, scope.items),)
    places = anchor_fork(array, fields, tokenizer, scope.items)
    if asked.options.array_decode == "threshold":
        return (places,)
    return places, count_fork(array, fields, tokenizer, scope.items)


def _groups(questions: Sequence[_Question], most_tokens: int) -> Iterator[list[_Question]]:
    """Cut *questions* into batches, so that the answers of few of them are held at a time."""
    group: list[_Question] = []
    size = 0
    for question in questions:
        if group and size + question.num_tokens > most_tokens:
            yield group
            group, size = [], 0
        group.append(question)
        size += question.num_tokens
    if group:
        yield group


def _array_around(part: FieldPlan | ArrayPlan) -> tuple[str, ...]:
    return part.path[: part.item_steps[-1]] if part.item_steps else ()
