"""Whether the keywords of one schema admit a scalar, as far as `adapt` reads them."""

from __future__ import annotations

from typing import Any

from deg_schema.adaptation import Adaptation
from deg_schema.constraints import violated_keyword
from deg_schema.keywords import is_number
from deg_schema.plan import Constraints

__all__ = ["admits", "surely_admits"]

_LIMITS = {
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusiveMinimum": "exclusive_minimum",
    "exclusiveMaximum": "exclusive_maximum",
    "multipleOf": "multiple_of",
    "minLength": "min_length",
    "maxLength": "max_length",
}
_TYPE_OF: dict[type, str] = {str: "string", bool: "boolean", int: "integer", float: "number"}


def admits(schema: dict[str, Any], value: Any, draft: int) -> bool:
    """Say whether the type, the bounds and the lengths of *schema* admit a scalar."""
    declared = schema.get("type")
    names = declared if isinstance(declared, list) else [declared]
    if value is None:
        return declared is None or "null" in names
    if declared is not None and _TYPE_OF[type(value)] not in names:
        is_whole = draft > 4 and type(value) is float and value.is_integer()
        is_number_named = is_number(value) and "number" in names
        if not is_number_named and not ("integer" in names and is_whole):
            return False
    if schema.keys().isdisjoint(_LIMITS) or not _is_readable(schema):
        return True
    limits = {name: schema[keyword] for keyword, name in _LIMITS.items() if keyword in schema}
    return violated_keyword(Constraints(**limits), None, value) is None


def surely_admits(adaptation: Adaptation, schema: dict[str, Any], value: Any) -> bool:
    """Say whether they admit it and so does the pattern, each of them well-formed."""
    if not _is_readable(schema) or not admits(schema, value, adaptation.draft):
        return False
    if "pattern" not in schema or not isinstance(value, str):
        return True
    return adaptation.finds(schema["pattern"], value) is True


def _is_readable(schema: dict[str, Any]) -> bool:
    if not all(is_number(schema[keyword]) for keyword in _LIMITS.keys() & schema.keys()):
        return False
    return bool(schema.get("multipleOf", 1) > 0)
