"""What a server answers, typed."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["FieldMeta", "Response", "Usage"]


class FieldMeta(msgspec.Struct, frozen=True, kw_only=True):
    """How one value came about; what its mode does not say is `None`."""

    mode: str
    probability: float | None = None
    confidence: float | None = None
    probabilities: tuple[float, ...] | None = None
    expected: float | None = None
    span: tuple[int, int] | None = None
    null_reason: str | None = None
    null_detail: str | None = None
    assumed_offset: bool = False
    items: int | None = None
    generated_tokens: int | None = None


class Usage(msgspec.Struct, frozen=True):
    """How many tokens were read and written."""

    prompt_tokens: int
    generated_tokens: int


class Response(msgspec.Struct, frozen=True):
    """A filled schema: `value` is valid against it, `meta` has one entry per JSON Pointer."""

    model: str
    # the schema decides what is in it
    value: dict[str, Any]
    meta: dict[str, FieldMeta]
    usage: Usage
    plan: str
