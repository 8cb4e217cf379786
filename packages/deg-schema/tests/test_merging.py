from typing import Any

import pytest

from deg_schema.merging import Conflict, is_same, merge, merge_within


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        ({"type": "number"}, {"type": "integer"}, {"type": "integer"}),
        ({"type": ["string", "null"]}, {"type": ["null", "object"]}, {"type": "null"}),
        ({"minimum": 1, "maximum": 9}, {"minimum": 2}, {"minimum": 2, "maximum": 9}),
        ({"maxItems": 3}, {"maxItems": 2, "minItems": 1}, {"maxItems": 2, "minItems": 1}),
        ({"multipleOf": 4}, {"multipleOf": 6}, {"multipleOf": 12}),
        ({"multipleOf": 0.5}, {"multipleOf": 1.5}, {"multipleOf": 1.5}),
        ({"enum": [1, True, "a"]}, {"enum": ["a", True]}, {"enum": [True, "a"]}),
        ({"required": ["a"]}, {"required": ["b", "a"]}, {"required": ["a", "b"]}),
        ({"title": "T"}, {"title": "U", "description": "D"}, {"title": "T", "description": "D"}),
        ({"items": {"minimum": 1}}, {"items": True}, {"items": {"minimum": 1}}),
        ({"items": {"minimum": 1}}, {"items": False}, {"items": False}),
        ({"items": {"a": 1}}, {"items": {"b": 1}}, {"items": {"allOf": [{"a": 1}, {"b": 1}]}}),
        ({"uniqueItems": False}, {"uniqueItems": True}, {"uniqueItems": True}),
        ({"type": "string"}, {"$comment": "c", "$defs": {}}, {"type": "string"}),
    ],
)
def test_merge(first: dict[str, Any], second: dict[str, Any], merged: dict[str, Any]) -> None:
    assert merge(first, second) == merged


@pytest.mark.parametrize(
    ("first", "second", "is_empty"),
    [
        ({"type": "string"}, {"type": "integer"}, True),
        ({"enum": [1]}, {"enum": [True]}, True),
        ({"pattern": "a"}, {"pattern": "b"}, False),
        ({"multipleOf": 0.4}, {"multipleOf": 0.3}, False),
        ({"items": {}}, {"prefixItems": [{}]}, False),
        ({"contains": {}}, {"minContains": 0}, False),
        ({"if": {}}, {"then": {}}, False),
        ({"patternProperties": {"a": {}}}, {"additionalProperties": False}, False),
        ({"additionalProperties": False}, {"properties": {"a": {}}}, False),
        ({"properties": {"a": {}}}, {"unevaluatedProperties": False}, False),
        ({"unevaluatedItems": False}, {"minItems": 1}, False),
        ({"enum": [[1]]}, {"enum": [[2]]}, False),
    ],
)
def test_a_conflict_says_whether_no_value_is_left(
    first: dict[str, Any], second: dict[str, Any], is_empty: bool
) -> None:
    for schema, other in ((first, second), (second, first)):
        with pytest.raises(Conflict) as raised:
            merge(schema, other)
        assert raised.value.is_empty == is_empty


def test_what_stands_around_all_of_sees_its_branches() -> None:
    outer = {"properties": {"a": {}}, "unevaluatedProperties": False}
    merged = merge_within(outer, [{"properties": {"b": {}}}])
    assert merged == {"properties": {"a": {}, "b": {}}, "unevaluatedProperties": False}
    with pytest.raises(Conflict):
        merge_within({"properties": {"b": {}}}, [outer])


def test_the_same_is_spelled_the_same() -> None:
    assert is_same({"a": 1}, {"a": 1})
    assert not is_same(1, 1.0)
    assert not is_same([1], [True])
