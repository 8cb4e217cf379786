"""How good decisions are against gold: one pure function per measure."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from deg_schema import compile_schema
from deg_train.answered_fields import AnsweredField, Pair, answered_fields, decide_fields, is_same
from deg_train.generate.option_order import is_reordered
from deg_train.measures import Agreement, Measure, mean
from deg_train.reliability import Calibration, expected_calibration_error

__all__ = [
    "choice_accuracy",
    "decide_calibration",
    "decide_judged",
    "noul_accuracy",
    "noul_f1",
    "option_flips",
    "score_error",
]


def choice_accuracy(pairs: Iterable[Pair]) -> Measure:
    """Measure how many choices are right; null counts as an option like any other."""
    choices = decide_fields(pairs, "decide.choice")
    return mean(is_same(field.gold, field.answer) for field in choices)


def noul_accuracy(pairs: Iterable[Pair]) -> Measure:
    """Measure how many yes-no answers are right."""
    return mean(field.gold == field.answer for field in decide_fields(pairs, "decide.noul"))


def noul_f1(pairs: Iterable[Pair]) -> Agreement:
    """Measure the yes among yes-no answers by precision and recall, over all fields together."""
    fields = list(decide_fields(pairs, "decide.noul"))
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
    scores = decide_fields(pairs, "decide.score")
    return mean(
        abs(field.gold - field.answer)
        for field in scores
        if field.gold is not None
        and field.answer is not None
        and (labelled is None or labelled is _has_labels(field))
    )


def option_flips(pairs: Iterable[Pair]) -> Measure:
    """Measure how many choices change when the same options stand in another order.

    A record and the next one are compared where they differ in nothing but that order.
    """
    listed = list(pairs)
    return mean(
        not is_same(first.answer, second.answer)
        for one, other in itertools.pairwise(listed)
        if is_reordered(one[0], other[0])
        for first, second in zip(_choices(one), _choices(other), strict=True)
    )


def decide_judged(pairs: Iterable[Pair], mode: str = "decide.") -> list[tuple[float, bool]]:
    """Return the probability of each chosen outcome and whether it is right."""
    judged = []
    for field in decide_fields(pairs, mode):
        probability = field.meta["probability"]
        if field.mode == "decide.noul":
            probability = max(probability, 1 - probability)
        judged.append((probability, field.is_right))
    return judged


def decide_calibration(pairs: Iterable[Pair], mode: str = "decide.") -> Calibration:
    """Measure whether the probability of the chosen outcome is how often it is right.

    Args:
        pairs: Gold records with their responses.
        mode: Such as `decide.noul`; every decide mode together when absent.
    """
    return expected_calibration_error(decide_judged(pairs, mode))


def _choices(pair: Pair) -> list[AnsweredField]:
    choices = (field for field in answered_fields([pair]) if field.mode == "decide.choice")
    return sorted(choices, key=lambda field: field.pointer)


def _has_labels(field: AnsweredField) -> bool:
    plans = compile_schema(field.record.schema).fields
    return any(any(plan.level_labels) for plan in plans if plan.pointer == field.pointer)
