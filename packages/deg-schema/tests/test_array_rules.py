from typing import Any

import pytest

from deg_schema import SchemaError, adapt, compile_schema

_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}


def _adapted(leaf: dict[str, Any], draft: str | None = None) -> Any:
    schema = {"type": "object", "properties": {"a": leaf, "z": {"type": "boolean"}}}
    if draft is not None:
        schema["$schema"] = draft
    adapted, notes = adapt(schema)
    assert (adapted != schema) == bool(notes)
    return adapted["properties"].get("a", "removed")


def _array(**keywords: Any) -> dict[str, Any]:
    return {"type": "array", **keywords}


@pytest.mark.parametrize(
    ("leaf", "adapted"),
    [
        (_array(), _array(items=_TEXT)),
        (_array(items={}), _array(items=_TEXT)),
        (_array(items=True), _array(items=_TEXT)),
        (_array(items={"enum": ["a", "b"], "x-v": 1}), _array(items={"enum": ["a", "b"]})),
        (_array(items={"type": ["string", "integer"]}), _array(items=_TEXT)),
        (_array(items={"anyOf": [_WHOLE, _TEXT]}), _array(items=_WHOLE)),
        (
            _array(items={"anyOf": [_TEXT, _WHOLE, {"type": "null"}]}),
            _array(items={"anyOf": [_TEXT, {"type": "null"}]}),
        ),
        (_array(items={"allOf": [_WHOLE, {"minimum": 2}]}), _array(items={**_WHOLE, "minimum": 2})),
        (_array(items=_array()), _array(items=_array(items=_TEXT))),
        ({"minItems": 2}, _array(items=_TEXT, minItems=2)),
        ({"type": ["array", "null"]}, _array(items=_TEXT)),
        ({"anyOf": [_TEXT, _array(items=_TEXT)]}, _TEXT),
        ({"anyOf": [_array(items=_TEXT), _TEXT]}, _array(items=_TEXT)),
        (_array(items=False), "removed"),
        (_array(maxItems=0), "removed"),
        (_array(items=_TEXT, additionalItems=_WHOLE), _array(items=_TEXT)),
    ],
)
def test_what_becomes_of_items(leaf: dict[str, Any], adapted: Any) -> None:
    assert _adapted(leaf) == adapted


@pytest.mark.parametrize(
    ("leaf", "adapted"),
    [
        (_array(prefixItems=[_WHOLE, _WHOLE]), _array(items=_WHOLE)),
        (
            _array(prefixItems=[_WHOLE, _WHOLE], minItems=2, maxItems=2),
            _array(items=_WHOLE, minItems=2, maxItems=2),
        ),
        (_array(prefixItems=[_WHOLE, _WHOLE], items=False), _array(items=_WHOLE, maxItems=2)),
        (_array(prefixItems=[_WHOLE], items=_TEXT), _array(items=_WHOLE, maxItems=1)),
        (_array(prefixItems=[_WHOLE], items=_WHOLE), _array(items=_WHOLE)),
        (_array(prefixItems=[_WHOLE], unevaluatedItems=False), _array(items=_WHOLE, maxItems=1)),
        (_array(items=[_WHOLE, _WHOLE], additionalItems=False), _array(items=_WHOLE, maxItems=2)),
        (
            _array(prefixItems=[{**_WHOLE, "title": "X"}, {**_WHOLE, "title": "Y"}]),
            _array(items=_WHOLE),
        ),
        (
            _array(prefixItems=[{**_WHOLE, "title": "X"}, {**_WHOLE, "title": "X"}]),
            _array(items={**_WHOLE, "title": "X"}),
        ),
        (_array(prefixItems=[True, {}]), _array(items=_TEXT)),
    ],
)
def test_positions_that_are_alike_are_items(leaf: dict[str, Any], adapted: Any) -> None:
    assert _adapted(leaf) == adapted


@pytest.mark.parametrize(
    ("leaf", "adapted"),
    [
        (_array(contains=_WHOLE), _array(items=_WHOLE, minItems=1)),
        (_array(contains=_WHOLE, items=_WHOLE), _array(items=_WHOLE, minItems=1)),
        (
            _array(contains=_WHOLE, minContains=2, maxContains=4, minItems=3),
            _array(items=_WHOLE, minItems=3, maxItems=4),
        ),
        (_array(items=_TEXT, contains={}), _array(items=_TEXT, minItems=1)),
        (_array(items=_TEXT, contains=_WHOLE, minContains=0), _array(items=_TEXT)),
        (_array(items=_TEXT, minContains=2), _array(items=_TEXT)),
        (_array(unevaluatedItems=_WHOLE), _array(items=_WHOLE)),
        (_array(items=_TEXT, unevaluatedItems=False), _array(items=_TEXT)),
    ],
)
def test_contains_is_asked_of_every_item(leaf: dict[str, Any], adapted: Any) -> None:
    assert _adapted(leaf) == adapted


@pytest.mark.parametrize(
    "leaf",
    [
        _array(prefixItems=[_WHOLE, _TEXT]),
        _array(prefixItems=[_WHOLE, False]),
        _array(prefixItems=[_WHOLE], items=False, minItems=2),
        _array(items=_TEXT, contains=_WHOLE),
        _array(items=_TEXT, contains=_TEXT, minContains="1"),
        _array(items=False, minItems=1),
        _array(items="string"),
    ],
)
def test_what_cannot_be_said_of_every_item_is_left_to_compile(leaf: dict[str, Any]) -> None:
    assert _adapted(leaf) == leaf
    with pytest.raises(SchemaError):
        compile_schema({"type": "object", "properties": {"a": leaf}})


def test_older_drafts_have_no_contains_and_no_counts_of_it() -> None:
    leaf = _array(items=_TEXT, contains=_WHOLE, minContains=2)
    assert _adapted(leaf, "http://json-schema.org/draft-04/schema#") == _array(items=_TEXT)
    leaf = _array(contains=_WHOLE, minContains=2, unevaluatedItems=False)
    draft_7 = "http://json-schema.org/draft-07/schema#"
    assert _adapted(leaf, draft_7) == _array(items=_WHOLE, minItems=1)


def test_items_that_name_a_definition_are_adapted_there() -> None:
    line = {"type": "object", "properties": {"kind": {"const": "line"}, "price": {"minimum": 0}}}
    schema = {
        "type": "object",
        "properties": {"lines": _array(items={"$ref": "#/$defs/line"})},
        "$defs": {"line": line},
    }
    adapted, notes = adapt(schema)
    assert [field.path for field in compile_schema(adapted).fields] == [("lines", "*", "price")]
    assert {note.loc for note in notes} == {
        "/$defs/line/properties/kind",
        "/$defs/line/properties/price",
    }
