"""The shape that each keyword's value has, for definitions that nothing refers to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deg_schema.compilation import Compilation
from deg_schema.json_values import clip
from deg_schema.keywords import is_count, is_number
from deg_schema.pointer import escape_token

__all__ = ["check_shapes", "subschemas"]

_TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
_SCHEMA_MAPS = {"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"}
_SCHEMA_LISTS = {"allOf", "anyOf", "oneOf", "prefixItems", "items"}
_SCHEMAS = {
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "additionalItems",
    "contentSchema",
    "items",
}
_LENGTHS = {"minLength", "maxLength"}
_COUNTS = {"minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"}
_REFERENCES = {"$ref", "$id", "$anchor", "$schema"}
_TEXTS = {"$comment", "title", "description", "format", "pattern"}
_FLAGS = {"uniqueItems", "readOnly", "writeOnly", "deprecated"}


def subschemas(schema: object, loc: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Walk *schema* and every schema within it, each with its place."""
    waiting: list[tuple[object, str]] = [(schema, loc)]
    while waiting:
        current, place = waiting.pop()
        if isinstance(current, dict):
            yield current, place
            for keyword, value in current.items():
                waiting += _children(keyword, value, f"{place}/{escape_token(keyword)}")


def check_shapes(compilation: Compilation, schema: object, loc: str) -> None:
    """Report what keeps a definition that is never used from being JSON Schema at all."""
    if not isinstance(schema, (dict, bool)):
        compilation.report(loc, f"a schema is an object, not {clip(schema)}")
    for node, place in subschemas(schema, loc):
        if place not in compilation.visited:
            for keyword, value in node.items():
                if expected := _fault(keyword, value, compilation.draft):
                    compilation.report(
                        f"{place}/{escape_token(keyword)}",
                        f"'{keyword}' must be {expected}, not {clip(value)}",
                    )


def _children(keyword: str, value: object, place: str) -> list[tuple[object, str]]:
    if keyword in _SCHEMA_MAPS and isinstance(value, dict):
        return [(child, f"{place}/{escape_token(name)}") for name, child in value.items()]
    if keyword in _SCHEMA_LISTS and isinstance(value, list):
        return [(child, f"{place}/{index}") for index, child in enumerate(value)]
    if keyword in _SCHEMAS and isinstance(value, dict):
        return [(value, place)]
    return []


def _fault(keyword: str, value: object, draft: int) -> str | None:
    if keyword == "type":
        return None if _is_type(value) else f"one of {', '.join(_TYPES)}, or a list of them"
    if keyword == "enum":
        return None if isinstance(value, list) else "an array"
    if keyword == "required":
        return None if _is_names(value) else "an array of different strings"
    if keyword in _COUNTS | _LENGTHS:
        return None if is_count(value) else "an integer of at least 0"
    if keyword in _TEXTS | _REFERENCES:
        return None if isinstance(value, str) else "a string"
    if keyword in _FLAGS:
        return None if isinstance(value, bool) else "true or false"
    return _number_fault(keyword, value, draft) or _container_fault(keyword, value)


def _number_fault(keyword: str, value: object, draft: int) -> str | None:
    if keyword in ("exclusiveMinimum", "exclusiveMaximum") and draft == 4:
        return None if isinstance(value, bool) else "true or false"
    if keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        return None if is_number(value) else "a number"
    if keyword == "multipleOf":
        is_valid = is_number(value) and value > 0  # type: ignore[operator]
        return None if is_valid else "a number greater than 0"
    return None


def _container_fault(keyword: str, value: object) -> str | None:
    if keyword in _SCHEMA_MAPS:
        is_valid = isinstance(value, dict) and all(map(_is_schema, value.values()))
        return None if is_valid else "an object of schemas"
    if keyword in _SCHEMA_LISTS and (keyword != "items" or isinstance(value, list)):
        is_valid = isinstance(value, list) and bool(value) and all(map(_is_schema, value))
        return None if is_valid else "an array of schemas"
    if keyword in _SCHEMAS:
        return None if _is_schema(value) else "a schema"
    return None


def _is_schema(value: object) -> bool:
    return isinstance(value, (dict, bool))


def _is_type(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_type_name, value)) and len(set(value)) == len(value)
    return _is_type_name(value)


def _is_type_name(value: object) -> bool:
    return isinstance(value, str) and value in _TYPES


def _is_names(value: object) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(name, str) for name in value)
        and len(set(value)) == len(value)
    )
