"""Rules that only an unusual schema reaches."""

from typing import Any

import pytest

from deg_schema.compile import compile_schema
from deg_schema.errors import SchemaError


def _problems(schema: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(SchemaError) as raised:
        compile_schema(schema)
    return [(problem.loc, problem.msg) for problem in raised.value.problems]


def test_a_required_name_stands_once() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "a"]}
    [(loc, message)] = _problems(schema)
    assert loc == "/required/1"
    assert "stands twice" in message


def test_a_schema_that_contains_itself_through_a_union_is_told_so() -> None:
    # a branch stands where its reference leads, so it is met again in its own place
    union = {"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}]}
    inner = {"type": "object", "properties": {"b": union}}
    definitions = {"x": {"$ref": "#/$defs/y", "maxLength": 1}, "y": inner}
    found = _problems({"type": "object", "properties": {"a": union}, "$defs": definitions})
    assert any("contains itself" in message for _, message in found)


def test_levels_are_not_labelled_beside_an_enum() -> None:
    leaf = {"type": "integer", "enum": [1, 2], "x-levels": {"1": "low"}}
    [(loc, message)] = _problems({"type": "object", "properties": {"a": leaf}})
    assert loc == "/properties/a/x-levels"
    assert "only for bounds" in message
