"""From a field's own scores to its outcome: nothing else is looked at (contract 12.3).

A span is never likelier than its start. So starts are looked at likeliest first, a few at a time,
and no further than one of them could still change the outcome: in a long table these are a few of
many thousands.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import torch
from torch import Tensor

from deg_model import ContextState, SpanScores
from deg_runtime.places import Candidates, Places
from deg_schema import (
    Decided,
    Extracted,
    FieldPlan,
    Missing,
    Options,
    Outcome,
    Reading,
    has_candidates,
    read_span,
    trim_span,
)

# T context tokens, S starts, W span lengths, N spans

__all__ = ["decode"]

_BEST_SPANS = 32
_FIRST_STARTS = 8
_MOST_STARTS = 64
# rounded, the probabilities of a start's ends may add up to this much more than one
_ROUNDING = 1e-3


@dataclass(frozen=True, slots=True, order=True)
class _Place:
    """A span of the context with the log-probability that the value stands there.

    Places sort the likeliest first; a draw goes to what comes first in the document.
    """

    negative: float
    start: int
    end: int

    @property
    def log_probability(self) -> float:
        return -self.negative


_Read: TypeAlias = tuple[_Place, Reading]
_Best: TypeAlias = tuple[_Read | None, _Read | None]
"""The likeliest place that holds a valid value, and the likeliest of all if it holds none."""


def decode(
    field: FieldPlan,
    scores: Tensor | SpanScores,
    context: str,
    state: ContextState,
    options: Options,
    *,
    places: Places | None = None,
) -> Outcome:
    """Return the outcome of a decide or extract *field*; a draw goes to what comes first.

    Args:
        field: The field.
        scores: What its head says.
        context: The document.
        state: The document as it was read.
        options: Of the request.
        places: What is known of the document, where other fields are decoded too.
    """
    if isinstance(scores, Tensor):
        return Decided(tuple(scores.tolist()))
    least = scores.log_null + (options.null_margin or 0.0)
    if field.on_null == "forbid":
        # it takes its best span, however much likelier null is
        least = -math.inf
    if has_candidates(field):
        places = places or Places(context, state.encoded)
        valid, refused = _best_candidate(field, scores, places, options, least)
    else:
        valid, refused = _best_words(field, scores, context, state, options, least)
    if valid is not None:
        return _extracted(*valid)
    if refused is not None:
        return _missing(*refused)
    return Missing("not_found", math.exp(scores.log_null))


def _extracted(place: _Place, reading: Reading) -> Extracted:
    return Extracted(
        value=reading.value,
        span=(place.start, place.end),
        confidence=math.exp(place.log_probability),
        assumed_offset=reading.assumed_offset,
    )


def _missing(place: _Place, reading: Reading) -> Missing:
    assert reading.reason is not None
    return Missing(reading.reason, math.exp(place.log_probability), reading.detail)


def _best_candidate(
    field: FieldPlan, scores: SpanScores, places: Places, options: Options, least: float
) -> _Best:
    """Return the likeliest span that the field's grammar finds and that holds a valid value."""
    readings = places.readings(field, options)
    candidates = readings.candidates
    log_start_S = scores.log_start[candidates.starts_S]
    likely_S = log_start_S >= least - _ROUNDING
    # a copy: to read a span may end the hope
    hopeful_S = readings.hopeful_S.clone()
    hopeful = _ranked(candidates, likely_S & hopeful_S, log_start_S, scores)
    valid, refused = _first_valid(hopeful, readings.read, least)
    if valid is None:
        hopeless = _ranked(candidates, likely_S & ~hopeful_S, log_start_S, scores)
        _, other = _first_valid(islice(hopeless, 1), readings.read, least)
        refused = min(filter(None, (refused, other)), key=_place_of, default=None)
    return valid, refused


def _best_words(
    field: FieldPlan,
    scores: SpanScores,
    context: str,
    state: ContextState,
    options: Options,
    least: float,
) -> _Best:
    """Return the likeliest of the best spans of words that holds a valid value."""

    def read(start: int, end: int) -> Reading:
        return read_span(field, context[start:end], options)

    return _first_valid(_words(scores, context, state, least), read, least)


def _first_valid(
    places: Iterable[_Place], read: Callable[[int, int], Reading], least: float
) -> _Best:
    """Return the first place that holds a valid value, and the first of all if it holds none.

    Neither is less likely than *least*.
    """
    refused = None
    for place in places:
        if place.log_probability < least:
            break
        reading = read(place.start, place.end)
        if reading.reason is None:
            return (place, reading), refused
        refused = refused or (place, reading)
    return None, refused


def _ranked(
    candidates: Candidates, among_S: Tensor, log_start_S: Tensor, scores: SpanScores
) -> Iterator[_Place]:
    """Yield the candidates from some of the starts, likeliest first."""
    among = among_S.nonzero()[:, 0]
    waiting: list[_Place] = []
    for some, most_left in _likeliest_first(log_start_S[among]):
        for place in _places_from(among[some].tolist(), candidates, scores):
            heapq.heappush(waiting, place)
        while waiting and (most_left is None or waiting[0].log_probability > most_left):
            yield heapq.heappop(waiting)


def _places_from(
    rows: Sequence[int], candidates: Candidates, scores: SpanScores
) -> Iterator[_Place]:
    joint_SW = _joint(scores, [candidates.starts[row] for row in rows])
    for row, joint_W in zip(rows, joint_SW.tolist(), strict=True):
        for start, end, more_tokens in candidates.groups[row]:
            # the heads do not know a span of more tokens
            is_known = more_tokens < len(joint_W)
            yield _Place(-joint_W[more_tokens] if is_known else math.inf, start, end)


def _words(scores: SpanScores, context: str, state: ContextState, least: float) -> Iterator[_Place]:
    """Yield the likeliest spans of tokens as trimmed words, likeliest first.

    Those less likely than *least* may be left out.
    """
    log_start_T = scores.log_start
    starts_S = torch.tensor(sorted(_top(log_start_T)), dtype=torch.long)
    starts_S = starts_S[log_start_T[starts_S] >= least - _ROUNDING]
    best: list[tuple[float, int, int]] = []
    num_told = 0
    for some, most_left in _likeliest_first(log_start_T[starts_S]):
        best = sorted(best + _spans_from(sorted(starts_S[some].tolist()), scores))[:_BEST_SPANS]
        least_told = -math.inf if most_left is None else most_left
        while num_told < len(best) and -best[num_told][0] > least_told:
            negative, first, more_tokens = best[num_told]
            num_told += 1
            start, end = trim_span(context, *state.encoded.span(first, first + more_tokens))
            if start < end:
                yield _Place(negative, start, end)


def _spans_from(starts: Sequence[int], scores: SpanScores) -> list[tuple[float, int, int]]:
    """Return the likeliest spans from some tokens: what sorts them, first token, more tokens."""
    joint_N = _joint(scores, starts).flatten()
    width = len(joint_N) // len(starts)
    best = _top(joint_N)
    return [
        (-log_probability, starts[index // width], index % width)
        for index, log_probability in zip(best, joint_N[best].tolist(), strict=True)
    ]


def _likeliest_first(log_start_S: Tensor) -> Iterator[tuple[Tensor, float | None]]:
    """Yield some starts at a time, likeliest first, and how likely a span from those left can be.

    It is `None` where none are left.
    """
    order_S = log_start_S.argsort(descending=True)
    size = _FIRST_STARTS
    while len(order_S):
        some, order_S = order_S[:size], order_S[size:]
        yield some, float(log_start_S[order_S[0]]) + _ROUNDING if len(order_S) else None
        size = min(2 * size, _MOST_STARTS)


def _joint(scores: SpanScores, starts: Sequence[int]) -> Tensor:
    """Return the log-probabilities [S, W] of the spans of 1 to W tokens from each start."""
    return scores.log_start[starts][:, None] + scores.log_end(starts)


def _place_of(read: _Read) -> _Place:
    return read[0]


def _top(scores_N: Tensor) -> list[int]:
    """Return where the best of *scores* stand, best first and of equals the first."""
    among = torch.arange(len(scores_N))
    if len(scores_N) > _BEST_SPANS:
        # `topk` tells how good they are, not which of equals come first
        among = among[scores_N >= scores_N.topk(_BEST_SPANS).values[-1]]
    order = scores_N[among].argsort(descending=True, stable=True)[:_BEST_SPANS]
    best: list[int] = among[order].tolist()
    return best
