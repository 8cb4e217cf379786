"""From a field's own scores to its outcome: nothing else is looked at (contract 12.3)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from deg_model import ContextState, SpanScores
from deg_schema import (
    Decided,
    Extracted,
    FieldPlan,
    FillError,
    Missing,
    Options,
    Outcome,
    Reading,
    find_candidates,
    has_candidates,
    read_span,
    trim_span,
)
from torch import Tensor

# T context tokens, S starts, K best spans

__all__ = ["decode"]

_BEST_SPANS = 32
_STARTS_PER_PASS = 64


@dataclass(frozen=True, slots=True)
class _Scored:
    """A place in the context with the log-probability that the value stands there."""

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
    """Return the outcome of *field*.

    Raises:
        FillError: A required field that may not be null has no valid span.
    """
    if not isinstance(scores, SpanScores):
        return Decided(tuple(scores.tolist()))
    places = (
        _candidates(field, scores, context, state)
        if has_candidates(field)
        else _best_spans(scores, context, state)
    )
    chosen, best_refused = _first_valid(field, places, context, options)
    log_null = scores.log_null
    if field.on_null == "forbid":
        if chosen is None:
            reason = best_refused[1].reason if best_refused else "not_found"
            raise FillError(
                f"the field is required and the document holds no valid value ({reason}); "
                "make it nullable to get null instead",
                field.pointer,
            )
        return _extracted(*chosen)
    margin = options.null_margin or 0.0
    if chosen is not None and chosen[0].log_probability >= log_null + margin:
        return _extracted(*chosen)
    if chosen is None and best_refused and best_refused[0].log_probability >= log_null + margin:
        place, reading = best_refused
        assert reading.reason is not None
        return Missing(reading.reason, math.exp(place.log_probability), reading.detail)
    return Missing("not_found", math.exp(log_null))


def _extracted(place: _Scored, reading: Reading) -> Extracted:
    return Extracted(
        value=reading.value,
        span=(place.start, place.end),
        confidence=math.exp(place.log_probability),
        assumed_offset=reading.assumed_offset,
    )


def _first_valid(
    field: FieldPlan, places: Iterator[_Scored] | list[_Scored], context: str, options: Options
) -> tuple[tuple[_Scored, Reading] | None, tuple[_Scored, Reading] | None]:
    """Return the likeliest place that reads as a valid value, and the likeliest that does not."""
    refused = None
    for place in places:
        reading = read_span(field, context[place.start : place.end], options)
        if reading.reason is None:
            return (place, reading), refused
        refused = refused or (place, reading)
    return None, refused


def _candidates(
    field: FieldPlan, scores: SpanScores, context: str, state: ContextState
) -> list[_Scored]:
    """Score every span that the field's grammar finds, likeliest first."""
    found = find_candidates(field, context)
    if not found:
        return []
    tokens = [state.encoded.cover(start, end) for start, end in found]
    log_end = _log_end_of(scores, tokens)
    scored = [
        _Scored(float(scores.log_start[first]) + log_end[first, last], start, end)
        for (start, end), (first, last) in zip(found, tokens, strict=True)
    ]
    return sorted(scored, key=lambda place: (-place.log_probability, place.start, place.end))


def _log_end_of(
    scores: SpanScores, tokens: list[tuple[int, int]]
) -> dict[tuple[int, int], float]:
    ends: dict[int, set[int]] = {}
    for first, last in tokens:
        ends.setdefault(first, set()).add(last)
    starts = sorted(ends)
    found = {}
    for begin in range(0, len(starts), _STARTS_PER_PASS):
        some = starts[begin : begin + _STARTS_PER_PASS]
        for start, log_end_T in zip(some, scores.log_end(some), strict=True):
            for last in ends[start]:
                found[start, last] = float(log_end_T[last])
    return found


def _best_spans(scores: SpanScores, context: str, state: ContextState) -> list[_Scored]:
    """Return the likeliest spans of text, trimmed, likeliest first."""
    num_tokens = len(scores.log_start)
    if num_tokens == 0:
        return []
    top = scores.log_start.topk(min(_BEST_SPANS, num_tokens))
    log_end_ST = scores.log_end(top.indices.tolist())
    joint_ST = top.values[:, None] + log_end_ST
    best = joint_ST.flatten().topk(min(_BEST_SPANS, joint_ST.numel()))
    spans = []
    for log_probability, place in zip(best.values.tolist(), best.indices.tolist(), strict=True):
        if log_probability == -torch.inf:
            break
        row, last = divmod(place, num_tokens)
        start, end = trim_span(context, *state.encoded.span(int(top.indices[row]), last))
        if start < end:
            spans.append(_Scored(log_probability, start, end))
    return spans
