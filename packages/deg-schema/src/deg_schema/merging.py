"""The one schema that says what two say together: how `allOf` is merged."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from deg_schema.constraints import is_multiple
from deg_schema.json_values import clip
from deg_schema.keywords import ANNOTATIONS, is_number

__all__ = ["Conflict", "is_same", "merge", "merge_within"]

_LOWER = {"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"}
_UPPER = {"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"}
# keywords that mean something only together: from two schemas they would say something else
_TOGETHER = (
    {"if", "then", "else"},
    {"contains", "minContains", "maxContains"},
    {"items", "prefixItems", "additionalItems"},
    {"patternProperties", "additionalProperties"},
)
# what sees the keywords beside it, those of the branches of `allOf` as well
_SEEING = ("unevaluatedProperties", "unevaluatedItems")
# what a branch says of itself, not of the value
_OF_THE_BRANCH = {"$defs", "definitions", "$id", "$anchor", "$schema", "$comment"}


class Conflict(Exception):
    """Two schemas cannot be merged; `str` names the keyword.

    Args:
        is_empty: Whether no value is admitted by both, rather than that no single schema says it.
    """

    def __init__(self, message: str, *, is_empty: bool = False) -> None:
        super().__init__(message)
        self.is_empty = is_empty


def merge_within(outer: dict[str, Any], branches: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the schema that says what *outer* says with *branches* under its `allOf`.

    Raises:
        Conflict: No value is admitted by all, or no single schema says it.
    """
    seeing = {keyword: outer[keyword] for keyword in _SEEING if keyword in outer}
    merged = {keyword: value for keyword, value in outer.items() if keyword not in seeing}
    for branch in branches:
        merged = merge(merged, branch)
    return {**merged, **seeing}


def merge(schema: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the schema that admits what both admit; annotations of *schema* win.

    Raises:
        Conflict: No value is admitted by both, or no single schema says it.
    """
    merged = dict(schema)
    _check_together(schema, other)
    _check_closed(schema, other)
    _check_closed(other, schema)
    for keyword, value in other.items():
        if keyword in _OF_THE_BRANCH:
            continue
        if keyword not in schema:
            merged[keyword] = value
        elif keyword not in ANNOTATIONS and not is_same(schema[keyword], value):
            merged[keyword] = _merged(keyword, schema[keyword], value)
    return merged


def _merged(keyword: str, first: Any, second: Any) -> Any:
    if keyword == "type":
        return _merged_types(first, second)
    if keyword in _LOWER | _UPPER and is_number(first) and is_number(second):
        return max(first, second) if keyword in _LOWER else min(first, second)
    if keyword == "multipleOf" and is_number(first) and is_number(second):
        return _merged_steps(first, second)
    if keyword in ("enum", "required") and isinstance(first, list) and isinstance(second, list):
        return _merged_lists(keyword, first, second)
    if keyword == "properties" and isinstance(first, dict) and isinstance(second, dict):
        return _merged_properties(first, second)
    if keyword == "items" and isinstance(first, (dict, bool)) and isinstance(second, (dict, bool)):
        return _merged_items(first, second)
    if keyword == "additionalProperties":
        # declared names are all that is ever written, and they were checked
        return False
    if keyword == "uniqueItems" and isinstance(first, bool) and isinstance(second, bool):
        return True
    raise Conflict(f"{keyword!r} is both {clip(first)} and {clip(second)}")


def _merged_types(first: Any, second: Any) -> Any:
    names, others = _names(first), _names(second)
    both = [name for name in names if name in others or (name == "integer" and "number" in others)]
    both += [name for name in others if name == "integer" and "number" in names]
    both = list(dict.fromkeys(both))
    if "integer" in both and "number" in both:
        both.remove("integer")
    if not both:
        raise Conflict(f"'type' is both {first!r} and {second!r}", is_empty=True)
    return both[0] if len(both) == 1 else both


def _names(types: Any) -> list[str]:
    names = types if isinstance(types, list) else [types]
    if not all(isinstance(name, str) for name in names):
        raise Conflict(f"'type' is {clip(types)}")
    return names


def _merged_steps(first: Any, second: Any) -> Any:
    if first > 0 and second > 0:
        if isinstance(first, int) and isinstance(second, int):
            return math.lcm(first, second)
        if is_multiple(first, second):
            return first
        if is_multiple(second, first):
            return second
    raise Conflict(f"'multipleOf' is both {first!r} and {second!r}")


def _merged_lists(keyword: str, first: list[Any], second: list[Any]) -> list[Any]:
    seen = {_key(value) for value in second}
    if keyword == "required":
        return list(dict.fromkeys(value for _, value in map(_key, first + second)))
    both = [value for value in first if _key(value) in seen]
    if not both:
        raise Conflict("no value is in both 'enum'", is_empty=True)
    return both


def _key(value: Any) -> tuple[bool, Any]:
    if isinstance(value, (dict, list)):
        raise Conflict(f"{clip(value)} stands where a scalar is read")
    # JSON keeps true and 1 apart
    return isinstance(value, bool), value


def _merged_properties(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    merged = dict(first)
    for name, schema in second.items():
        if name not in merged or is_same(merged[name], schema):
            merged[name] = schema
        else:
            merged[name] = {"allOf": [merged[name], schema]}
    return merged


def _merged_items(first: dict[str, Any] | bool, second: dict[str, Any] | bool) -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        return {"allOf": [first, second]}
    if first is False or second is False:
        return False
    return first if isinstance(first, dict) else second


def _check_together(schema: dict[str, Any], other: dict[str, Any]) -> None:
    """Refuse keywords that would come to stand beside others than those they speak of."""
    for group in _TOGETHER:
        first, second = group & schema.keys(), group & other.keys()
        if first and second and first != second:
            names = " and ".join(map(repr, sorted(first ^ second)))
            raise Conflict(f"{names} would mean something else when merged")
    if schema.keys() <= ANNOTATIONS or other.keys() <= ANNOTATIONS:
        return
    for keyword in _SEEING:
        if schema.get(keyword, True) is not True or other.get(keyword, True) is not True:
            raise Conflict(f"{keyword!r} would mean something else when merged")


def _check_closed(schema: dict[str, Any], other: dict[str, Any]) -> None:
    """Refuse a property of *other* that *schema*, which names its own, has a say on."""
    if schema.get("additionalProperties", True) is True:
        return
    own, names = schema.get("properties", {}), other.get("properties", {})
    if isinstance(own, dict) and isinstance(names, dict):
        for name in names:
            if name not in own:
                raise Conflict(f"'additionalProperties' of one refuses {clip(name)} of the other")


def is_same(first: Any, second: Any) -> bool:
    """Say whether two values are the same JSON, spelled in the same way."""
    return type(first) is type(second) and bool(first == second) and repr(first) == repr(second)
