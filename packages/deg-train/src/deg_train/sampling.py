"""What one draw of a record trains: a window of a long document, and the questions that fit.

Each is a pure function of its arguments and the generator (contract 12.4).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

from deg_model import EncodedContext
from deg_schema import FieldPlan
from deg_train.gold_anchors import item_starts
from deg_train.records import Record, step

if TYPE_CHECKING:
    from deg_train.questions import Question

__all__ = ["cap_decided", "cap_tokens", "cropped", "drawn_option_order"]

_WHOLE_ARRAY = ("count", "anchor")

Span = tuple[int, int]


def drawn_option_order(field: FieldPlan, rng: Random) -> tuple[int, ...]:
    """Return an order of the options of a choice: at random half of the time, else the asked one.

    A model that has seen both does not lean on where an option stands.
    """
    order = field.asked_order
    return order if rng.random() < 0.5 else tuple(rng.sample(order, len(order)))


def cap_decided(questions: Sequence[Question], most: int, rng: Random) -> list[Question]:
    """Keep at most *most* questions about each decided field, the indices of items aside."""
    by_field = defaultdict(list)
    for number, question in enumerate(questions):
        if question.loss == "decide":
            by_field[question.pointer].append(number)
    left_out: set[int] = set()
    for numbers in by_field.values():
        if len(numbers) > most:
            left_out |= set(numbers) - set(rng.sample(numbers, most))
    return [question for number, question in enumerate(questions) if number not in left_out]


def cap_tokens(questions: Sequence[Question], room: int, rng: Random) -> list[Question]:
    """Keep those about whole arrays, and of the others, in random order, those that fit in *room*.

    The first one is kept whatever its length, so that no question is too long ever to be asked.
    """
    kept = {n for n, question in enumerate(questions) if question.fork.head in _WHOLE_ARRAY}
    left = room - sum(len(questions[n].fork.ids) for n in kept)
    others = [n for n in range(len(questions)) if n not in kept]
    for place, number in enumerate(rng.sample(others, len(others))):
        size = len(questions[number].fork.ids)
        if size <= left or place == 0:
            kept.add(number)
            left -= size
    return [questions[number] for number in sorted(kept)]


def cropped(record: Record, context: EncodedContext, num_tokens: int, rng: Random) -> Record:
    """Return *record* with a window of its document that holds one of its places, drawn at random.

    Places outside the window are gone, and so are the items of arrays that start outside. What is
    left of the value is not all of it: nothing may be trained as absent, counted or decided.
    """
    first = _draw_start(record, context, num_tokens, rng)
    last = min(first + num_tokens, context.num_tokens) - 1
    start, end = context.starts[first], context.ends[last]
    spans = {
        pointer: tuple(place for place in places if start <= place[0] and place[1] <= end)
        for pointer, places in record.spans.items()
    }
    window = _Window((start, end), record.spans, {p: found for p, found in spans.items() if found})
    value = window.keep(record.value, "", "")
    shifted = {
        pointer: tuple((left - start, right - start) for left, right in places)
        for pointer, places in window.spans.items()
    }
    return replace(record, context=record.context[start:end], value=value, spans=shifted)


def _draw_start(record: Record, context: EncodedContext, num_tokens: int, rng: Random) -> int:
    latest = context.num_tokens - num_tokens
    places = [place for _, found in sorted(record.spans.items()) for place in found]
    covers = [context.cover(*place) for place in places]
    fitting = [(first, last) for first, last in covers if last - first < num_tokens]
    if not fitting:
        return rng.randint(0, latest)
    first, last = rng.choice(fitting)
    return rng.randint(max(0, last - num_tokens + 1), min(first, latest))


class _Window:
    """Keeps of a value what a window shows; collects the places under the pointers they get."""

    def __init__(
        self, extent: Span, before: dict[str, tuple[Span, ...]], inside: dict[str, tuple[Span, ...]]
    ) -> None:
        self.spans: dict[str, tuple[Span, ...]] = {}
        self._extent, self._before, self._inside = extent, before, inside

    def keep(self, value: Any, old: str, new: str) -> Any:
        """Return what is left of the *value* at pointer *old*, which gets the pointer *new*."""
        if old in self._inside:
            self.spans[new] = self._inside[old]
        if isinstance(value, dict):
            return {
                name: self.keep(inner, old + step(name), new + step(name))
                for name, inner in value.items()
            }
        if isinstance(value, list):
            starts = item_starts(self._before, old, len(value))
            shown = [i for i, at in enumerate(starts) if at is not None and self._shows(at[0])]
            return [
                self.keep(value[index], f"{old}/{index}", f"{new}/{number}")
                for number, index in enumerate(shown)
            ]
        return value

    def _shows(self, place: int) -> bool:
        return self._extent[0] <= place < self._extent[1]
