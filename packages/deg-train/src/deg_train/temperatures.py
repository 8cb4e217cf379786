"""A head's temperature: what its logits are divided by so that its probabilities come true."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from deg_train.reliability import expected_calibration_error

__all__ = ["Scored", "TemperatureFit", "fit_temperature", "minimise"]

_LIMIT = math.log(10.0)
_NUM_COARSE = 25
_TOLERANCE = 1e-4


class Scored(Protocol):
    """Questions with their logits and right answers."""

    def losses(self, temperature: float = 1.0) -> Tensor:
        """Return the negative log-likelihood of each right answer."""
        ...

    def judged(self, temperature: float = 1.0) -> list[tuple[float, bool]]:
        """Return the probability of each likeliest answer and whether it is right."""
        ...


@dataclass(frozen=True, slots=True)
class TemperatureFit:
    """A fitted temperature, with what it changed on the questions that it was fit on.

    Attributes:
        temperature: What to divide logits by.
        count: The number of questions.
        loss: The mean negative log-likelihood, before and after.
        error: The expected calibration error, before and after.
    """

    temperature: float
    count: int
    loss: tuple[float, float]
    error: tuple[float, float]


def fit_temperature(scored: Sequence[Scored], old: float = 1.0) -> TemperatureFit:
    """Fit the temperature, between a tenth and ten, that makes the right answers likeliest.

    Args:
        scored: At least one question.
        old: The temperature to compare with.
    """
    count = sum(len(each.losses()) for each in scored)

    def loss(temperature: float) -> float:
        return sum(float(each.losses(temperature).sum()) for each in scored) / count

    def error(temperature: float) -> float:
        judged = [pair for each in scored for pair in each.judged(temperature)]
        return expected_calibration_error(judged).error

    best = math.exp(minimise(lambda x: loss(math.exp(x)), -_LIMIT, _LIMIT))
    return TemperatureFit(best, count, (loss(old), loss(best)), (error(old), error(best)))


def minimise(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where *function* is least: the best of a grid, refined by golden section."""
    step = (high - low) / (_NUM_COARSE - 1)
    best = min((low + number * step for number in range(_NUM_COARSE)), key=function)
    low, high = max(low, best - step), min(high, best + step)
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    while high - low > _TOLERANCE:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return (low + high) / 2
