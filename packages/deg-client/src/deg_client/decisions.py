"""The answers of `POST /v1/decisions`, typed."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

__all__ = [
    "Answer",
    "Choice",
    "Decisions",
    "Extract",
    "Generate",
    "InputTokens",
    "Level",
    "Option",
    "Predicate",
    "Refusal",
    "Score",
    "Usage",
]


class Predicate(msgspec.Struct, frozen=True, tag="predicate"):
    """How likely the instructions hold."""

    probability: float
    name: str | None = None


class Option(msgspec.Struct, frozen=True):
    """One value of a choice, and how likely it is."""

    value: str | bool
    probability: float


class Choice(msgspec.Struct, frozen=True, tag="choice"):
    """The likeliest value of a choice."""

    choice: str | bool
    confidence: float
    probabilities: tuple[Option, ...]
    name: str | None = None


class Level(msgspec.Struct, frozen=True):
    """One level of a scale, counted from 0, and how likely it is."""

    value: int
    label: str
    probability: float


class Score(msgspec.Struct, frozen=True, tag="score"):
    """The expected level of a scale."""

    score: float
    confidence: float
    probabilities: tuple[Level, ...]
    name: str | None = None


class Extract(msgspec.Struct, frozen=True, tag="extract", kw_only=True):
    """A value copied from the input; `null_reason` says why there is none."""

    name: str | None = None
    value: str | int | float | None
    span: tuple[int, int] | None = None
    confidence: float
    null_reason: str | None = None


class Generate(msgspec.Struct, frozen=True, tag="generate", kw_only=True):
    """A text that was written."""

    name: str | None = None
    text: str
    output_tokens: int


class Refusal(msgspec.Struct, frozen=True, tag="refusal"):
    """No answer to this question; deg itself never gives one."""

    name: str | None = None


Answer: TypeAlias = Predicate | Choice | Score | Extract | Generate | Refusal


class InputTokens(msgspec.Struct, frozen=True):
    """How many tokens of the input the server had read before."""

    cached_tokens: int = 0
    cache_write_tokens: int = 0


class Usage(msgspec.Struct, frozen=True):
    """How many tokens were read and written."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    input_tokens_details: InputTokens = InputTokens()


class Decisions(msgspec.Struct, frozen=True):
    """One answer per question, in their order."""

    model: str
    answers: tuple[Answer, ...]
    usage: Usage
    request_id: str | None = None
