"""How good extracted values are against gold: one pure function per measure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from deg_train.answered_fields import AnsweredField, Pair, extract_fields, is_same
from deg_train.measures import Agreement, Measure, mean
from deg_train.reliability import Calibration, expected_calibration_error

__all__ = [
    "date_exact",
    "exact_spans",
    "extract_calibration",
    "extract_judged",
    "null_agreement",
    "number_exact",
    "span_agreement",
    "token_f1",
]


def exact_spans(pairs: Iterable[Pair]) -> Measure:
    """Measure how many present values of all extract fields are answered exactly."""
    return mean(field.is_exact for field in extract_fields(pairs) if field.gold is not None)


def token_f1(pairs: Iterable[Pair]) -> Measure:
    """Measure the overlap of words with the nearest gold text, over present plain strings."""
    present = (field for field in extract_fields(pairs, "extract.span") if field.gold is not None)
    return mean(_best_overlap(field) for field in present)


def span_agreement(pairs: Iterable[Pair]) -> Agreement:
    """Measure exact spans by precision and recall over slots, as Restaurant8k is scored."""
    fields = list(extract_fields(pairs))
    return Agreement(
        num_correct=sum(field.is_exact for field in fields),
        num_predicted=sum(field.answer is not None for field in fields),
        num_gold=sum(field.gold is not None for field in fields),
        count=len(fields),
    )


def null_agreement(pairs: Iterable[Pair]) -> Agreement:
    """Measure how well absent values of extract fields are told from present ones."""
    fields = list(extract_fields(pairs))
    return Agreement(
        num_correct=sum(field.gold is None and field.answer is None for field in fields),
        num_predicted=sum(field.answer is None for field in fields),
        num_gold=sum(field.gold is None for field in fields),
        count=len(fields),
    )


def number_exact(pairs: Iterable[Pair]) -> Measure:
    """Measure how many present numbers are answered with their value."""
    return _value_exact(pairs, "extract.number")


def date_exact(pairs: Iterable[Pair]) -> Measure:
    """Measure how many present dates and date-times are answered with their value."""
    return _value_exact(pairs, "extract.date")


def extract_judged(pairs: Iterable[Pair]) -> list[tuple[float, bool]]:
    """Return the confidence of each extract answer, null included, and whether it is right."""
    return [(field.meta["confidence"], field.is_right) for field in extract_fields(pairs)]


def extract_calibration(pairs: Iterable[Pair]) -> Calibration:
    """Measure whether extract confidences are how often the answer, null included, is right."""
    return expected_calibration_error(extract_judged(pairs))


def _value_exact(pairs: Iterable[Pair], mode: str) -> Measure:
    present = (field for field in extract_fields(pairs, mode) if field.gold is not None)
    return mean(is_same(field.gold, field.answer) for field in present)


def _best_overlap(field: AnsweredField) -> float:
    if field.answer is None:
        return 0.0
    texts = {field.record.context[start:end] for start, end in field.gold_spans} | {field.gold}
    return max(_overlap(_words(text), _words(field.answer)) for text in texts)


def _overlap(gold: Counter[str], answer: Counter[str]) -> float:
    if not gold or not answer:
        return float(gold == answer)
    return 2 * (gold & answer).total() / (gold.total() + answer.total())


def _words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))
