from typing import Any

import pytest

from deg_schema.adaptation import Adaptation
from deg_schema.admission import admits, surely_admits
from deg_schema.single_values import only_value


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"const": "x"}, ("x",)),
        ({"const": 3, "type": "integer", "minimum": 1}, (3,)),
        ({"const": {"a": 1}}, ({"a": 1},)),
        ({"const": [1], "type": "array"}, ([1],)),
        ({"enum": [None]}, (None,)),
        ({"enum": [True], "const": True}, (True,)),
        ({"type": "null"}, (None,)),
        ({"type": "integer", "minimum": 4, "exclusiveMaximum": 5}, (4,)),
        ({"type": "integer", "minimum": 1, "maximum": 6, "multipleOf": 4}, (4,)),
        ({"type": "array", "maxItems": 0}, ([],)),
        ({"$ref": "#/$defs/one"}, (1,)),
    ],
)
def test_one_value_is_found(schema: dict[str, Any], value: tuple[Any]) -> None:
    one = {"const": 1}
    adaptation = Adaptation({"$defs": {"one": one}}, 2020)
    adaptation.define("/$defs/one", one)
    assert only_value(adaptation, schema) == value


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"const": "x", "type": "integer"},
        {"const": "x", "pattern": "y"},
        {"const": "x", "minLength": "2"},
        {"const": 1, "enum": [True]},
        {"const": {"a": 1}, "required": ["b"]},
        {"const": [], "type": "object"},
        {"enum": ["a", "b"]},
        {"enum": [[1]]},
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"type": "integer", "minimum": 4, "maximum": 5},
        {"type": "integer", "minimum": 4, "maximum": 4, "not": {}},
        {"type": "array", "maxItems": 0, "minItems": 1},
        {"type": "array", "maxItems": 0, "contains": {}},
        {"type": "array", "maxItems": 0, "items": {"type": "string"}},
    ],
)
def test_none_or_several_are_no_single_value(schema: dict[str, Any]) -> None:
    assert only_value(Adaptation({}, 2020), schema) is None


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "number"}, 1, True),
        ({"type": "integer"}, 1.0, True),
        ({"type": "integer"}, True, False),
        ({"type": ["string", "null"]}, None, True),
        ({"exclusiveMinimum": 1}, 1, False),
        ({"multipleOf": 2}, 3, False),
        ({"maxLength": 1}, "ab", False),
        ({"maxLength": 1}, 12, True),
    ],
)
def test_admits(schema: dict[str, Any], value: Any, expected: bool) -> None:
    assert admits(schema, value, 2020) == expected


def test_an_integer_of_draft_4_is_written_as_one() -> None:
    assert not admits({"type": "integer"}, 1.0, 4)


def test_a_pattern_is_searched_where_it_can_be() -> None:
    adaptation = Adaptation({}, 2020)
    assert surely_admits(adaptation, {"pattern": "^a"}, "ab")
    assert not surely_admits(adaptation, {"pattern": "^a"}, "b")
    assert not surely_admits(adaptation, {"pattern": "("}, "b")
    assert surely_admits(adaptation, {"pattern": "^a"}, 1)
