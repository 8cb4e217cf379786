"""What a measure is: a mean with its count, or an agreement by precision and recall."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Agreement", "Measure", "mean"]


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


def mean(values: Iterable[float]) -> Measure:
    """Return the mean of *values* with their number."""
    listed = list(values)
    return Measure(_ratio(sum(listed), len(listed)), len(listed))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
