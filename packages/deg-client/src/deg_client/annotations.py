"""Words for `Annotated`: what the contract asks of a field and a Python type cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

__all__ = ["Bounds", "Choices", "Description", "Email", "Generate", "Levels", "Title", "Uri"]

Email = Annotated[str, Meta(extra_json_schema={"format": "email"})]
"""A mail address, copied as it stands."""

Uri = Annotated[str, Meta(extra_json_schema={"format": "uri"})]
"""A web address, copied as it stands."""


def Title(text: str) -> Meta:
    """Name the field, in the words that the model reads."""
    return Meta(title=text)


def Description(text: str) -> Meta:
    """Tell the model what the field asks for."""
    return Meta(description=text)


def Generate(*, max_tokens: int | None = None) -> Meta:
    """Have a text written, where it would be copied; on a list, each of its texts."""
    budget = {} if max_tokens is None else {"x-max-tokens": max_tokens}
    return Meta(extra_json_schema={"x-generate": True, **budget})


def Levels(labels: Mapping[int, str]) -> Meta:
    """Make a scale of an `int`, from the least level to the greatest, with words for some."""
    if not labels:
        raise ValueError("a scale without levels has nothing to ask; name at least two")
    named = {str(level): label for level, label in labels.items()}
    return Meta(ge=min(labels), le=max(labels), extra_json_schema={"x-levels": named})


def Choices(descriptions: Mapping[str | int, str | None]) -> Meta:
    """Describe the options of an `Enum` or a `Literal`, by their values, in their order."""
    branches = [
        {"const": value} if text is None else {"const": value, "description": text}
        for value, text in descriptions.items()
    ]
    return Meta(extra_json_schema={"oneOf": branches})


def Bounds(
    *,
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    lt: float | None = None,
    multiple_of: float | None = None,
) -> Meta:
    """Bound a `Decimal`, which `msgspec.Meta` does not; bound other numbers by `Meta`."""
    bounds = {
        "minimum": ge,
        "exclusiveMinimum": gt,
        "maximum": le,
        "exclusiveMaximum": lt,
        "multipleOf": multiple_of,
    }
    return Meta(extra_json_schema={name: at for name, at in bounds.items() if at is not None})
