"""Schemas that leave nothing to find: which one value they admit."""

from __future__ import annotations

from typing import Any

from deg_schema.adaptation import Adaptation
from deg_schema.admission import surely_admits
from deg_schema.constraints import admitted_levels
from deg_schema.keywords import ANNOTATIONS, UNSUPPORTED, is_number
from deg_schema.plan import Constraints

__all__ = ["only_value"]

_UNREAD = {"anyOf", "oneOf", "allOf", "$ref", "not", "if"}
_BOUNDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}


def only_value(adaptation: Adaptation, schema: dict[str, Any]) -> tuple[Any] | None:
    """Return the one value that an adapted schema admits, if it is but one."""
    schema = adaptation.resolved(schema)
    if not _UNREAD.isdisjoint(schema):
        return None
    values = schema.get("enum")
    if "const" in schema:
        value = schema["const"]
        if isinstance(value, (dict, list)):
            kind = "object" if isinstance(value, dict) else "array"
            is_alone = schema.keys() <= ANNOTATIONS | {"const", "type"}
            return (value,) if is_alone and schema.get("type", kind) == kind else None
        is_option = not isinstance(values, list) or _key(value) in map(_key, values)
        return (value,) if is_option and surely_admits(adaptation, schema, value) else None
    if isinstance(values, list):
        is_one = len(values) == 1 and not isinstance(values[0], (dict, list))
        return (values[0],) if is_one and surely_admits(adaptation, schema, values[0]) else None
    if schema.get("type") == "null":
        return (None,)
    if schema.get("type") == "array":
        return ([],) if _is_empty(schema) else None
    return _only_level(schema) if adaptation.draft > 4 else None


def _key(value: Any) -> tuple[bool, Any]:
    # JSON keeps true and 1 apart
    return isinstance(value, bool), value


def _is_empty(schema: dict[str, Any]) -> bool:
    most, least = schema.get("maxItems"), schema.get("minItems", 0)
    if "items" in schema or not schema.keys().isdisjoint(UNSUPPORTED):
        return False
    return bool(is_number(most) and most == 0 and least == 0)


def _only_level(schema: dict[str, Any]) -> tuple[int] | None:
    if schema.get("type") != "integer" or _BOUNDS.isdisjoint(schema):
        return None
    if not all(is_number(schema[keyword]) for keyword in _BOUNDS & schema.keys()):
        return None
    if schema.get("multipleOf", 1) <= 0:
        return None
    levels = admitted_levels(
        Constraints(
            minimum=schema.get("minimum"),
            maximum=schema.get("maximum"),
            exclusive_minimum=schema.get("exclusiveMinimum"),
            exclusive_maximum=schema.get("exclusiveMaximum"),
            multiple_of=schema.get("multipleOf"),
        )
    )
    if levels is None or not levels[:1] or levels[1:2]:
        return None
    return (levels[0],)
