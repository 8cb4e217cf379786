"""What a fill answers: the value, and how each field of it came about."""

from __future__ import annotations

from typing import Any, Generic, TypeAlias, TypeVar

import msgspec

from deg_client.sendable import escape_token

__all__ = ["Event", "FieldDone", "FieldMeta", "Filled", "TextPiece", "Usage"]

Model = TypeVar("Model")


class FieldMeta(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True
):
    """How one value came about; what its mode does not say is `None`.

    Attributes:
        mode: `decide.choice`, `extract.span`, `generate`, `array` and so on.
        probability: Of the value that was decided; of `True`, where the value is a boolean.
        probabilities: Of every option or level, in the order of the schema.
        expected: The mean of the levels of a scale.
        span: Where the value stands in the context, `[start, end)` in code points.
        null_reason: Why there is no value: `not_found`, `unparsable` or a keyword.
        null_detail: The same more exactly, such as `ambiguous_date`.
        assumed_offset: Whether the offset of a time is the one of the options.
        items: How many items an array has.
        dropped: How many items were dropped for a required value that was not there.
        limit: What ended an array where there may be more items, such as `maxItems`.
    """

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
    dropped: int = 0
    limit: str | None = None
    generated_tokens: int | None = None


class Usage(msgspec.Struct, frozen=True):
    """How many tokens were read and written, and how many the server had read before."""

    prompt_tokens: int
    generated_tokens: int
    cached_tokens: int = 0


class Filled(msgspec.Struct, Generic[Model], frozen=True):
    """A filled schema.

    Attributes:
        value: What the schema asked for: an instance of the type that was given, or a `dict`.
        meta: One entry per field and array, by its JSON Pointer, such as `/lines/0/price`.
        plan: The fingerprint of the schema as the server compiled it.
        request_id: The id of the request, as the server logs it.
    """

    model: str
    value: Model
    meta: dict[str, FieldMeta]
    usage: Usage
    plan: str
    request_id: str | None = None

    def at(self, *path: str | int) -> FieldMeta:
        """Return the meta of one field, such as that of `at("lines", 0, "price")`.

        Raises:
            KeyError: The value has no field there.
        """
        return self.meta["".join(f"/{escape_token(str(name))}" for name in path)]


class FieldDone(msgspec.Struct, frozen=True):
    """A field or an array whose outcome stands; an array has no `value` of its own."""

    pointer: str
    meta: FieldMeta
    # a scalar, as the schema says
    value: Any = msgspec.UNSET


class TextPiece(msgspec.Struct, frozen=True):
    """The next piece of the text that is written at `pointer`."""

    pointer: str
    text: str


Event: TypeAlias = FieldDone | TextPiece | Filled[Model]
