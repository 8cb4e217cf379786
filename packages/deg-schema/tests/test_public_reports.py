import json
import time
from typing import Any

import pytest

from deg_schema.compile import compile_schema
from deg_schema.errors import SchemaError
from deg_schema.failure import Failure
from deg_schema.numbers import parse_number
from deg_schema.plan import FieldPlan


def test_six_problems_come_at_once() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"allOf": [{"type": "string"}]},
            "b": {"type": "string", "x-genrate": True},
            "c": {"type": "integer", "maxLength": 3},
            "d": {"type": "array", "prefixItems": [{"type": "string"}]},
            "e": {"type": "string", "format": "hostname"},
            "f": {"type": "object", "properties": {"g": {"not": {}}}},
        },
    }
    with pytest.raises(SchemaError) as raised:
        compile_schema(schema)
    assert [problem.loc for problem in raised.value.problems] == [
        "/properties/a/allOf",
        "/properties/b/x-genrate",
        "/properties/c/maxLength",
        "/properties/d/prefixItems",
        "/properties/e/format",
        "/properties/f/properties/g/not",
    ]


def test_a_recursive_reference_is_one_problem_at_the_reference() -> None:
    schema = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#"}}},
    }
    with pytest.raises(SchemaError) as raised:
        compile_schema(schema)
    [problem] = raised.value.problems
    assert problem.loc == "/properties/children/items/$ref"
    assert "recursive" in problem.msg


def test_a_reference_into_the_properties_plans_both_leaves() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"$ref": "#/properties/a"}},
    }
    assert [field.mode for field in compile_schema(schema).fields] == ["extract.number"] * 2


def test_forty_properties_compile_fast() -> None:
    kinds: list[dict[str, Any]] = [
        {"type": "string", "description": "what it says"},
        {"enum": ["a", "b", "c"]},
        {"type": "integer", "minimum": 1, "maximum": 5},
        {"type": ["string", "null"], "format": "date"},
    ]
    properties = {f"p{index}": kinds[index % 4] for index in range(40)}
    text = json.dumps({"type": "object", "properties": properties})
    seconds = []
    for _ in range(20):
        schema = json.loads(text)
        start = time.process_time()
        compile_schema(schema)
        seconds.append(time.process_time() - start)
    # fifty times the goal: the machine that runs the tests may be slow
    assert sorted(seconds)[10] < 0.05


@pytest.mark.parametrize("keyword", ["minimum", "maximum", "exclusiveMaximum", "multipleOf"])
@pytest.mark.parametrize("bound", [10**5000, -(10**5000), float("inf")], ids=["up", "down", "inf"])
def test_a_bound_beyond_every_number_is_a_problem_at_its_place(keyword: str, bound: object) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", keyword: bound}}}
    with pytest.raises(SchemaError) as raised:
        compile_schema(schema)
    [problem] = raised.value.problems
    assert problem.loc == f"/properties/n/{keyword}"
    assert "remove it where it is a bound" in problem.msg


def test_eight_thousand_digits_are_out_of_range() -> None:
    assert parse_number("7" * 8000) == Failure("out_of_range")


def _in_time(schema: object) -> list[FieldPlan] | list[tuple[str, str]]:
    start = time.process_time()
    try:
        return list(compile_schema(schema).fields)
    except SchemaError as error:
        return [(problem.loc, problem.msg) for problem in error.problems]
    finally:
        # twenty times the goal: a collection of garbage may fall into one of so many calls
        assert time.process_time() - start < 1


def _fields_of(**properties: object) -> list[FieldPlan]:
    found = _in_time({"type": "object", "properties": properties})
    fields = [field for field in found if isinstance(field, FieldPlan)]
    assert len(fields) == len(found)
    return fields


def test_a_pattern_and_a_length_stay_together() -> None:
    [field] = _fields_of(
        k={"type": "string", "x-generate": True, "pattern": "^a+$", "maxLength": 2}
    )
    assert (field.constraints.pattern, field.constraints.max_length) == ("^a+$", 2)


def test_a_pattern_too_short_for_its_length_is_one_problem() -> None:
    leaf = {"type": "string", "x-generate": True, "pattern": "^a{2}$", "minLength": 3}
    [(loc, message)] = _in_time({"type": "object", "properties": {"k": leaf}, "required": ["k"]})
    assert loc == "/properties/k"
    assert "'minLength' 3 together" in message


def test_generated_items_keep_their_constraints() -> None:
    items = {"type": "string", "pattern": "^[A-Z]+$", "maxLength": 4}
    [field] = _fields_of(k={"type": "array", "x-generate": True, "items": items})
    assert field.mode == "generate"
    assert (field.constraints.pattern, field.constraints.max_length) == ("^[A-Z]+$", 4)


def test_both_spellings_of_a_nullable_enum_have_the_same_options() -> None:
    branch = {"enum": ["male", "female"], "type": "string"}
    first, second = _fields_of(
        a={"anyOf": [branch, {"type": "null"}]},
        b={"enum": ["male", "female", None], "type": ["string", "null"]},
    )
    assert first.options == second.options == ("male", "female", None)
    assert first.on_null == second.on_null == "null"


def test_a_nullable_type_adds_no_option_to_an_enum() -> None:
    [field] = _fields_of(a={"type": ["string", "null"], "enum": ["x", "y"]})
    assert (field.options, field.nullable) == (("x", "y"), False)


def test_options_are_the_values_themselves() -> None:
    integers, mixed, texts = _fields_of(
        a={"type": "integer", "enum": [0, 1, 3]},
        b={"enum": [True, 1]},
        c={"enum": ["在线", "北京", "é", "e\u0301"]},
    )
    assert list(map(repr, integers.options)) == ["0", "1", "3"]
    assert list(map(repr, mixed.options)) == ["True", "1"]
    assert texts.options == ("在线", "北京", "é", "e\u0301")


@pytest.mark.parametrize(
    ("schema", "loc"),
    [
        ({"type": "strng"}, ""),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": "a"},
            "/required",
        ),
        (
            {"type": "object", "properties": {"a": {"type": "number", "minimum": "1"}}},
            "/properties/a/minimum",
        ),
        ({"type": "object", "properties": {"a": {"enum": {}}}}, "/properties/a/enum"),
        ({"type": "object", "properties": {"a": {"enum": [1, 1.0]}}}, "/properties/a/enum/1"),
        ({"type": "object", "properties": []}, "/properties"),
        ([], ""),
        ("x", ""),
        (None, ""),
        (True, ""),
    ],
)
def test_each_invalid_document_alone_is_one_problem(schema: object, loc: str) -> None:
    [(found, _)] = _in_time(schema)
    assert found == loc
