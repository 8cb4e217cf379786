"""What `adapt` does to the keywords of an array: positions, `contains`, items that nobody names."""

from __future__ import annotations

import json
from typing import Any

from deg_schema.adaptation import Adaptation
from deg_schema.keyword_rules import dropped
from deg_schema.keywords import ANNOTATIONS, is_count, is_number

__all__ = ["rewrite_array"]

_COUNTS_CONTAINED = ("minContains", "maxContains")


def rewrite_array(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Rewrite what is said of single items into what `items` and the counts say of all."""
    schema = _without_idle(adaptation, schema, loc)
    schema = _with_unevaluated(adaptation, schema, loc)
    schema = _with_positions(adaptation, schema, loc)
    schema = _with_contained(adaptation, schema, loc)
    return _with_items(adaptation, schema, loc)


def _without_idle(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    idle = set()
    if not isinstance(schema.get("items"), list):
        idle.add("additionalItems")
    if adaptation.draft == 4:
        idle.add("contains")
    if adaptation.draft < 2019:
        idle |= {*_COUNTS_CONTAINED, "unevaluatedItems"}
    elif "contains" not in schema:
        idle |= {*_COUNTS_CONTAINED}
    for keyword in sorted(idle & schema.keys()):
        schema = dropped(adaptation, schema, loc, keyword, "it has no effect here")
    return schema


def _with_unevaluated(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    rest = schema.get("unevaluatedItems")
    if "unevaluatedItems" not in schema:
        return schema
    is_by_position = "prefixItems" in schema or isinstance(schema.get("items"), list)
    keyword = "additionalItems" if isinstance(schema.get("items"), list) else "items"
    if keyword in schema or rest is True:
        what = "it has no effect here"
        return dropped(adaptation, schema, loc, "unevaluatedItems", what)
    what = "the items after the positions" if is_by_position else "every item"
    schema = dropped(adaptation, schema, loc, "unevaluatedItems", f"it is asked of {what}")
    return {**schema, keyword: rest}


def _with_positions(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Write positions that are all described alike as `items`."""
    keyword = "prefixItems" if "prefixItems" in schema else "items"
    positions = schema.get(keyword)
    if not isinstance(positions, list) or not positions:
        return schema
    rest_keyword = "items" if keyword == "prefixItems" else "additionalItems"
    rest = schema.get(rest_keyword, True)
    one = _common(positions)
    if one is None:
        what = "its positions differ; use an object with a property for each"
        adaptation.refuse(f"{loc}/{keyword}", f"{keyword!r} stays: {what}")
        return schema
    most = schema.get("maxItems", len(positions))
    if not is_number(most) or not is_number(schema.get("minItems", 0)):
        return schema
    kept = {name: value for name, value in schema.items() if name not in (keyword, rest_keyword)}
    adapted = {**kept, "items": one}
    is_rest_alike = _is_any(rest) or (rest is not False and _common([*positions, rest]) is not None)
    if not is_rest_alike:
        adapted["maxItems"] = min(most, len(positions))
    if adapted.get("maxItems", len(positions)) < schema.get("minItems", 0):
        return schema
    adaptation.note(f"{loc}/{keyword}", "the positions are alike: one schema under 'items' says it")
    return adapted


def _common(positions: list[Any]) -> dict[str, Any] | None:
    """Return what every position says, without the texts in which they differ."""
    schemas = [{} if position is True else position for position in positions]
    if not all(isinstance(schema, dict) for schema in schemas):
        return None
    first = schemas[0]
    if len({_said(schema) for schema in schemas}) > 1:
        return None
    return {
        keyword: value
        for keyword, value in first.items()
        if keyword not in ANNOTATIONS or all(schema.get(keyword) == value for schema in schemas)
    }


def _said(schema: dict[str, Any]) -> str:
    said = {keyword: value for keyword, value in schema.items() if keyword not in ANNOTATIONS}
    return json.dumps(said, sort_keys=True)


def _with_contained(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Ask of every item what one must be, where `items` asks nothing else."""
    contained, items = schema.get("contains"), schema.get("items", True)
    least, most = schema.get("minContains", 1), schema.get("maxContains")
    if "contains" not in schema or "prefixItems" in schema or isinstance(items, list):
        return schema
    if not is_count(least) or not (is_count(most) or "maxContains" not in schema):
        return schema
    if least == 0 and most is None:
        for keyword in ("contains", "minContains"):
            if keyword in schema:
                schema = dropped(adaptation, schema, loc, keyword, "none need be contained")
        return schema
    is_everything = _is_any(contained) or (
        isinstance(items, dict) and isinstance(contained, dict) and _said(items) == _said(contained)
    )
    if not is_everything and not (_is_any(items) and isinstance(contained, dict)):
        adaptation.refuse(
            f"{loc}/contains", "'contains' stays: 'items' asks something else of every item"
        )
        return schema
    removed = ("contains", *_COUNTS_CONTAINED)
    adapted = {keyword: value for keyword, value in schema.items() if keyword not in removed}
    if not is_everything:
        adapted["items"] = contained
    adapted["minItems"] = _extreme(max, least, schema.get("minItems"))
    if most is not None:
        adapted["maxItems"] = _extreme(min, most, schema.get("maxItems"))
    if adapted["minItems"] == 0:
        del adapted["minItems"]
    adaptation.note(f"{loc}/contains", "'contains' is asked of every item, its counts of the array")
    return adapted


def _with_items(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    items = schema.get("items")
    if "prefixItems" in schema or (isinstance(items, bool) and adaptation.draft == 4):
        return schema
    if items is False and not schema.get("minItems"):
        adaptation.note(f"{loc}/items", "the array stays empty: 'items' is false")
        adapted = {keyword: value for keyword, value in schema.items() if keyword != "items"}
        return {**adapted, "maxItems": 0}
    if items is True or items == []:
        adaptation.note(f"{loc}/items", "'items' says nothing: 'string' is asked for")
        return {**schema, "items": {"type": "string"}}
    if "items" not in schema and schema.get("maxItems") != 0:
        adaptation.note(loc, "'items' is missing: 'string' is asked for")
        return {**schema, "items": {"type": "string"}}
    return schema


def _is_any(schema: object) -> bool:
    return schema is True or (isinstance(schema, dict) and schema.keys() <= ANNOTATIONS)


def _extreme(choose: Any, bound: Any, other: Any) -> Any:
    return choose(bound, other) if is_number(other) else bound
