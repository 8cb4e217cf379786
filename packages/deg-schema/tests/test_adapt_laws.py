"""Laws of `adapt` over schemas of every kind: narrowed only, told, and done at once."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft4Validator, Draft7Validator, Draft201909Validator, Draft202012Validator

from deg_schema import Note, SchemaError, adapt, compile_schema

_VALIDATORS: dict[str, Any] = {
    "http://json-schema.org/draft-04/schema#": Draft4Validator,
    "http://json-schema.org/draft-07/schema#": Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": Draft202012Validator,
}
_NAMES = st.sampled_from("abz")
_TYPES = st.sampled_from(["string", "number", "integer", "boolean", "null", "object", "array"])
_SCALARS = st.sampled_from([None, True, False, 0, 1, 1.0, 2.5, 7, "", "a", "ab"])
_SMALL = st.sampled_from([0, 1, 2, 5])


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


_GOOD = st.sampled_from(
    [
        {"type": "string"},
        {"type": ["string", "null"], "format": "date", "title": "T", "default": None},
        {"type": "boolean"},
        {"type": "integer", "minimum": 0, "maximum": 3, "x-levels": {"0": "low"}},
        {"enum": ["a", 1, None]},
        {"oneOf": [{"const": "a", "description": "d"}, {"const": "b"}]},
        {"anyOf": [{"type": "number"}, {"type": "null"}], "examples": [1]},
        {"$ref": "#/$defs/d", "description": "x"},
        {"type": "string", "x-generate": True},
        {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 4},
    ]
)


@settings(deadline=None)
@given(
    st.dictionaries(
        st.text(max_size=3),
        st.recursive(
            _GOOD,
            lambda inner: (
                inner.map(lambda x: _object(a=x))
                | inner.map(lambda x: {"type": "array", "items": _object(a=x)})
            ),
        ),
    )
)
def test_good_schemas_stay_as_they_are(properties: dict[str, Any]) -> None:
    schema = {**_object(**properties), "$defs": {"d": {"type": "string"}}}
    compile_schema(schema)
    assert adapt(schema) == (schema, ())


def _schemas(inner: Any) -> Any:
    scalar = {
        "type": _TYPES | st.lists(_TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(_SCALARS, min_size=1, max_size=3),
        "const": _SCALARS,
        "minimum": _SMALL,
        "maximum": _SMALL,
        "minLength": _SMALL,
        "pattern": st.sampled_from(["a", "^a$"]),
        "title": st.just("t"),
        "x-vendor": st.just(1),
        "anyOf": st.lists(inner, min_size=1, max_size=3),
        "oneOf": st.lists(inner, min_size=1, max_size=3),
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "not": inner,
        "if": inner,
        "then": inner,
        "$ref": st.sampled_from(["#/$defs/d", "#/$defs/e", "#/$defs/f", "#/properties/a", "#"]),
    }
    objects = {
        "type": st.just("object"),
        "properties": st.dictionaries(_NAMES, inner, max_size=2),
        "required": st.lists(_NAMES, min_size=1, max_size=2, unique=True),
        "additionalProperties": st.booleans() | inner,
        "patternProperties": st.dictionaries(st.sampled_from(["a", "^b"]), inner, max_size=1),
        "minProperties": _SMALL,
        "maxProperties": _SMALL,
        "unevaluatedProperties": inner,
        "dependentRequired": st.dictionaries(_NAMES, st.lists(_NAMES, max_size=1), max_size=1),
        "dependentSchemas": st.dictionaries(_NAMES, inner, max_size=1),
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "$ref": st.sampled_from(["#/$defs/f", "#"]),
    }
    arrays = {
        "type": st.just("array"),
        "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "minItems": _SMALL,
        "maxItems": _SMALL,
        "contains": inner,
        "minContains": _SMALL,
        "maxContains": _SMALL,
        "unevaluatedItems": inner,
        "allOf": st.lists(inner, min_size=1, max_size=2),
    }
    return st.one_of(
        [st.fixed_dictionaries({}, optional=choice) for choice in (scalar, objects, arrays)]
    )


_MESSY: Any = st.recursive(
    st.just({}) | st.builds(lambda name: {"type": name}, _TYPES), _schemas, max_leaves=8
)
_RECURSIVE = {"type": "object", "properties": {"a": {"$ref": "#/$defs/f"}, "b": {"minimum": 1}}}


@st.composite
def _documents(draw: st.DrawFn) -> dict[str, Any]:
    draft = draw(st.sampled_from(list(_VALIDATORS)))
    definitions = {"d": draw(_MESSY), "e": {"enum": [1]}, "f": _RECURSIVE}
    root = {**_object(a=draw(_MESSY), b=draw(_MESSY)), "$schema": draft, "$defs": definitions}
    return {**root, "required": ["a"]} if draw(st.booleans()) else root


@settings(max_examples=100, deadline=None)
@given(_documents())
def test_adapting_twice_changes_nothing_more(schema: dict[str, Any]) -> None:
    before = copy.deepcopy(schema)
    once, notes = adapt(schema)
    assert schema == before
    assert adapt(once) == (once, ())
    assert json.loads(json.dumps(once)) == once
    assert all(type(note) is Note for note in notes)


@settings(max_examples=100, deadline=None)
@given(_documents())
def test_every_change_is_told_where_it_was_made(schema: dict[str, Any]) -> None:
    adapted, notes = adapt(schema)
    told = [_place_of(note) for note in notes]
    for change in _changes(schema, adapted, ""):
        assert any(
            f"{change}/".startswith(f"{place}/") or place.startswith(change) for place in told
        ), change


def _place_of(note: Note) -> str:
    # what is removed from 'properties' is removed from 'required' as well
    tail = 2 if note.msg.startswith("the property is") else 1
    return note.loc.rsplit("/", tail)[0] if note.loc else ""


def _changes(first: Any, second: Any, place: str) -> Iterator[str]:
    if isinstance(first, dict) and isinstance(second, dict):
        for key in {**first, **second}:
            if key in first and key in second:
                yield from _changes(first[key], second[key], f"{place}/{key}")
            else:
                yield f"{place}/{key}"
    elif first != second or type(first) is not type(second):
        yield place


_VALUES: Any = st.recursive(
    st.sampled_from([None, True, 0, 1, 3, 1.0, 2.5, "", "a", "ab", "abc"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=100, deadline=None)
@given(_documents(), st.lists(_VALUES, min_size=1, max_size=5))
def test_what_the_adapted_schema_admits_the_given_one_admits(
    schema: dict[str, Any], values: list[Any]
) -> None:
    adapted, notes = adapt(schema)
    try:
        compile_schema(adapted)
    except SchemaError:
        return
    # a property that is removed has to be put back: its value is in the note
    if any("can only be" in note.msg for note in notes):
        return
    validator_class = _VALIDATORS[schema["$schema"]]
    validator, given_validator = validator_class(adapted), validator_class(schema)
    for value in values:
        for document in ({"a": value}, {"a": value, "b": value}):
            if validator.is_valid(document):
                assert given_validator.is_valid(document)


@pytest.mark.parametrize("draft", _VALIDATORS)
@pytest.mark.parametrize(
    ("leaf", "value"),
    [
        ({"const": "x"}, "x"),
        ({"enum": [3]}, 3),
        ({"type": "null"}, None),
        ({"type": "integer", "minimum": 2, "maximum": 2}, 2),
        ({"type": "array", "maxItems": 0}, []),
    ],
)
def test_a_removed_property_put_back_is_admitted(draft: str, leaf: Any, value: Any) -> None:
    schema = {**_object(a=leaf, b={"type": "string"}), "required": ["a"], "$schema": draft}
    adapted, notes = adapt(schema)
    if "a" in adapted["properties"]:
        assert not notes
        return
    assert _VALIDATORS[draft](adapted).is_valid({"b": "x"})
    assert _VALIDATORS[draft](schema).is_valid({"b": "x", "a": value})


_KEYWORDS = st.sampled_from(
    "type enum const properties required items prefixItems contains minContains maxContains "
    "minItems additionalProperties patternProperties propertyNames dependentRequired "
    "dependencies allOf anyOf oneOf not if then $ref $defs $anchor $id $schema nullable example "
    "format minimum exclusiveMinimum multipleOf pattern unevaluatedItems additionalItems title "
    "minProperties maxProperties unevaluatedProperties minLength default".split()
) | st.text(max_size=3)
_JSON: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["string", "object", "array", "#", "#/$defs/a", "#/properties/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYWORDS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(_KEYWORDS, _JSON, max_size=4), _JSON)
def test_any_document_is_adapted_or_refused(keywords: dict[str, Any], leaf: Any) -> None:
    for schema in (keywords, _object(a=keywords), {**_object(a=leaf), "$defs": keywords}):
        try:
            adapted, _ = adapt(schema)
        except SchemaError:
            continue
        assert adapt(adapted) == (adapted, ())
