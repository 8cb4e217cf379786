from typing import Any

import pytest

from deg_schema.compile import compile_schema
from deg_schema.errors import SchemaError

DRAFT_4 = {"$schema": "http://json-schema.org/draft-04/schema#"}


def _document(definition: object, **more: Any) -> dict[str, Any]:
    return {"type": "object", "definitions": {"a": definition}, **more}


@pytest.mark.parametrize(
    ("keyword", "value", "expected"),
    [
        ("type", "strng", "one of string"),
        ("type", [], "one of string"),
        ("type", ["string", "string"], "one of string"),
        ("type", ["string", 5], "one of string"),
        ("enum", {}, "an array"),
        ("required", "a", "an array of different strings"),
        ("required", ["a", "a"], "an array of different strings"),
        ("required", [5], "an array of different strings"),
        ("minLength", -1, "an integer of at least 0"),
        ("maxContains", 1.5, "an integer of at least 0"),
        ("$ref", 5, "a string"),
        ("pattern", None, "a string"),
        ("title", [], "a string"),
        ("uniqueItems", 1, "true or false"),
        ("deprecated", "true", "true or false"),
        ("minimum", "1", "a number"),
        ("exclusiveMaximum", True, "a number"),
        ("multipleOf", 0, "a number greater than 0"),
        ("multipleOf", "2", "a number greater than 0"),
        ("properties", [], "an object of schemas"),
        ("patternProperties", {"a": 5}, "an object of schemas"),
        ("allOf", [], "an array of schemas"),
        ("anyOf", {}, "an array of schemas"),
        ("oneOf", [5], "an array of schemas"),
        ("items", [None], "an array of schemas"),
        ("items", "a", "a schema"),
        ("not", [], "a schema"),
        ("if", None, "a schema"),
    ],
)
def test_an_unused_definition_keeps_each_keyword_in_its_shape(
    keyword: str, value: object, expected: str
) -> None:
    with pytest.raises(SchemaError) as raised:
        compile_schema(_document({keyword: value}))
    [problem] = raised.value.problems
    assert problem.loc == f"/definitions/a/{keyword}"
    assert problem.msg.startswith(f"'{keyword}' must be {expected}")


def test_exclusive_bounds_of_an_unused_definition_follow_the_draft() -> None:
    compile_schema(_document({"exclusiveMinimum": True}, **DRAFT_4))
    with pytest.raises(SchemaError, match="must be true or false"):
        compile_schema(_document({"exclusiveMinimum": 1}, **DRAFT_4))


@pytest.mark.parametrize(
    "definition",
    [
        True,
        {"type": ["string", "null"], "enum": [], "required": [], "minLength": 2.0},
        {"items": [True, {}], "allOf": [{"not": {}}], "properties": {"b": False}},
        {"multipleOf": 0.1, "x-anything": 5, "const": None, "format": "any"},
    ],
)
def test_an_unused_definition_may_say_whatever_json_schema_says(definition: object) -> None:
    assert compile_schema(_document(definition)).fields == ()
