"""Schemas as other tools print them, rewritten into the contract, each change told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deg_schema.adaptation import Adaptation, Note, copy_json
from deg_schema.compilation import TooManyFields
from deg_schema.compile import check_document, compile_schema, draft_of
from deg_schema.constraints import admitted_levels
from deg_schema.errors import SchemaError
from deg_schema.json_values import clip
from deg_schema.keyword_rules import (
    admits,
    drop_inapplicable,
    drop_unknown,
    name_type,
    rewrite_format,
    rewrite_values,
)
from deg_schema.keywords import ANNOTATIONS, is_number
from deg_schema.limits import MAX_DEPTH, MAX_FIELDS
from deg_schema.merging import Conflict, merge
from deg_schema.narrowing import narrow_type_list, narrow_union
from deg_schema.plan import Constraints
from deg_schema.pointer import escape_token

__all__ = ["Note", "adapt"]

# one change may make room for another; two rounds are usual
_MAX_ROUNDS = 8


def adapt(schema: object) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """Rewrite *schema*, which is left as it is, so that `compile_schema` takes more of it.

    Every value that the result admits, the given schema admits as well, properties that are
    removed because they have one value put back. What cannot be rewritten so is left for
    `compile_schema` to report.

    Raises:
        SchemaError: The schema is no JSON object, or larger than what is compiled.
    """
    check_document(schema)
    assert isinstance(schema, dict)
    adapted = copy_json(schema)
    notes: dict[Note, None] = {}
    for _ in range(_MAX_ROUNDS):
        if _compiles(adapted):
            break
        following, following_notes = _adapt_once(adapted)
        notes |= following_notes
        if following == adapted:
            break
        adapted = following
    return adapted, tuple(notes)


def _compiles(schema: dict[str, Any]) -> bool:
    try:
        compile_schema(schema)
    except SchemaError:
        return False
    return True


def _adapt_once(document: dict[str, Any]) -> tuple[dict[str, Any], dict[Note, None]]:
    adaptation = Adaptation(document, draft_of(document) or 2020)
    root = document
    if draft_of(document) is None:
        adaptation.note("/$schema", "'$schema' names no draft that we know: it is dropped")
        root = {keyword: value for keyword, value in document.items() if keyword != "$schema"}
    try:
        adapted = {**_adapt(adaptation, root, "", 0), **adaptation.definitions()}
        check_document(adapted)
    except TooManyFields:
        note = Note("", f"nothing is adapted: the schema has more than {MAX_FIELDS} parts")
        return document, {note: None}
    except SchemaError as error:
        return document, {Note(problem.loc, problem.msg): None for problem in error.problems}
    return copy_json(adapted), adaptation.notes


def _adapt(adaptation: Adaptation, schema: dict[str, Any], loc: str, depth: int) -> dict[str, Any]:
    adaptation.count()
    if depth > MAX_DEPTH:
        return schema
    schema = drop_unknown(adaptation, schema, loc)
    if "allOf" in schema or ("$ref" in schema and not schema.keys() <= ANNOTATIONS | {"$ref"}):
        try:
            schema = _merge_all(adaptation, schema, loc)
        except Conflict as conflict:
            adaptation.note(loc, f"'allOf' or '$ref' is not merged: {conflict}")
            return schema
    if "$ref" in schema:
        return _adapt_reference(adaptation, schema, loc, depth)
    if "anyOf" in schema or "oneOf" in schema:
        return narrow_union(adaptation, schema, loc, depth + 1, _adapt)
    return _adapt_typed(adaptation, schema, loc, depth)


def _adapt_typed(
    adaptation: Adaptation, schema: dict[str, Any], loc: str, depth: int
) -> dict[str, Any]:
    if loc or "properties" in schema:
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
    schema = drop_inapplicable(adaptation, schema, loc)
    if schema.get("type") == "object" and isinstance(schema.get("properties"), dict):
        return _adapt_object(adaptation, schema, loc, depth)
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        items = _adapt(adaptation, schema["items"], f"{loc}/items", depth + 1)
        return {**schema, "items": items}
    return schema


def _adapt_object(
    adaptation: Adaptation, schema: dict[str, Any], loc: str, depth: int
) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    removed: set[str] = set()
    for name, child in schema["properties"].items():
        place = f"{loc}/properties/{escape_token(name)}"
        child = {} if child is True and adaptation.draft > 4 else child
        if isinstance(child, dict):
            child = _adapt(adaptation, child, place, depth + 1)
            if value := _only_value(adaptation, child):
                removed.add(name)
                adaptation.note(
                    place,
                    f"the property is removed: it can only be {clip(value[0])}, "
                    "which you can add to the result",
                )
                continue
        properties[name] = child
    adapted = {**schema, "properties": properties}
    if removed and isinstance(schema.get("required"), list):
        required = [name for name in schema["required"] if name not in removed]
        adapted["required"] = required
        if not required:
            del adapted["required"]
    return adapted


def _only_value(adaptation: Adaptation, schema: dict[str, Any]) -> tuple[Any] | None:
    """Return the one value that an adapted schema admits, if it is but one."""
    schema = adaptation.resolved(schema)
    if not {"anyOf", "oneOf", "allOf", "$ref", "not", "if"}.isdisjoint(schema):
        return None
    values = schema.get("enum")
    if "const" in schema:
        value = schema["const"]
        if isinstance(value, (dict, list)):
            return (value,) if "enum" not in schema else None
        is_option = not isinstance(values, list) or value in values
        return (value,) if is_option and admits(schema, value, adaptation.draft) else None
    if isinstance(values, list):
        is_one = len(values) == 1 and not isinstance(values[0], (dict, list))
        return (values[0],) if is_one and admits(schema, values[0], adaptation.draft) else None
    if schema.get("type") == "null":
        return (None,)
    return _only_level(schema) if adaptation.draft > 4 else None


def _only_level(schema: dict[str, Any]) -> tuple[int] | None:
    bounds = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    if schema.get("type") != "integer" or bounds.isdisjoint(schema):
        return None
    if not all(is_number(schema[keyword]) for keyword in bounds & schema.keys()):
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


def _adapt_reference(
    adaptation: Adaptation, schema: dict[str, Any], loc: str, depth: int
) -> dict[str, Any]:
    found = adaptation.target(schema["$ref"])
    if found is None:
        return schema
    target, place = found
    if adaptation.is_definition(place):
        if place not in adaptation.adapted:
            adaptation.adapted[place] = None
            adaptation.define(place, _adapt(adaptation, target, place, depth + 1))
        return schema
    if place in adaptation.inlined or f"{loc}/".startswith(f"{place}/"):
        return schema
    adaptation.note(f"{loc}/$ref", f"'$ref' {clip(schema['$ref'])} is written out")
    siblings = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
    adaptation.inlined.add(place)
    adapted = _adapt(adaptation, merge(siblings, target), loc, depth + 1)
    adaptation.inlined.discard(place)
    return adapted


def _merge_all(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Merge the branches of `allOf`, and what `$ref` names, into one schema."""
    branches = schema.get("allOf", [])
    own = {keyword: value for keyword, value in schema.items() if keyword != "allOf"}
    if branches and isinstance(branches, list) and len(branches) == 1 and own.keys() <= ANNOTATIONS:
        [only] = branches
        if isinstance(only, dict) and only.keys() <= ANNOTATIONS | {"$ref"} and "$ref" in only:
            adaptation.note(f"{loc}/allOf", "'allOf' of one '$ref' is written without it")
            return {**only, **own}
    [merged, *others] = _parts(adaptation, schema, loc, 0)
    for other in others:
        merged = merge(merged, other)
    if "allOf" in schema:
        adaptation.note(f"{loc}/allOf", "'allOf' is merged into the schema around it")
    if "$ref" in schema:
        adaptation.note(f"{loc}/$ref", "'$ref' is merged with what stands beside it")
    return merged


def _parts(
    adaptation: Adaptation, schema: dict[str, Any], loc: str, depth: int
) -> Iterator[dict[str, Any]]:
    adaptation.count()
    if depth > MAX_DEPTH:
        raise Conflict("it is too deep")
    schema = drop_unknown(adaptation, schema, loc)
    yield {keyword: value for keyword, value in schema.items() if keyword not in ("allOf", "$ref")}
    if "$ref" in schema:
        found = adaptation.target(schema["$ref"])
        if found is None:
            raise Conflict(f"'$ref' {clip(schema['$ref'])} is not found")
        yield from _parts(adaptation, *found, depth + 1)
    branches = schema.get("allOf", [])
    if not isinstance(branches, list):
        raise Conflict("'allOf' is no array")
    for index, branch in enumerate(branches):
        if isinstance(branch, dict):
            yield from _parts(adaptation, branch, f"{loc}/allOf/{index}", depth + 1)
        elif branch is not True:
            raise Conflict(f"a branch of 'allOf' is {clip(branch)}")
