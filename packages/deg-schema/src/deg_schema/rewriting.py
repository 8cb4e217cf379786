"""The rounds that rewrite a schema into the contract, until it compiles or nothing changes."""

from __future__ import annotations

from typing import Any

from deg_schema.adapt import Note
from deg_schema.adaptation import Adaptation, copy_json
from deg_schema.all_of import merge_all
from deg_schema.array_rules import rewrite_array
from deg_schema.compilation import TooManyFields
from deg_schema.compile import check_document, compile_schema, draft_of
from deg_schema.errors import SchemaError
from deg_schema.json_values import clip
from deg_schema.keyword_rules import (
    drop_inapplicable,
    drop_unknown,
    name_type,
    rewrite_format,
    rewrite_values,
)
from deg_schema.keywords import ANNOTATIONS, UNSUPPORTED
from deg_schema.limits import MAX_DEPTH, MAX_FIELDS
from deg_schema.merging import Conflict, merge
from deg_schema.narrowing import narrow_type_list, narrow_union
from deg_schema.object_rules import close, rewrite_object
from deg_schema.pointer import escape_token
from deg_schema.single_values import only_value

__all__ = ["find_obstacles", "rewrite"]

# one change may make room for another; two rounds are usual
_MAX_ROUNDS = 8


def rewrite(schema: object) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """Do what `adapt` says."""
    check_document(schema)
    assert isinstance(schema, dict)
    adapted = copy_json(schema)
    notes: dict[Note, None] = {}
    for _ in range(_MAX_ROUNDS):
        if _compiles(adapted):
            break
        following, adaptation = _adapt_once(adapted)
        if following == adapted:
            break
        notes |= adaptation.notes | adaptation.settled
        adapted = following
    else:
        # what comes to no end, such as a schema that must contain itself, is not begun
        return copy_json(schema), ()
    return adapted, tuple(notes)


def find_obstacles(schema: dict[str, Any]) -> tuple[Note, ...]:
    """Do what `obstacles` says."""
    check_document(schema)
    return () if _compiles(schema) else tuple(_adapt_once(schema)[1].obstacles)


def _compiles(schema: dict[str, Any]) -> bool:
    try:
        compile_schema(schema)
    except SchemaError:
        return False
    return True


def _adapt_once(document: dict[str, Any]) -> tuple[dict[str, Any], Adaptation]:
    adaptation = Adaptation(document, draft_of(document) or 2020)
    root = document
    if draft_of(document) is None:
        adaptation.note("/$schema", "'$schema' names no draft that we know: it is dropped")
        root = {keyword: value for keyword, value in document.items() if keyword != "$schema"}
    try:
        adapted = {**_adapt(adaptation, root, "", 0), **adaptation.definitions()}
        if adapted != document:
            check_document(adapted)
    except TooManyFields:
        adaptation.refuse("", f"nothing is adapted: the schema has more than {MAX_FIELDS} parts")
        return document, adaptation
    except SchemaError as error:
        for problem in error.problems:
            adaptation.refuse(problem.loc, problem.msg)
        return document, adaptation
    return copy_json(adapted), adaptation


def _adapt(adaptation: Adaptation, schema: dict[str, Any], loc: str, depth: int) -> dict[str, Any]:
    adaptation.count()
    if depth > MAX_DEPTH:
        return schema
    schema = drop_unknown(adaptation, schema, loc)
    if "allOf" in schema or ("$ref" in schema and not schema.keys() <= ANNOTATIONS | {"$ref"}):
        try:
            merged, places = merge_all(adaptation, schema, loc)
        except Conflict as conflict:
            adaptation.refuse(loc, f"'allOf' or '$ref' is not merged: {conflict}")
            return schema
        adaptation.merged.update(places)
        adapted = _adapt_one(adaptation, merged, loc, depth)
        adaptation.merged.subtract(places)
        return adapted
    return _adapt_one(adaptation, schema, loc, depth)


def _adapt_one(
    adaptation: Adaptation, schema: dict[str, Any], loc: str, depth: int
) -> dict[str, Any]:
    if "$ref" in schema:
        return _adapt_reference(adaptation, schema, loc, depth)
    if "anyOf" in schema or "oneOf" in schema:
        return narrow_union(adaptation, schema, loc, depth + 1, _adapt)
    return _adapt_typed(adaptation, schema, loc, depth)


def _adapt_typed(
    adaptation: Adaptation, schema: dict[str, Any], loc: str, depth: int
) -> dict[str, Any]:
    schema = name_type(adaptation, schema, loc)
    schema = rewrite_values(adaptation, schema, loc)
    declared = schema.get("type")
    if isinstance(declared, list):
        if not all(isinstance(name, str) for name in declared):
            return schema
        other = [name for name in declared if name != "null"]
        if len(other) > 1 and "enum" not in schema and "const" not in schema:
            return narrow_type_list(adaptation, schema, loc, depth + 1, _adapt)
        if other in (["object"], ["array"]):
            what = f"an {other[0]}"
            adaptation.note(f"{loc}/type", f"null is no answer for {what}: 'type' null is dropped")
            schema = {**schema, "type": other[0]}
    schema = rewrite_format(adaptation, schema, loc)
    if schema.get("type") == "object":
        schema = drop_inapplicable(adaptation, rewrite_object(adaptation, schema, loc), loc)
        return _adapt_properties(adaptation, schema, loc, depth)
    if schema.get("type") == "array":
        schema = drop_inapplicable(adaptation, rewrite_array(adaptation, schema, loc), loc)
        return _adapt_items(adaptation, schema, loc, depth)
    return drop_inapplicable(adaptation, schema, loc)


def _adapt_properties(
    adaptation: Adaptation, schema: dict[str, Any], loc: str, depth: int
) -> dict[str, Any]:
    if not isinstance(schema.get("properties"), dict):
        return schema
    properties: dict[str, Any] = {}
    names = schema.get("required")
    required = _texts(names)
    fixed: set[str] = set()
    # other keywords may speak of a property that is to be removed
    is_plain = schema.keys().isdisjoint(UNSUPPORTED)
    for name, child in schema["properties"].items():
        place = f"{loc}/properties/{escape_token(name)}"
        child = {} if child is True and adaptation.draft > 4 else child
        if isinstance(child, dict):
            child = _adapt(adaptation, child, place, depth + 1)
            if is_plain and (value := only_value(adaptation, child)):
                fixed.add(name)
                what = f"it can only be {clip(value[0])}, which you can add to the result"
                adaptation.note(place, f"the property is removed: {what}")
                continue
            if name not in required and adaptation.is_endless(child, place):
                what = "it is recursive; write out the levels you need"
                adaptation.note(place, f"the property is removed: {what}")
                schema = close(adaptation, schema, loc)
                continue
        properties[name] = child
    adapted = {**schema, "properties": properties}
    if fixed & required and isinstance(names, list):
        adapted["required"] = [name for name in names if _texts([name]).isdisjoint(fixed)]
        if not adapted["required"]:
            del adapted["required"]
    return adapted


def _texts(names: object) -> set[str]:
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()


def _adapt_items(
    adaptation: Adaptation, schema: dict[str, Any], loc: str, depth: int
) -> dict[str, Any]:
    if not isinstance(schema.get("items"), dict):
        return schema
    place = f"{loc}/items"
    items = _adapt(adaptation, schema["items"], place, depth + 1)
    if schema.get("minItems") or not adaptation.is_endless(items, place):
        return {**schema, "items": items}
    what = "'items' is recursive; write out the levels you need"
    adaptation.note(place, f"the array stays empty: {what}")
    kept = {keyword: value for keyword, value in schema.items() if keyword != "items"}
    return {**kept, "maxItems": 0}


def _adapt_reference(
    adaptation: Adaptation, schema: dict[str, Any], loc: str, depth: int
) -> dict[str, Any]:
    found = adaptation.target(schema["$ref"])
    if found is None:
        return schema
    target, place = found
    if adaptation.is_around(place, loc):
        adaptation.is_recursive = True
        return schema
    if adaptation.is_definition(place):
        if place not in adaptation.adapted:
            with adaptation.definition(place):
                adaptation.define(place, _adapt(adaptation, target, place, depth + 1))
        return schema
    adaptation.note(f"{loc}/$ref", f"'$ref' {clip(schema['$ref'])} is written out")
    siblings = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
    adaptation.inlined.add(place)
    adapted = _adapt(adaptation, merge(siblings, target), loc, depth + 1)
    adaptation.inlined.discard(place)
    return adapted
