"""Every measure of responses against gold records, and every mistake, ready for a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from deg_train.answered_fields import Pair, answered_fields
from deg_train.decide_metrics import (
    choice_accuracy,
    decide_calibration,
    noul_accuracy,
    noul_f1,
    option_flips,
    score_error,
)
from deg_train.extract_metrics import (
    date_exact,
    exact_spans,
    extract_calibration,
    null_agreement,
    number_exact,
    span_agreement,
    token_f1,
)
from deg_train.item_metrics import aligned_values, count_exact, positional_values
from deg_train.measures import Agreement, Measure
from deg_train.reliability import Calibration

__all__ = ["measure_all", "mistakes"]

_MEASURES: dict[str, Callable[[Sequence[Pair]], Measure | Agreement | Calibration]] = {
    "exact_spans": exact_spans,
    "token_f1": token_f1,
    "span_agreement": span_agreement,
    "null_agreement": null_agreement,
    "number_exact": number_exact,
    "date_exact": date_exact,
    "choice_accuracy": choice_accuracy,
    "noul_accuracy": noul_accuracy,
    "noul_f1": noul_f1,
    "score_error": score_error,
    "score_error_labelled": partial(score_error, labelled=True),
    "score_error_bare": partial(score_error, labelled=False),
    "option_flips": option_flips,
    "count_exact": count_exact,
    "aligned_values": aligned_values,
    "positional_values": positional_values,
    "decide_calibration": decide_calibration,
    "extract_calibration": extract_calibration,
}


def measure_all(pairs: Sequence[Pair]) -> dict[str, dict[str, float]]:
    """Take every measure that has something to measure, ready to be written as JSON."""
    results: dict[str, dict[str, float]] = {}
    for name, take in _MEASURES.items():
        result = take(pairs)
        if result.count == 0:
            continue
        results[name] = asdict(result)
        if isinstance(result, Agreement):
            scores = {"precision": result.precision, "recall": result.recall, "f1": result.f1}
            results[name] |= {key: score for key, score in scores.items() if score == score}
    return results


def mistakes(pairs: Iterable[Pair]) -> Iterator[dict[str, Any]]:
    """Yield every field that was answered wrongly, ready to be written as JSON."""
    for field in answered_fields(pairs):
        if not field.is_right and (field.mode.startswith("extract.") or field.has_gold):
            yield {
                "context": field.record.context,
                "pointer": field.pointer,
                "gold": field.gold,
                "answer": field.answer,
                "meta": dict(field.meta),
            }
