"""The answers of `POST /v1/systemone`, typed."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

__all__ = ["Answer", "Choice", "Extract", "Generate", "Noul", "Score", "SystemOne", "Usage"]


class Noul(msgspec.Struct, frozen=True, tag="noul"):
    """How likely the answer is yes."""

    noul: float


class Choice(msgspec.Struct, frozen=True, tag="choice"):
    """The likeliest option."""

    choice: str
    confidence: float
    probabilities: dict[str, float]


class Score(msgspec.Struct, frozen=True, tag="score"):
    """The expected level of a scale; `legend` holds the levels as they were asked."""

    score: float
    confidence: float
    # a level may be described by any JSON
    legend: dict[str, Any]
    probabilities: dict[str, float]


class Extract(msgspec.Struct, frozen=True, tag="extract", kw_only=True):
    """A value copied from the state; `null_reason` says why there is none."""

    value: str | int | float | None
    span: tuple[int, int] | None = None
    confidence: float
    null_reason: str | None = None


class Generate(msgspec.Struct, frozen=True, tag="generate"):
    """A text that was written."""

    text: str
    output_tokens: int


Answer: TypeAlias = Noul | Choice | Score | Extract | Generate


class Usage(msgspec.Struct, frozen=True):
    """How many tokens were read and written."""

    input_tokens: int
    output_tokens: int


class SystemOne(msgspec.Struct, frozen=True):
    """One answer per question, by the id of the question."""

    model: str
    answers: dict[str, Answer]
    usage: Usage
    request_id: str | None = None
