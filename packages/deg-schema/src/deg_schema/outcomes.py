"""Outcomes: what the model found for one field or array, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from deg_schema.plan import JsonScalar

__all__ = ["Decided", "Extracted", "Generated", "Items", "Missing", "Outcome", "confidence_of"]


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision, one probability an outcome.

    Args:
        probabilities: Per option; or per level, and last for null; or for true and false.
    """

    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Extracted:
    """A value read from `[start, end)` of the context."""

    value: JsonScalar
    span: tuple[int, int]
    confidence: float
    assumed_offset: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    """An extraction that gave no value: `not_found`, `unparsable` or the violated keyword."""

    reason: str
    confidence: float
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Generated:
    """A text that the model wrote."""

    text: str
    num_tokens: int


@dataclass(frozen=True, slots=True)
class Items:
    """How many items one array has, those included that lack a required value and are dropped.

    Args:
        count: The number of items.
        limit: What ended the count where there may be more: `maxItems`, the option `max_items`,
            `count_head`, whose last outcome is "this many, or more", or `places`, where more were
            counted than have a place a few tokens from the next.
    """

    count: int
    limit: str | None = None


Outcome: TypeAlias = Decided | Extracted | Missing | Generated | Items


def confidence_of(probabilities: Sequence[float]) -> float:
    """Measure how far the peak stands above an even spread: 0 for none, 1 for certainty."""
    count = len(probabilities)
    # rounding may bring an even spread a hair below 0
    return max(0.0, (count * max(probabilities) - 1) / (count - 1)) if count > 1 else 1.0
