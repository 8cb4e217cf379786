"""From a field's own scores to its outcome: nothing else is looked at (contract 12.3)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from deg_model import ContextState, SpanScores
from deg_schema import (
    Decided,
    Extracted,
    FieldPlan,
    Missing,
    Options,
    Outcome,
    Reading,
    find_candidates,
    has_candidates,
    read_span,
    trim_span,
)

# T context tokens, S starts, W span lengths, C candidates

__all__ = ["decode"]

_BEST_SPANS = 32


@dataclass(frozen=True, slots=True)
class _Place:
    """A span of the context with the log-probability that the value stands there."""

    log_probability: float
    start: int
    end: int


def decode(
    field: FieldPlan,
    scores: Tensor | SpanScores,
    context: str,
    state: ContextState,
    options: Options,
) -> Outcome:
    """Return the outcome of a decide or extract *field*; a draw goes to what comes first."""
    if isinstance(scores, Tensor):
        return Decided(tuple(scores.tolist()))
    find = _candidates if has_candidates(field) else _best_spans
    valid, refused = _first_valid(field, find(field, scores, context, state), context, options)
    least = scores.log_null + (options.null_margin or 0.0)
    if field.on_null == "forbid":
        # it takes its best span, however much likelier null is
        least = -math.inf
    if valid is not None and valid[0].log_probability >= least:
        return _extracted(*valid)
    if refused is not None and refused[0].log_probability >= least:
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


def _first_valid(
    field: FieldPlan, places: Iterable[_Place], context: str, options: Options
) -> tuple[tuple[_Place, Reading] | None, tuple[_Place, Reading] | None]:
    """Return the likeliest place that holds a valid value, and the likeliest before it."""
    refused = None
    for place in places:
        reading = read_span(field, context[place.start : place.end], options)
        if reading.reason is None:
            return (place, reading), refused
        refused = refused or (place, reading)
    return None, refused


def _candidates(
    field: FieldPlan, scores: SpanScores, context: str, state: ContextState
) -> list[_Place]:
    """Return every span that the field's grammar finds, likeliest first."""
    found = find_candidates(field, context)
    if not found:
        return []
    tokens = [state.encoded.cover(start, end) for start, end in found]
    starts = sorted({first for first, _ in tokens})
    row_of = {first: row for row, first in enumerate(starts)}
    joint_SW = _joint(scores, starts)
    rows_C = torch.tensor([row_of[first] for first, _ in tokens])
    lengths_C = torch.tensor([last - first for first, last in tokens])
    width = joint_SW.shape[1]
    joint_C = joint_SW[rows_C, lengths_C.clamp(max=width - 1)]
    joint_C = joint_C.masked_fill(lengths_C >= width, -math.inf)
    places = [
        _Place(log_probability, start, end)
        for log_probability, (start, end) in zip(joint_C.tolist(), found, strict=True)
    ]
    return sorted(places, key=lambda place: (-place.log_probability, place.start, place.end))


def _best_spans(
    _field: FieldPlan, scores: SpanScores, context: str, state: ContextState
) -> list[_Place]:
    """Return the likeliest spans of tokens as trimmed words, likeliest first."""
    starts = sorted(_top(scores.log_start))
    joint_SW = _joint(scores, starts)
    places = []
    for index in _top(joint_SW.flatten()):
        row, length = divmod(index, joint_SW.shape[1])
        log_probability = float(joint_SW[row, length])
        if log_probability == -math.inf:
            break
        words = state.encoded.span(starts[row], starts[row] + length)
        start, end = trim_span(context, *words)
        if start < end:
            places.append(_Place(log_probability, start, end))
    return places


def _joint(scores: SpanScores, starts: list[int]) -> Tensor:
    """Return the log-probabilities [S, W] of the spans of 1 to W tokens from each start."""
    return scores.log_start[starts][:, None] + scores.log_end(starts)


def _top(scores: Tensor) -> list[int]:
    # unlike topk, a stable sort says which of equals comes first
    order: list[int] = scores.argsort(descending=True, stable=True)[:_BEST_SPANS].tolist()
    return order
