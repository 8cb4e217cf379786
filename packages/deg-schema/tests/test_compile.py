import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, strategies as st

from deg_schema.compile import compile_schema
from deg_schema.errors import SchemaError
from deg_schema.plan import FieldPlan, FillPlan


def _compile(leaf: object, **more: Any) -> FillPlan:
    return compile_schema({"type": "object", "properties": {"a": leaf}, **more})


def _field(leaf: object, **more: Any) -> FieldPlan:
    [field] = _compile(leaf, **more).fields
    return field


def _problems(schema: object) -> list[tuple[str, str]]:
    with pytest.raises(SchemaError) as raised:
        compile_schema(schema)
    return [(problem.loc, problem.msg) for problem in raised.value.problems]


def _refused(leaf: object, **more: Any) -> tuple[str, str]:
    [problem] = _problems({"type": "object", "properties": {"a": leaf}, **more})
    return problem


@pytest.mark.parametrize(
    ("leaf", "mode", "leaf_type"),
    [
        ({"enum": ["a", "b"]}, "decide.choice", "string"),
        ({"enum": [1, 2.5]}, "decide.choice", "number"),
        ({"enum": ["a", 1, None]}, "decide.choice", "any"),
        ({"oneOf": [{"const": "a"}, {"const": "b"}]}, "decide.choice", "string"),
        ({"type": "boolean"}, "decide.noul", "boolean"),
        ({"type": ["null", "boolean"]}, "decide.choice", "boolean"),
        ({"type": "integer", "minimum": 1, "maximum": 5}, "decide.score", "integer"),
        ({"type": "integer", "minimum": 0, "maximum": 11}, "extract.number", "integer"),
        ({"type": "integer", "minimum": 0}, "extract.number", "integer"),
        ({"type": "number", "minimum": 0, "maximum": 1}, "extract.number", "number"),
        ({"type": "string", "format": "date"}, "extract.date", "string"),
        ({"type": "string", "format": "date-time"}, "extract.date", "string"),
        ({"type": "string", "format": "email"}, "extract.span", "string"),
        ({"type": "string", "format": "uri"}, "extract.span", "string"),
        ({"type": "string", "format": "uuid"}, "extract.span", "string"),
        ({"type": "string", "x-generate": False}, "extract.span", "string"),
        ({"type": "string", "x-generate": True}, "generate", "string"),
    ],
)
def test_type_and_keywords_give_the_mode(leaf: dict[str, Any], mode: str, leaf_type: str) -> None:
    field = _field(leaf)
    assert (field.mode, field.type) == (mode, leaf_type)


@pytest.mark.parametrize(
    ("bounds", "levels"),
    [
        ({"minimum": 1, "maximum": 3}, (1, 2, 3)),
        ({"exclusiveMinimum": 0, "exclusiveMaximum": 3}, (1, 2)),
        ({"minimum": 0, "maximum": 100, "multipleOf": 25}, (0, 25, 50, 75, 100)),
        ({"minimum": -5, "maximum": 5, "multipleOf": 3}, (-3, 0, 3)),
        ({"minimum": 0.5, "maximum": 2.5}, (1, 2)),
        ({"minimum": 0, "maximum": 9, "multipleOf": 1.5}, (0, 3, 6, 9)),
        ({"minimum": 0, "maximum": 2, "multipleOf": 0.1}, (0, 1, 2)),
        ({"minimum": 10**20, "maximum": 10**20 + 1}, (10**20, 10**20 + 1)),
    ],
)
def test_the_levels_of_a_score(bounds: dict[str, Any], levels: tuple[int, ...]) -> None:
    assert _field({"type": "integer", **bounds}).levels == levels


def test_levels_carry_their_labels() -> None:
    leaf = {"type": "integer", "minimum": 0, "maximum": 2, "x-levels": {"0": "calm", "2": "angry"}}
    assert _field(leaf).level_labels == ("calm", None, "angry")


def test_a_nullable_score_has_one_more_outcome() -> None:
    field = _field({"type": ["integer", "null"], "minimum": 0, "maximum": 2})
    assert field.null_outcome
    assert field.on_null == "null"


@pytest.mark.parametrize(
    ("leaf", "required", "on_null"),
    [
        ({"type": "string"}, False, "omit"),
        ({"type": "string"}, True, "forbid"),
        ({"type": ["string", "null"]}, True, "null"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, False, "null"),
        ({"oneOf": [{"type": "null"}, {"type": "string"}]}, True, "null"),
    ],
)
def test_the_null_rule(leaf: dict[str, Any], required: bool, on_null: str) -> None:
    assert _field(leaf, required=["a"] if required else []).on_null == on_null


@pytest.mark.parametrize(
    ("leaf", "options"),
    [
        ({"type": ["string", "null"], "enum": ["x", "y"]}, ("x", "y")),
        ({"type": ["string", "null"], "enum": ["x", None]}, ("x", None)),
        ({"anyOf": [{"enum": ["x", "y"]}, {"type": "null"}]}, ("x", "y", None)),
        ({"anyOf": [{"const": "x"}, {"type": "null"}]}, ("x", None)),
        ({"anyOf": [{"enum": ["x", None]}, {"type": "null"}]}, ("x", None)),
        ({"anyOf": [{"type": "null"}, {"type": "boolean"}]}, (True, False, None)),
        ({"anyOf": [{"$ref": "#/$defs/Color"}, {"type": "null"}]}, ("red", "blue", None)),
        ({"anyOf": [{"$ref": "#/$defs/Yes"}, {"type": "null"}]}, (True, False, None)),
        ({"oneOf": [{"const": 1}, {"enum": [2, 3]}], "type": "integer"}, (1, 2, 3)),
        ({"enum": ["é", "e\u0301", True, 1]}, ("é", "e\u0301", True, 1)),
    ],
)
def test_the_options_of_a_choice(leaf: dict[str, Any], options: tuple[object, ...]) -> None:
    definitions = {"Color": {"enum": ["red", "blue"]}, "Yes": {"type": "boolean"}}
    field = _field(leaf, **{"$defs": definitions})
    assert [(type(value), value) for value in field.options] == [
        (type(value), value) for value in options
    ]
    assert field.nullable is (None in options)


def test_descriptions_of_branches_describe_the_options() -> None:
    branches = [{"const": "a", "description": "first"}, {"$ref": "#/$defs/B"}]
    field = _field({"oneOf": branches}, **{"$defs": {"B": {"const": "b", "description": "2nd"}}})
    assert field.option_descriptions == ("first", "2nd")


def test_the_description_of_a_nullable_enum_is_the_field_s() -> None:
    branch = {"enum": ["a", "b"], "description": "which"}
    field = _field({"anyOf": [branch, {"type": "null"}]})
    assert (field.description, field.option_descriptions) == ("which", (None, None, None))


def test_outer_texts_win_over_those_of_a_reference() -> None:
    target = {"type": "string", "title": "T", "description": "target"}
    leaf = {"$ref": "#/$defs/T", "description": "here"}
    field = _field(leaf, **{"$defs": {"T": target}})
    assert (field.title, field.description) == ("T", "here")


@pytest.mark.parametrize(
    ("reference", "more"),
    [
        ("#/$defs/a~1b", {"$defs": {"a/b": {"type": "boolean"}}}),
        ("#/$defs/a%20b", {"$defs": {"a b": {"type": "boolean"}}}),
        ("#/$defs/a~0b", {"$defs": {"a~b": {"type": "boolean"}}}),
        ("#here", {"$defs": {"x": {"$anchor": "here", "type": "boolean"}}}),
        (
            "#here",
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "definitions": {"x": {"$id": "#here", "type": "boolean"}},
            },
        ),
        ("#/$defs/one", {"$defs": {"one": {"$ref": "#/$defs/two"}, "two": {"type": "boolean"}}}),
    ],
)
def test_local_references_are_followed(reference: str, more: dict[str, Any]) -> None:
    assert _field({"$ref": reference}, **more).mode == "decide.noul"


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("#/$defs/none", "names nothing"),
        ("#none", "names nothing"),
        ("#/$defs/~2", "names nothing"),
        ("#/required/-1", "names nothing"),
        ("other.json", "is not local"),
        ("https://example.com/a", "is not local"),
        ("#/%zz", "percent-encoded"),
        ("#/%ff", "percent-encoded"),
        (5, "must be a string"),
        ("#", "is recursive"),
        ("#/properties/a", "is recursive"),
    ],
)
def test_other_references_are_refused(reference: object, message: str) -> None:
    loc, found = _refused({"$ref": reference})
    assert loc == "/properties/a/$ref"
    assert message in found


def test_siblings_of_a_reference_are_annotations() -> None:
    leaf = {"$ref": "#/$defs/x", "maxLength": 3, "default": "y"}
    loc, message = _refused(leaf, **{"$defs": {"x": {"type": "string"}}})
    assert loc == "/properties/a/maxLength"
    assert "does not apply" in message


def test_a_problem_behind_two_references_is_told_once() -> None:
    schema = {
        "type": "object",
        "$defs": {"x": {"type": "string", "not": {}}},
        "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#/$defs/x"}},
    }
    assert [loc for loc, _ in _problems(schema)] == ["/$defs/x/not"]


def test_a_reference_that_an_id_moves_is_refused() -> None:
    leaf = {"$id": "https://example.com/x", "type": "object", "properties": {"b": {"$ref": "#/y"}}}
    loc, message = _refused(leaf)
    assert loc == "/properties/a/properties/b/$ref"
    assert "remove that '$id'" in message


def test_unused_definitions_must_still_be_schemas() -> None:
    definitions = {"A": {"type": "strng"}, "B": 5, "C": {"allOf": [{"minLength": -1}]}}
    found = _problems({"type": "object", "$defs": definitions})
    assert [loc for loc, _ in found] == ["/$defs/A/type", "/$defs/B", "/$defs/C/allOf/0/minLength"]


def test_unused_definitions_may_use_what_is_not_supported() -> None:
    assert compile_schema({"type": "object", "$defs": {"A": {"not": {"const": 1}}}}).fields == ()


@pytest.mark.parametrize(
    ("leaf", "loc", "words"),
    [
        ({"allOf": [{"type": "string"}]}, "/allOf", "'allOf' is not supported; merge"),
        ({"const": "a"}, "/const", "nothing to decide"),
        ({"type": "string", "if": {}}, "/if", "'if' is not supported"),
        ({"type": "string", "x-genrate": True}, "/x-genrate", "'x-genrate' is unknown"),
        ({"type": "string", "nullable": True}, "/nullable", '[X, "null"]'),
        ({"type": "string", "colour": 1}, "/colour", "no keyword that we know"),
        ({"type": "string", "a/b": 1}, "/a~1b", "no keyword that we know"),
        ({"type": "integer", "maxLength": 3}, "/maxLength", "does not apply to type 'integer'"),
        ({"type": "boolean", "minimum": 3}, "/minimum", "does not apply to type 'boolean'"),
        ({"type": "string", "format": "hostname"}, "/format", "'hostname' is not checked"),
        ({"type": "string", "format": ["date"]}, "/format", "is not checked"),
        ({"type": "string", "title": 5}, "/title", "must be a string"),
        ({"type": "string", "examples": "x"}, "/examples", "must be an array"),
        ({"type": "string", "deprecated": 1}, "/deprecated", "must be true or false"),
        ({"type": "string", "$anchor": "1a"}, "/$anchor", "must be a name"),
        ({"type": "string", "$defs": []}, "/$defs", "an object of schemas"),
        ({"type": "strng"}, "/type", "'strng' is unknown"),
        ({"type": "null"}, "/type", "nothing to decide"),
        ({"type": ["string"]}, "/type", "several types"),
        ({"type": ["string", "number"]}, "/type", "several types"),
        ({"type": ["string", "null", "null"]}, "/type", "several types"),
        ({"type": [["string"], "null"]}, "/type", "several types"),
        ({"type": {}}, "/type", "is unknown"),
        ({}, "", "no 'type'"),
        ({"properties": {}}, "", "such as 'object'"),
        (True, "", "says nothing"),
        (5, "", "a schema is an object"),
        ({"type": ["object", "null"]}, "/type", "nullable object"),
        ({"type": "object", "additionalProperties": {}}, "/additionalProperties", "true or false"),
        ({"type": "object", "required": ["b"]}, "/required/0", "not in 'properties'"),
        ({"type": "object", "required": [5]}, "/required/0", "is a string"),
        ({"type": "object", "minProperties": 1}, "/minProperties", "not supported"),
        ({"type": "object", "x-generate": True}, "/x-generate", "plain string"),
        ({"type": "array", "items": {"type": "strng"}}, "/items/type", "'strng' is unknown"),
        ({"type": "array", "contains": {}}, "/contains", "not supported"),
    ],
)
def test_what_is_outside_the_contract_is_refused(leaf: object, loc: str, words: str) -> None:
    found_loc, message = _refused(leaf)
    assert found_loc == f"/properties/a{loc}"
    assert words in message


@pytest.mark.parametrize(
    ("leaf", "loc", "words"),
    [
        ({"enum": "ab"}, "/enum", "must be an array"),
        ({"enum": ["a"]}, "/enum", "here are 1"),
        ({"enum": []}, "/enum", "here are 0"),
        ({"enum": list(range(256))}, "/enum", "here are 256"),
        ({"enum": [1, 1.0]}, "/enum/1", "stands twice"),
        ({"enum": ["a", {}]}, "/enum/1", "an option is"),
        ({"type": "string", "enum": ["a", 1]}, "/enum/1", "not of 'type' 'string'"),
        ({"type": "string", "enum": ["a", None]}, "/enum/1", "not of 'type' 'string'"),
        ({"type": "integer", "enum": [1, 1.5]}, "/enum/1", "not of 'type' 'integer'"),
        ({"type": "integer", "enum": [0, True]}, "/enum/1", "not of 'type' 'integer'"),
        ({"type": "string", "enum": ["a", "bb"], "maxLength": 1}, "/enum/1", "'maxLength'"),
        ({"type": "integer", "enum": [1, 9], "maximum": 5}, "/enum/1", "'maximum'"),
        ({"type": "string", "enum": ["a@b.de", "a"], "format": "email"}, "/enum/1", "'format'"),
        ({"enum": ["a", "b"], "minLength": 1}, "/minLength", "does not apply"),
        ({"enum": ["a", "b"], "x-generate": True}, "/x-generate", "plain string"),
        ({"type": "string", "enum": ["a", "b"], "x-generate": True}, "/x-generate", "plain string"),
        ({"anyOf": []}, "/anyOf", "must be an array"),
        ({"anyOf": [5]}, "/anyOf/0", "a branch is a schema"),
        ({"anyOf": [{"type": "string"}]}, "/anyOf", "choose one schema"),
        ({"anyOf": [{"type": "string"}, {"type": "number"}]}, "/anyOf", "choose one schema"),
        ({"oneOf": [{"const": "a"}, {"const": "a"}]}, "/oneOf/1/const", "stands twice"),
        ({"oneOf": [{"enum": ["a", None]}, {"type": "null"}]}, "/oneOf/1", "stands twice"),
        ({"oneOf": [{"type": ["string", "null"]}, {"type": "null"}]}, "/oneOf", "write 'anyOf'"),
        ({"oneOf": [{"const": "a"}, {"const": 1}], "type": "string"}, "/oneOf/1/const", "'type'"),
        ({"anyOf": [{"const": "a", "type": "integer"}, {"const": 1}]}, "/anyOf/0/const", "'type'"),
        ({"anyOf": [{"const": "a", "pattern": "b"}, {"const": 1}]}, "/anyOf/0/pattern", "apply"),
        ({"anyOf": [{"type": "object"}, {"type": "null"}]}, "/anyOf/0/type", "nullable object"),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}], "maxLength": 3},
            "/maxLength",
            "does not apply",
        ),
    ],
)
def test_a_choice_or_union_outside_the_contract_is_refused(
    leaf: object, loc: str, words: str
) -> None:
    found_loc, message = _refused(leaf)
    assert found_loc == f"/properties/a{loc}"
    assert words in message


@pytest.mark.parametrize(
    ("leaf", "loc", "words"),
    [
        ({"type": "string", "minLength": -1}, "/minLength", "at least 0"),
        ({"type": "string", "minLength": 1.5}, "/minLength", "at least 0"),
        ({"type": "string", "minLength": True}, "/minLength", "at least 0"),
        ({"type": "string", "maxLength": None}, "/maxLength", "at least 0"),
        ({"type": "string", "maxLength": 0}, "/maxLength", "only the empty text"),
        ({"type": "string", "minLength": 3, "maxLength": 2}, "", "no string has"),
        ({"type": "string", "pattern": "("}, "/pattern", "never closed"),
        ({"type": "string", "pattern": 5}, "/pattern", "must be a string"),
        ({"type": "string", "pattern": "^a{2}$", "minLength": 3}, "", "no string meets"),
        ({"type": "string", "pattern": "abc", "maxLength": 2}, "", "no string meets"),
        ({"type": "number", "minimum": "1"}, "/minimum", "must be a number"),
        ({"type": "number", "minimum": True}, "/minimum", "must be a number"),
        ({"type": "number", "multipleOf": 0}, "/multipleOf", "greater than 0"),
        ({"type": "number", "minimum": 2, "maximum": 1}, "", "no number meets"),
        ({"type": "number", "minimum": 1, "exclusiveMaximum": 1}, "", "no number meets"),
        ({"type": "number", "minimum": 1, "maximum": 2, "multipleOf": 5}, "", "no number meets"),
        (
            {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.2, "multipleOf": 0.2},
            "",
            "no number meets",
        ),
        ({"type": "integer", "minimum": 2, "maximum": 2}, "", "admit 1 values"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, "", "admit 0 values"),
        ({"type": "integer", "minimum": 1, "maximum": 2, "multipleOf": 5}, "", "admit 0 values"),
        ({"type": "integer", "x-levels": {}}, "/x-levels", "needs bounds"),
        ({"type": "string", "x-levels": {}}, "/x-levels", "only for an integer"),
        ({"type": "string", "x-generate": "yes"}, "/x-generate", "true or false"),
        ({"type": "string", "x-generate": True, "format": "date"}, "/x-generate", "'format'"),
        ({"type": ["string", "null"], "x-generate": True}, "/x-generate", "never occurs"),
        ({"type": "integer", "x-generate": True}, "/x-generate", "plain string"),
        ({"type": "string", "x-max-tokens": 5}, "/x-max-tokens", "needs 'x-generate'"),
        (
            {"type": "string", "x-generate": True, "x-max-tokens": 0},
            "/x-max-tokens",
            "at least 1",
        ),
        ({"type": "number", "x-max-tokens": 5}, "/x-max-tokens", "only for"),
    ],
)
def test_constraints_without_sense_are_refused(leaf: object, loc: str, words: str) -> None:
    found_loc, message = _refused(leaf)
    assert found_loc == f"/properties/a{loc}"
    assert words in message


@pytest.mark.parametrize(
    ("labels", "loc", "words"),
    [
        ([], "", "must be an object"),
        ({"9": "x"}, "", "do not admit"),
        ({"01": "x"}, "", "do not admit"),
        ({"1": ""}, "/1", "is a text"),
        ({"1": 5}, "/1", "is a text"),
    ],
)
def test_labels_name_levels(labels: object, loc: str, words: str) -> None:
    leaf = {"type": "integer", "minimum": 0, "maximum": 2, "x-levels": labels}
    found_loc, message = _refused(leaf)
    assert found_loc == f"/properties/a/x-levels{loc}"
    assert words in message


@pytest.mark.parametrize(
    "root",
    [
        [],
        "x",
        None,
        True,
        5,
        {},
        {"type": "string"},
        {"type": ["object", "null"]},
        {"anyOf": [{"type": "object"}]},
        {"$ref": "#"},
        {"$ref": "#/$defs/A", "$defs": {"A": {"type": "string"}}},
        {"type": "object", "properties": []},
        {"type": "object", "required": "a"},
        {"type": "object", "$schema": "https://example.com/mine"},
        {"type": "object", "$schema": 7},
        {"type": "object", "$schema": "http://json-schema.org/draft-03/schema#"},
    ],
)
def test_the_root_is_an_object_of_a_known_draft(root: object) -> None:
    assert len(_problems(root)) == 1


def test_the_root_may_be_a_reference_to_an_object() -> None:
    target = {"type": "object", "properties": {"a": {"type": "boolean"}}}
    plan = compile_schema({"$ref": "#/$defs/A", "$defs": {"A": target}})
    assert [field.pointer for field in plan.fields] == ["/a"]


def test_a_root_without_type_shows_its_other_problems_too() -> None:
    found = _problems({"properties": {"a": {"type": "strng"}}})
    assert [loc for loc, _ in found] == ["", "/properties/a/type"]


def test_bounds_follow_draft_4() -> None:
    draft = {"$schema": "http://json-schema.org/draft-04/schema#"}
    leaf = {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "maximum": 2}
    assert _field(leaf, **draft).levels == (1, 2)
    bad = {"type": "number", "exclusiveMinimum": 1}
    assert _refused(bad, **draft)[0] == "/properties/a/exclusiveMinimum"


def test_fields_and_objects_come_in_schema_order() -> None:
    inner = {"type": "object", "properties": {"b": {"type": "string"}, "c": {"type": "object"}}}
    plan = _compile(inner, required=["a"])
    assert [field.path for field in plan.fields] == [("a", "b")]
    assert [
        (nested.path, nested.required, nested.start, nested.stop) for nested in plan.objects
    ] == [
        (("a",), True, 0, 1),
        (("a", "c"), False, 1, 1),
    ]


def _nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def _doubling(count: int) -> dict[str, Any]:
    both = {f"X{i}": {"$ref": f"#/$defs/X{i + 1}"} for i in range(count)}
    for i in range(count):
        reference = {"$ref": f"#/$defs/X{i + 1}"}
        both[f"X{i}"] = {"type": "object", "properties": {"a": reference, "b": reference}}  # type: ignore[dict-item]
    definitions = {**both, f"X{count}": {"type": "object"}}
    return {"type": "object", "$defs": definitions, "properties": {"x": {"$ref": "#/$defs/X0"}}}


@pytest.mark.parametrize(
    "schema",
    [
        _nested(60),
        _nested(5000),
        _doubling(20),
        _doubling(2000),
        {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(50_000)}},
        {"type": "object", "properties": {"a": {"enum": list(range(200_000))}}},
        {"type": "object", "description": "x" * 10_000_000},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "(" * 10_000}}},
        {"type": "object", "properties": {"a": {"type": "number", "maximum": float("nan")}}},
        {"type": "object", "properties": {"a": {"type": "number", "maximum": 10**5000}}},
        {"type": "object", "properties": {1: {"type": "string"}}},
        {"type": "object", "properties": {"\ud800": {"type": "string"}}},
    ],
    ids=range(12),
)
def test_what_is_too_large_or_no_json_is_a_problem_in_time(schema: object) -> None:
    start = time.process_time()
    assert _problems(schema)
    assert time.process_time() - start < 2


def test_a_schema_that_contains_itself_is_a_problem() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    schema["properties"]["a"] = schema
    assert "nests deeper" in _problems(schema)[0][1]


WORDS = (
    ["type", "properties", "required", "enum", "const", "anyOf", "oneOf", "$ref", "$defs"]
    + ["items", "minimum", "maxLength", "pattern", "format", "x-generate", "x-levels", "title"]
    + ["$id", "$anchor", "a"]
)
KEYS = st.sampled_from(WORDS)
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["object", "string", "integer", "null", "#", "#/$defs/a", "#/properties/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(ANYTHING, ANYTHING)
def test_any_document_gives_a_plan_or_problems(leaf: object, definition: object) -> None:
    schema = {"type": "object", "properties": {"a": leaf}, "$defs": {"a": definition}}
    for document in (leaf, schema):
        with suppress(SchemaError):
            compile_schema(document)
