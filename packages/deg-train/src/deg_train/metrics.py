"""How good responses are against gold records: one pure function per measure, each with counts."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from deg_train import item_metrics
from deg_train.generate.option_order import is_reordered
from deg_train.records import Record, lookup
from deg_train.reliability import Calibration, expected_calibration_error

__all__ = [
    "Agreement",
    "AnsweredField",
    "Measure",
    "Pair",
    "aligned_values",
    "choice_accuracy",
    "count_exact",
    "date_exact",
    "decide_calibration",
    "decide_judged",
    "exact_spans",
    "extract_calibration",
    "extract_fields",
    "extract_judged",
    "measure_all",
    "mistakes",
    "noul_accuracy",
    "noul_f1",
    "null_agreement",
    "number_exact",
    "option_flips",
    "positional_values",
    "score_error",
    "span_agreement",
    "token_f1",
]

Pair = tuple[Record, Mapping[str, Any]]
"""A gold record and the response to its context and schema, as contract section 8 shapes it."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A mean over `count` fields; not a number where there are none."""

    value: float
    count: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """How a set of answers agrees with the gold one, by precision and recall."""

    num_correct: int
    num_predicted: int
    num_gold: int
    count: int

    @property
    def precision(self) -> float:
        """The share of the predicted ones that are right."""
        return _ratio(self.num_correct, self.num_predicted)

    @property
    def recall(self) -> float:
        """The share of the gold ones that were found."""
        return _ratio(self.num_correct, self.num_gold)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return _ratio(2 * self.num_correct, self.num_predicted + self.num_gold)


@dataclass(frozen=True, slots=True)
class AnsweredField:
    """One field of one record: what was asked, what is right, what was answered, and how."""

    record: Record
    pointer: str
    mode: str
    gold: Any
    answer: Any
    meta: Mapping[str, Any]

    @property
    def gold_spans(self) -> tuple[tuple[int, int], ...]:
        """Every place of the value."""
        return self.record.spans.get(self.pointer, ())

    @property
    def is_exact(self) -> bool:
        """Whether a present value was answered with its value, or from one of its places."""
        if self.gold is None or self.answer is None:
            return False
        if _same(self.gold, self.answer):
            return True
        span = self.meta.get("span")
        if span is not None and tuple(span) in self.gold_spans:
            return True
        # only a copied text may equal another wording of itself: a number's text is not its value
        texts = {self.record.context[start:end] for start, end in self.gold_spans}
        return self.mode == "extract.span" and self.answer in texts

    @property
    def is_right(self) -> bool:
        """Whether the answer is the gold one, null where it is null."""
        if self.mode.startswith("decide."):
            return _same(self.gold, self.answer)
        return self.answer is None if self.gold is None else self.is_exact


def exact_spans(pairs: Iterable[Pair]) -> Measure:
    """Measure how many present values of all extract fields are answered exactly."""
    return _mean(field.is_exact for field in extract_fields(pairs) if field.gold is not None)


def token_f1(pairs: Iterable[Pair]) -> Measure:
    """Measure the overlap of words with the nearest gold text, over present plain strings."""
    present = (field for field in extract_fields(pairs, "extract.span") if field.gold is not None)
    return _mean(_best_overlap(field) for field in present)


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


def choice_accuracy(pairs: Iterable[Pair]) -> Measure:
    """Measure how many choices are right; null counts as an option like any other."""
    choices = _decides(pairs, "decide.choice")
    return _mean(_same(field.gold, field.answer) for field in choices)


def noul_accuracy(pairs: Iterable[Pair]) -> Measure:
    """Measure how many yes-no answers are right."""
    return _mean(field.gold == field.answer for field in _decides(pairs, "decide.noul"))


def noul_f1(pairs: Iterable[Pair]) -> Agreement:
    """Measure the yes among yes-no answers by precision and recall, over all fields together."""
    fields = list(_decides(pairs, "decide.noul"))
    return Agreement(
        num_correct=sum(field.gold is True and field.answer is True for field in fields),
        num_predicted=sum(field.answer is True for field in fields),
        num_gold=sum(field.gold is True for field in fields),
        count=len(fields),
    )


def score_error(pairs: Iterable[Pair], *, labelled: bool | None = None) -> Measure:
    """Measure the mean distance between gold and answered level, where both are levels.

    Args:
        pairs: Gold records with their responses.
        labelled: Only scales that have words for levels, or only those without; all by default.
    """
    scores = _decides(pairs, "decide.score")
    return _mean(
        abs(field.gold - field.answer)
        for field in scores
        if field.gold is not None
        and field.answer is not None
        and labelled in (None, _has_labels(field))
    )


def option_flips(pairs: Iterable[Pair]) -> Measure:
    """Measure how many choices change when the same options stand in another order.

    A record and the next one are compared where they differ in nothing but that order.
    """
    listed = list(pairs)
    return _mean(
        not _same(first.answer, second.answer)
        for one, other in itertools.pairwise(listed)
        if is_reordered(one[0], other[0])
        for first, second in zip(_choices(one), _choices(other), strict=True)
    )


def count_exact(pairs: Iterable[Pair]) -> Measure:
    """Measure how many outermost arrays have as many items as the gold ones."""
    return _mean(item_metrics.count_exact(pairs))


def aligned_values(pairs: Iterable[Pair]) -> Measure:
    """Measure how many values in items are right, each item beside the one most like it."""
    return _mean(item_metrics.aligned_values(pairs))


def positional_values(pairs: Iterable[Pair]) -> Measure:
    """Measure how many values in items are right, item by item in order."""
    return _mean(item_metrics.positional_values(pairs))


def decide_calibration(pairs: Iterable[Pair], mode: str = "decide.") -> Calibration:
    """Measure whether the probability of the chosen outcome is how often it is right.

    Args:
        pairs: Gold records with their responses.
        mode: Such as `decide.noul`; every decide mode together when absent.
    """
    return expected_calibration_error(decide_judged(pairs, mode))


def extract_calibration(pairs: Iterable[Pair]) -> Calibration:
    """Measure whether extract confidences are how often the answer, null included, is right."""
    return expected_calibration_error(extract_judged(pairs))


def decide_judged(pairs: Iterable[Pair], mode: str = "decide.") -> list[tuple[float, bool]]:
    """Return the probability of each chosen outcome and whether it is right."""
    judged = []
    for field in _decides(pairs, mode):
        probability = field.meta["probability"]
        if field.mode == "decide.noul":
            probability = max(probability, 1 - probability)
        judged.append((probability, field.is_right))
    return judged


def extract_judged(pairs: Iterable[Pair]) -> list[tuple[float, bool]]:
    """Return the confidence of each extract answer, null included, and whether it is right."""
    return [(field.meta["confidence"], field.is_right) for field in extract_fields(pairs)]


def mistakes(pairs: Iterable[Pair]) -> Iterator[dict[str, Any]]:
    """Yield every field that was answered wrongly, ready to be written as JSON."""
    for field in _fields(pairs):
        if not field.is_right and (field.mode.startswith("extract.") or _is_answered(field)):
            yield {
                "context": field.record.context,
                "pointer": field.pointer,
                "gold": field.gold,
                "answer": field.answer,
                "meta": dict(field.meta),
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


def _fields(pairs: Iterable[Pair]) -> Iterator[AnsweredField]:
    for record, response in pairs:
        arrays = [pointer for pointer, meta in response["meta"].items() if meta["mode"] == "array"]
        # which item of a gold array a value belongs to is for `item_metrics` to say
        inside = tuple(f"{pointer}/" for pointer in arrays)
        for pointer, meta in response["meta"].items():
            if meta["mode"] == "array" or (inside and pointer.startswith(inside)):
                continue
            gold, answer = lookup(record.value, pointer), lookup(response["value"], pointer)
            yield AnsweredField(record, pointer, meta["mode"], gold, answer, meta)


def extract_fields(pairs: Iterable[Pair], mode: str = "extract.") -> Iterator[AnsweredField]:
    """Yield the answered extract fields outside arrays, those of a *mode* alone if it is given."""
    return (field for field in _fields(pairs) if field.mode.startswith(mode))


def _decides(pairs: Iterable[Pair], mode: str) -> Iterator[AnsweredField]:
    # a decision that the record says nothing about has no gold answer to be held against
    return (
        field for field in _fields(pairs) if field.mode.startswith(mode) and _is_answered(field)
    )


def _choices(pair: Pair) -> list[AnsweredField]:
    choices = (field for field in _fields([pair]) if field.mode == "decide.choice")
    return sorted(choices, key=lambda field: field.pointer)


def _has_labels(field: AnsweredField) -> bool:
    leaf = field.record.schema
    for token in field.pointer.split("/")[1:]:
        leaf = leaf["properties"][token.replace("~1", "/").replace("~0", "~")]
    return "x-levels" in leaf


def _value_exact(pairs: Iterable[Pair], mode: str) -> Measure:
    present = (field for field in extract_fields(pairs, mode) if field.gold is not None)
    return _mean(_same(field.gold, field.answer) for field in present)


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


def _same(gold: object, answer: object) -> bool:
    # true is not 1, though Python says so
    return isinstance(gold, bool) == isinstance(answer, bool) and gold == answer


def _is_answered(field: AnsweredField) -> bool:
    # null may be the gold option: then the key is there
    parent, _, name = field.pointer.rpartition("/")
    holder = lookup(field.record.value, parent)
    return isinstance(holder, dict) and name.replace("~1", "/").replace("~0", "~") in holder


def _mean(values: Iterable[float]) -> Measure:
    listed = list(values)
    return Measure(_ratio(sum(listed), len(listed)), len(listed))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
