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


@pytest.mark.parametrize(
    ("leaf", "loc", "words"),
    [
        ({"anyOf": [{"$ref": "#/$defs/self"}, {"const": 1}]}, "/$defs/self/$ref", "is recursive"),
        (
            {"oneOf": [{"const": 1, "enum": [1]}, {"const": 2}]},
            "/properties/a/oneOf/0",
            "'const' and 'enum' stand in one branch",
        ),
        (
            {"oneOf": [{"const": 1}, {"const": 2}], "type": "object"},
            "/properties/a/type",
            "'object' does not fit a choice",
        ),
        (
            {"oneOf": [{"const": 1, "type": []}, {"const": 2}]},
            "/properties/a/oneOf/0/type",
            "does not fit a choice",
        ),
    ],
)
def test_a_union_of_constants_without_sense_is_refused(
    leaf: dict[str, Any], loc: str, words: str
) -> None:
    definitions = {"self": {"$ref": "#/$defs/self"}}
    [(found, message)] = _problems(
        {"type": "object", "properties": {"a": leaf}, "$defs": definitions}
    )
    assert found == loc
    assert words in message


@pytest.mark.parametrize(
    ("leaf", "words"),
    [
        ({"type": "number", "minimum": 0, "exclusiveMinimum": 1}, "must be true or false"),
        ({"type": "number", "exclusiveMinimum": True}, "needs 'minimum' beside it"),
    ],
)
def test_exclusive_bounds_of_draft_4_are_flags_of_a_bound(leaf: dict[str, Any], words: str) -> None:
    draft = {"$schema": "http://json-schema.org/draft-04/schema#"}
    [(loc, message)] = _problems({"type": "object", "properties": {"a": leaf}} | draft)
    assert loc == "/properties/a/exclusiveMinimum"
    assert words in message


def test_a_keyword_with_a_typing_error_is_guessed() -> None:
    [(loc, message)] = _problems(
        {"type": "object", "properties": {"a": {"type": "string", "maxLenght": 3}}}
    )
    assert loc == "/properties/a/maxLenght"
    assert "did you mean 'maxLength'" in message


def test_a_pattern_has_a_length_that_can_be_read() -> None:
    leaf = {"type": "string", "pattern": "[" + "a" * 5000 + "]"}
    [(loc, message)] = _problems({"type": "object", "properties": {"a": leaf}})
    assert loc == "/properties/a/pattern"
    assert "longer than 4096 characters" in message
