"""The keywords: which we read, which we refuse and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from deg_schema.spelling import meant_word

__all__ = [
    "ANNOTATIONS",
    "DRAFTS",
    "FORMATS",
    "KNOWN",
    "TYPE_KEYWORDS",
    "UNSUPPORTED",
    "annotation_fault",
    "is_count",
    "is_number",
    "refusal",
]

FORMATS = ("date", "date-time", "email", "uri", "uuid")

# the drafts by the address that `$schema` names, without scheme and empty fragment
DRAFTS: Mapping[str, int] = {
    "json-schema.org/draft-04/schema": 4,
    "json-schema.org/draft-06/schema": 6,
    "json-schema.org/draft-07/schema": 7,
    "json-schema.org/draft/2019-09/schema": 2019,
    "json-schema.org/draft/2020-12/schema": 2020,
}

_LENGTHS = {"minLength", "maxLength", "pattern", "format", "x-generate", "x-max-tokens"}
_BOUNDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}

UNSUPPORTED: Mapping[str, str] = {
    "allOf": "merge its branches into this schema",
    "not": "say what the value may be instead",
    "if": "ask for each case as a property of its own",
    "then": "ask for each case as a property of its own",
    "else": "ask for each case as a property of its own",
    "const": "a single value has nothing to decide: remove the property",
    "dependentSchemas": "make the dependent properties optional",
    "dependentRequired": "make the dependent properties optional",
    "dependencies": "make the dependent properties optional",
    "patternProperties": "name every key under 'properties'",
    "propertyNames": "name every key under 'properties'",
    "unevaluatedProperties": "use 'additionalProperties': false",
    "minProperties": "list the keys that must be there under 'required'",
    "maxProperties": "remove it: no undeclared key is ever written",
    "unevaluatedItems": "describe every item with 'items'",
    "prefixItems": "use an object with a property for each position",
    "additionalItems": "describe every item with 'items'",
    "contains": "describe every item with 'items'",
    "minContains": "use 'minItems'",
    "maxContains": "use 'maxItems'",
    "$dynamicRef": "use a local '$ref'",
    "$dynamicAnchor": "use '$anchor'",
    "$recursiveRef": "use a local '$ref'",
    "$recursiveAnchor": "use '$anchor'",
    "contentEncoding": "remove it: texts are copied as they stand",
    "contentMediaType": "remove it: texts are copied as they stand",
    "contentSchema": "remove it: texts are copied as they stand",
}

_HINTS: Mapping[str, str] = {
    "nullable": 'write "type": [X, "null"] instead',
    "example": "write 'examples' with an array instead",
    "id": "write '$id' instead",
    "discriminator": "use a property with an 'enum' instead",
}


def is_number(value: object) -> bool:
    """Say whether *value* is a JSON number."""
    return type(value) is int or type(value) is float


def is_count(value: object) -> bool:
    """Say whether *value* is a non-negative integer, however it is spelled."""
    return is_number(value) and value >= 0 and value == int(value)  # type: ignore[operator, call-overload]


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_anything(_value: object) -> bool:
    return True


def _is_anchor(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[A-Za-z_][-A-Za-z0-9._]*", value) is not None


def _is_definitions(value: object) -> bool:
    return isinstance(value, dict)


_ANNOTATION_SHAPES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "title": (_is_text, "a string"),
    "description": (_is_text, "a string"),
    "default": (_is_anything, "any value"),
    "examples": (lambda value: isinstance(value, list), "an array"),
    "$comment": (_is_text, "a string"),
    "$schema": (_is_text, "a string"),
    "$id": (_is_text, "a string"),
    "$anchor": (_is_anchor, "a name of letters, digits, '-', '_' and '.'"),
    "$defs": (_is_definitions, "an object of schemas"),
    "definitions": (_is_definitions, "an object of schemas"),
    "readOnly": (_is_flag, "true or false"),
    "writeOnly": (_is_flag, "true or false"),
    "deprecated": (_is_flag, "true or false"),
}

ANNOTATIONS = frozenset(_ANNOTATION_SHAPES)

TYPE_KEYWORDS: Mapping[str, frozenset[str]] = {
    "string": ANNOTATIONS | _LENGTHS | {"type", "enum"},
    "number": ANNOTATIONS | _BOUNDS | {"type", "enum"},
    "integer": ANNOTATIONS | _BOUNDS | {"type", "enum", "x-levels"},
    "boolean": ANNOTATIONS | {"type", "enum"},
    "any": ANNOTATIONS | {"type", "enum"},
    "object": ANNOTATIONS | {"type", "properties", "required", "additionalProperties"},
    "array": ANNOTATIONS
    | {"type", "items", "minItems", "maxItems", "uniqueItems", "x-generate", "x-max-tokens"},
}

KNOWN = frozenset().union(*TYPE_KEYWORDS.values()) | {"$ref", "anyOf", "oneOf"}


def annotation_fault(keyword: str, value: object) -> str | None:
    """Say what is wrong with the value of an annotation, if anything."""
    is_valid, shape = _ANNOTATION_SHAPES[keyword]
    return None if is_valid(value) else f"'{keyword}' must be {shape}"


def refusal(keyword: str, value: object, kind: str) -> str | None:
    """Say why *keyword* has no place in a schema of type *kind*; `None` if it does no harm."""
    if keyword == "x-generate":
        if value is False:
            return None
        return f"'x-generate' is only for a plain string or an array of them, not for {kind}"
    if keyword == "x-max-tokens":
        return "'x-max-tokens' is only for what 'x-generate': true generates; remove it"
    if keyword == "x-levels":
        return "'x-levels' is only for an integer of 2 to 11 levels; remove it"
    if keyword in UNSUPPORTED:
        return f"'{keyword}' is not supported; {UNSUPPORTED[keyword]}"
    if keyword in _HINTS:
        return f"'{keyword}' is no keyword of JSON Schema; {_HINTS[keyword]}"
    if keyword in KNOWN:
        return f"'{keyword}' does not apply to {kind}; remove it"
    if keyword.startswith("x-"):
        return (
            f"'{keyword}' is unknown: the only extensions are 'x-generate', 'x-max-tokens' "
            "and 'x-levels'"
        )
    if meant := meant_word(keyword, KNOWN):
        return f"'{keyword}' is no keyword that we know; did you mean '{meant}'?"
    return f"'{keyword}' is no keyword that we know; remove it"
