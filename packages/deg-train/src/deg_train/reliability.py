"""Whether probabilities come true: answers in bins of confidence, which add up over suites."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Bins", "Calibration", "expected_calibration_error"]

_NUM_BINS = 15


@dataclass(frozen=True, slots=True)
class Calibration:
    """The expected calibration error, beside the accuracy and mean confidence behind it."""

    error: float
    accuracy: float
    confidence: float
    count: int


@dataclass(frozen=True, slots=True)
class Bins:
    """Judged answers in bins of equal width: how many, their confidence in all, how many right."""

    counts: tuple[int, ...]
    confidences: tuple[float, ...]
    rights: tuple[int, ...]

    @classmethod
    def of(cls, judged: Iterable[tuple[float, bool]], *, num_bins: int = _NUM_BINS) -> Bins:
        """Sort answers, each a confidence and whether it is right, into bins."""
        bins: list[list[tuple[float, bool]]] = [[] for _ in range(num_bins)]
        for confidence, right in judged:
            place = min(num_bins - 1, max(0, int(confidence * num_bins)))
            bins[place].append((confidence, right))
        return cls(
            counts=tuple(len(each) for each in bins),
            confidences=tuple(math.fsum(confidence for confidence, _ in each) for each in bins),
            rights=tuple(sum(right for _, right in each) for each in bins),
        )

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Bins:
        """Read bins from the lists that `dataclasses.asdict` makes of them."""
        return cls(tuple(row["counts"]), tuple(row["confidences"]), tuple(row["rights"]))

    def __add__(self, other: Bins) -> Bins:
        """Return the bins of both sets of answers together."""
        return Bins(
            tuple(map(sum, zip(self.counts, other.counts, strict=True))),
            tuple(map(sum, zip(self.confidences, other.confidences, strict=True))),
            tuple(map(sum, zip(self.rights, other.rights, strict=True))),
        )

    @property
    def calibration(self) -> Calibration:
        """The gap between confidence and accuracy, weighted by the counts of the bins."""
        count = sum(self.counts)
        if not count:
            return Calibration(math.nan, math.nan, math.nan, 0)
        # each bin's gap times its share of all is the difference of the two sums over all
        pairs = zip(self.confidences, self.rights, strict=True)
        return Calibration(
            error=math.fsum(abs(confidence - right) for confidence, right in pairs) / count,
            accuracy=sum(self.rights) / count,
            confidence=math.fsum(self.confidences) / count,
            count=count,
        )


def expected_calibration_error(
    judged: Iterable[tuple[float, bool]], *, num_bins: int = _NUM_BINS
) -> Calibration:
    """Compare confidence with accuracy in bins of equal width, weighted by their counts."""
    return Bins.of(judged, num_bins=num_bins).calibration
