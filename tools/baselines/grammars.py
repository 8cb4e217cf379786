"""A schema as a grammar compiler takes it: no extra properties, and no keyword that it refuses."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["acceptable"]

# what only narrows a value: without it a grammar still leads to an answer of the right shape
_NARROWING = (
    "pattern",
    "format",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
)


def acceptable(
    schema: dict[str, Any], accepts: Callable[[dict[str, Any]], bool]
) -> tuple[dict[str, Any], list[str]]:
    """Return *schema* without what *accepts* refuses, and the keywords dropped for it.

    Args:
        schema: As the document's owner wrote it.
        accepts: Tells whether a schema compiles.

    Raises:
        ValueError: It is refused even without them.
    """
    schema, dropped = copy.deepcopy(schema), []
    for part in _parts(schema):
        if "properties" in part:
            part.setdefault("additionalProperties", False)
    if accepts(schema):
        return schema, dropped
    for part in _parts(schema):
        for keyword in _NARROWING:
            if keyword in part and not accepts(_alone({keyword: part[keyword]}, part)):
                del part[keyword]
                dropped.append(keyword)
    if not accepts(schema):
        raise ValueError("the grammar refuses a keyword that cannot be dropped")
    return schema, dropped


def _alone(keyword: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    kind = {"type": part["type"]} if "type" in part else {}
    return {"type": "object", "properties": {"x": {**kind, **keyword}}}


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(schema, dict):
        return
    yield schema
    for name in ("properties", "$defs"):
        for part in schema.get(name, {}).values():
            yield from _parts(part)
    for name in ("anyOf", "oneOf", "allOf"):
        for part in schema.get(name, ()):
            yield from _parts(part)
    yield from _parts(schema.get("items"))
