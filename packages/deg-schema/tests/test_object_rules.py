import time
from typing import Any

import pytest

from deg_schema import SchemaError, adapt, compile_schema, obstacles

_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}
_SLOW = "^(a|a)*$"


def _object(*required: str, **properties: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {**schema, "required": list(required)} if required else schema


def _closed(*required: str, **properties: Any) -> dict[str, Any]:
    return {**_object(*required, **properties), "additionalProperties": False}


def _adapted(leaf: dict[str, Any]) -> Any:
    schema = _object(a=leaf)
    adapted, notes = adapt(schema)
    assert (adapted != schema) == bool(notes)
    compile_schema(adapted)
    return adapted["properties"]["a"]


@pytest.mark.parametrize(
    ("leaf", "adapted"),
    [
        ({**_object(n=_TEXT), "additionalProperties": _WHOLE}, _closed(n=_TEXT)),
        (
            {"type": "object", "additionalProperties": {"title": "any"}, "x-v": 1},
            {"type": "object"},
        ),
        ({**_object(n=_TEXT), "unevaluatedProperties": False}, _closed(n=_TEXT)),
        ({**_object(n=_TEXT), "unevaluatedProperties": True}, _object(n=_TEXT)),
        ({**_closed(n=_TEXT), "unevaluatedProperties": _TEXT}, _closed(n=_TEXT)),
        ({**_object(n=_TEXT, m=False), "title": "T"}, {**_closed(n=_TEXT), "title": "T"}),
        ({**_object(n=_TEXT), "maxProperties": 1}, _closed(n=_TEXT)),
        ({**_object("n", n=_TEXT), "minProperties": 1}, _object("n", n=_TEXT)),
        ({"properties": {"n": _TEXT}}, _object(n=_TEXT)),
        ({"maxProperties": 2}, {"type": "object", "additionalProperties": False}),
    ],
)
def test_open_objects_are_closed_where_other_keys_have_a_rule(
    leaf: dict[str, Any], adapted: Any
) -> None:
    expected = adapted
    if leaf.get("additionalProperties") == {"title": "any"}:
        expected = {"type": "object", "additionalProperties": True}
    assert _adapted(leaf) == expected


@pytest.mark.parametrize(
    ("leaf", "adapted"),
    [
        ({"type": "object", "required": ["n"]}, _object("n", n=_TEXT)),
        (_object("n", "n", n=_WHOLE), _object("n", n=_WHOLE)),
        (
            {"type": "object", "required": ["n"], "additionalProperties": _WHOLE},
            _closed("n", n=_WHOLE),
        ),
    ],
)
def test_required_names_are_named_once_among_the_properties(
    leaf: dict[str, Any], adapted: Any
) -> None:
    assert _adapted(leaf) == adapted


@pytest.mark.parametrize(
    ("leaf", "adapted"),
    [
        (
            {**_object(n=_WHOLE, m=_TEXT), "patternProperties": {"^n": {"minimum": 2}}},
            _closed(n={**_WHOLE, "minimum": 2}, m=_TEXT),
        ),
        ({**_object(n=_WHOLE, m=_TEXT), "patternProperties": {"^n": False}}, _closed(m=_TEXT)),
        (
            {"type": "object", "patternProperties": {"^x-": _TEXT}},
            {"type": "object", "additionalProperties": False},
        ),
        ({**_object(n=_TEXT), "propertyNames": {"pattern": "^[a-z]$"}}, _closed(n=_TEXT)),
        ({**_object(n=_TEXT), "propertyNames": True}, _object(n=_TEXT)),
        (
            {
                "type": "object",
                "propertyNames": {"enum": ["red", "blue"]},
                "additionalProperties": _WHOLE,
            },
            _closed(red=_WHOLE, blue=_WHOLE),
        ),
    ],
)
def test_rules_of_names_are_said_of_the_names(leaf: dict[str, Any], adapted: Any) -> None:
    assert _adapted(leaf) == adapted


@pytest.mark.parametrize(
    ("leaf", "adapted"),
    [
        (
            {**_object("n", "m", n=_TEXT, m=_TEXT), "dependentRequired": {"n": ["m"]}},
            _closed("n", "m", n=_TEXT, m=_TEXT),
        ),
        ({**_object(n=_TEXT), "dependentSchemas": {"m": _object("k")}}, _closed(n=_TEXT)),
        ({**_object(n=_TEXT), "dependencies": {"m": ["n"]}}, _closed(n=_TEXT)),
    ],
)
def test_dependencies_that_ask_nothing_are_dropped(leaf: dict[str, Any], adapted: Any) -> None:
    assert _adapted(leaf) == adapted


@pytest.mark.parametrize(
    "leaf",
    [
        {**_object(n=_TEXT, m=_TEXT), "dependentRequired": {"n": ["m"]}},
        {**_object(n=_TEXT, m=_TEXT), "maxProperties": 1},
        {**_object(n=_TEXT), "minProperties": 1},
        {**_object(n=_TEXT), "propertyNames": {"maxLength": 0}},
        {**_object(n=_TEXT), "patternProperties": {"(": _TEXT}},
        {**_object(n=_TEXT), "patternProperties": {_SLOW: _TEXT}},
        {**_object(k={"const": "x"}, n=_TEXT), "maxProperties": 1},
    ],
)
def test_what_speaks_of_the_whole_object_is_left_to_compile(leaf: dict[str, Any]) -> None:
    schema = _object(a=leaf)
    assert adapt(schema) == (schema, ())
    with pytest.raises(SchemaError):
        compile_schema(schema)


def test_patterns_that_cannot_be_searched_are_a_reason() -> None:
    leaf = {**_object(n=_TEXT), "patternProperties": {"(": _TEXT}}
    [obstacle] = obstacles(_object(a=leaf))
    assert obstacle.loc == "/properties/a/patternProperties"
    assert "'('" in obstacle.msg


def test_many_slow_patterns_do_not_add_up() -> None:
    patterns = {f"^(a|a)*{'b' * index}$": _TEXT for index in range(200)}
    leaves = {
        f"p{index}": {"patternProperties": {name: _TEXT}, **_object(n=_TEXT)}
        for index, name in enumerate(patterns)
    }
    start = time.process_time()
    adapt(_object(**leaves))
    # one such pattern takes a twentieth of a second to find out
    assert time.process_time() - start < 5
