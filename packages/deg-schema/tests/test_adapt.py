import copy
import time
from typing import Any

import pytest

from deg_schema import Note, SchemaError, adapt, compile_schema, obstacles
from deg_schema.plan import FieldPlan


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _adapted(leaf: Any, **more: Any) -> Any:
    schema, _ = adapt({**_object(a=leaf, z={"type": "boolean"}), **more})
    return schema["properties"].get("a", "removed")


_TEXT = {"type": "string"}


def _fields(schema: dict[str, Any]) -> dict[str, FieldPlan]:
    adapted, _ = adapt(schema)
    return {"/".join(field.path): field for field in compile_schema(adapted).fields}


@pytest.mark.parametrize(
    ("leaf", "adapted"),
    [
        ({}, {"type": "string"}),
        (True, {"type": "string"}),
        ({"minimum": 3}, {"type": "number", "minimum": 3}),
        ({"type": ["string"]}, {"type": "string"}),
        ({"type": ["number", "integer"]}, {"type": "number"}),
        ({"type": ["string", "integer", "null"]}, {"type": ["string", "null"]}),
        ({"type": "integer", "format": "int32"}, {"type": "integer"}),
        ({"type": "string", "format": "time"}, {"type": "string"}),
        ({"type": "string", "format": "uuid4"}, {"type": "string", "format": "uuid"}),
        ({"type": "integer", "maxLength": 3}, {"type": "integer"}),
        ({"type": "string", "x-order": 1, "example": "b"}, {"type": "string", "examples": ["b"]}),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "contentEncoding": "base64"}, {"type": "string"}),
        (
            {"type": "number", "exclusiveMinimum": True, "minimum": 0},
            {"type": "number", "exclusiveMinimum": 0},
        ),
        ({"enum": ["a", "b", "a"]}, {"enum": ["a", "b"]}),
        ({"type": "string", "enum": ["a", "b", 1]}, {"type": "string", "enum": ["a", "b"]}),
        ({"type": ["string", "integer"], "enum": ["a", 1]}, {"enum": ["a", 1]}),
        ({"type": ["object", "null"], "properties": {}}, {"type": "object", "properties": {}}),
        ({"type": ["array", "null"], "items": _TEXT}, {"type": "array", "items": _TEXT}),
        ({"anyOf": [{"type": "number"}, {"type": "string"}]}, {"type": "number"}),
        (
            {"anyOf": [{"type": "integer"}, {"type": "number"}], "title": "T"},
            {"type": "number", "title": "T"},
        ),
        ({"anyOf": [{"enum": ["a", "b"]}, {"type": "string"}]}, {"type": "string"}),
        ({"oneOf": [{"type": "string"}, {"type": "array"}]}, {"type": "string"}),
        (
            {"anyOf": [{"type": "string"}, {"type": "array"}, {"type": "null"}]},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
        ),
        ({"anyOf": [{"type": "object"}, {"type": "null"}]}, {"type": "object"}),
        (
            {"anyOf": [{"type": "array", "items": _TEXT}, {"type": "null"}], "default": None},
            {"type": "array", "items": _TEXT, "default": None},
        ),
        ({"type": "string", "if": {"const": "a"}, "prefixItems": [_TEXT]}, {"type": "string"}),
        ({"$ref": "#/$defs/one", "nullable": True}, "removed"),
        ({"allOf": [{"type": "integer"}, {"minimum": 3}]}, {"type": "integer", "minimum": 3}),
        ({"allOf": [{"$ref": "#/$defs/d"}], "title": "T"}, {"$ref": "#/$defs/d", "title": "T"}),
        ({"$ref": "#/$defs/d", "maxLength": 4}, {"type": "string", "maxLength": 4, "minLength": 2}),
        ({"const": "x"}, "removed"),
        ({"type": "string", "enum": ["x"]}, "removed"),
        ({"type": "null"}, "removed"),
        ({"type": "integer", "minimum": 4, "maximum": 4}, "removed"),
        ({"$ref": "#/$defs/one"}, "removed"),
    ],
)
def test_what_becomes_of_a_leaf(leaf: Any, adapted: Any) -> None:
    definitions = {"d": {"type": "string", "minLength": 2}, "one": {"const": "x"}}
    assert _adapted(leaf, **{"$defs": definitions}) == adapted


@pytest.mark.parametrize(
    "leaf",
    [
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
        {"type": "string", "not": {"const": "a"}},
        {"oneOf": [{"type": "number"}, {"type": "integer", "not": {"const": 3}}]},
        {"anyOf": [_object(a={"type": "string"}), _object(b={"type": "string"})]},
        {"oneOf": [{}, {"type": "null"}]},
        {"type": "string", "pattern": "("},
        {"$ref": "https://example.com/x"},
        {"type": "array", "items": {"const": 1}},
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]},
        {"type": "array", "items": {"type": "string"}, "contains": {"const": "a"}},
    ],
)
def test_what_cannot_be_said_is_left_to_compile(leaf: dict[str, Any]) -> None:
    assert _adapted(leaf) == leaf
    with pytest.raises(SchemaError):
        compile_schema(_object(a=leaf))


def test_a_removed_property_is_told_with_its_value() -> None:
    schema, notes = adapt({**_object(k={"const": "cat"}, n={"type": "string"}), "required": ["k"]})
    assert schema == _object(n={"type": "string"})
    [note] = notes
    assert note.loc == "/properties/k"
    assert "'cat'" in str(note)


@pytest.mark.parametrize(
    ("leaf", "loc", "reason"),
    [
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "", "'type' is both"),
        ({"anyOf": [_object(a=_TEXT), _object(b=_TEXT)]}, "/anyOf", "no one branch"),
        ({"type": "array", "prefixItems": [_TEXT, {"type": "number"}]}, "/prefixItems", "differ"),
    ],
)
def test_what_stays_is_no_change_but_has_a_reason(leaf: Any, loc: str, reason: str) -> None:
    schema, notes = adapt(_object(a=leaf))
    assert notes == ()
    [obstacle] = obstacles(schema)
    assert obstacle.loc == f"/properties/a{loc}"
    assert reason in obstacle.msg


def test_what_compiles_has_no_obstacles() -> None:
    assert obstacles(_object(a=_TEXT)) == ()


def test_closed_branches_of_all_of_are_not_merged() -> None:
    closed = {**_object(a={"type": "string"}), "additionalProperties": False}
    schema = {"type": "object", "allOf": [closed, _object(b={"type": "string"})]}
    assert adapt(schema)[0] == schema


def test_properties_of_all_of_are_merged_deeply() -> None:
    base = {"$ref": "#/$defs/base"}
    schema = {
        "allOf": [base, _object(n={"minimum": 0}, b={"type": "boolean"})],
        "$defs": {"base": {**_object(n={"type": "integer"}), "required": ["n"]}},
    }
    fields = _fields(schema)
    assert (fields["n"].type, fields["n"].constraints.minimum) == ("integer", 0)
    assert fields["n"].required
    assert not fields["b"].required


def test_a_reference_into_the_properties_is_written_out() -> None:
    schema, _ = adapt(_object(a={}, b={"$ref": "#/properties/a"}))
    assert schema["properties"]["b"] == {"type": "string"}


_NODE = {
    **_object(
        name=_TEXT,
        children={"type": "array", "items": {"$ref": "#/$defs/node"}},
        next={"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
        other={"$ref": "#/$defs/node"},
    ),
    "required": ["name", "children", "next"],
}


def test_recursion_is_cut_where_it_need_not_be() -> None:
    schema, notes = adapt({"$ref": "#/$defs/node", "$defs": {"node": _NODE}})
    node = {**_object(name=_TEXT), "required": ["name"], "additionalProperties": False}
    assert schema == {"$ref": "#/$defs/node", "$defs": {"node": node}}
    told = {note.loc.removeprefix("/$defs/node"): note.msg for note in notes}
    assert "recursive" in told["/properties/children/items"]
    assert "can only be []" in told["/properties/children"]
    assert "recursive" in told["/properties/next/anyOf/0"]
    assert "can only be null" in told["/properties/next"]
    assert "recursive" in told["/properties/other"]


@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        (_object(a={"$ref": "#"}, b={}), ["b"]),
        ({**_object(a={"$ref": "#/$defs/x"}, b={}), "$defs": {"x": {"$ref": "#/$defs/x"}}}, ["b"]),
        (_object(a={"allOf": [{"$ref": "#"}, {"required": ["b"]}]}, b={}), ["b"]),
        (_object(a=_object(b={"$ref": "#/properties/c"}), c=_object(d={"$ref": "#"})), []),
        (
            {
                **_object(p={"$ref": "#/$defs/parent"}, c={"$ref": "#/$defs/child"}),
                "$defs": {
                    "parent": _object(name=_TEXT, child={"$ref": "#/$defs/child"}),
                    "child": {**_object(of={"$ref": "#/$defs/parent"}), "required": ["of"]},
                },
            },
            ["p/name", "c/of/name"],
        ),
    ],
)
def test_what_is_left_of_recursion_compiles(schema: dict[str, Any], paths: list[str]) -> None:
    assert list(_fields(schema)) == paths


@pytest.mark.parametrize(
    "schema",
    [
        {**_object(a={"$ref": "#"}), "required": ["a"]},
        {**_object(a={"type": "array", "minItems": 1, "items": {"$ref": "#"}}), "required": ["a"]},
        {**_object(a={"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}), "required": ["a"]},
    ],
)
def test_what_must_hold_itself_is_left_to_compile(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        compile_schema(adapt(schema)[0])


def test_a_base_that_is_named_again_and_again_is_merged_once() -> None:
    definitions: dict[str, Any] = {"d0": {"type": "integer", "x-vendor": 1}}
    for i in range(20):
        reference = {"$ref": f"#/$defs/d{i}"}
        definitions[f"d{i + 1}"] = {"allOf": [reference, reference]}
    schema = {**_object(a={"$ref": "#/$defs/d20"}), "$defs": definitions}
    assert _fields(schema)["a"].type == "integer"


def test_doubling_references_stop() -> None:
    definitions: dict[str, Any] = {"d0": {"x-vendor": 1}}
    for i in range(20):
        reference = {"$ref": f"#/$defs/d{i}", "required": []}
        definitions[f"d{i + 1}"] = _object(a=reference, b=reference)
    schema = {**_object(a={"$ref": "#/$defs/d20", "required": []}), "$defs": definitions}
    assert adapt(schema) == (schema, ())
    assert "10000 parts" in obstacles(schema)[0].msg


def test_deep_schemas_are_adapted_as_deep_as_they_compile() -> None:
    schema: dict[str, Any] = {}
    for _ in range(120):
        schema = _object(a=schema)
    with pytest.raises(SchemaError):
        compile_schema(adapt(schema)[0])


@pytest.mark.parametrize("schema", [None, [], 1, {"a": float("nan")}, {1: 2}])
def test_what_is_no_schema_is_refused_as_compile_does(schema: Any) -> None:
    with pytest.raises(SchemaError) as compiled:
        compile_schema(schema)
    with pytest.raises(SchemaError) as adapted:
        adapt(schema)
    assert adapted.value.problems == compiled.value.problems


def test_a_base_that_is_merged_within_itself_comes_to_an_end() -> None:
    step = {"$ref": "#/$defs/f", "maxProperties": 3}
    schema = {
        **_object(a=step),
        "$defs": {"f": _object(a={"$ref": "#/$defs/f", "maxProperties": 2}, b=_TEXT)},
    }
    adapted, _ = adapt(schema)
    assert adapt(adapted) == (adapted, ())


def test_the_given_schema_is_left_as_it_is() -> None:
    schema = _object(a={"type": "array"}, b={"allOf": [{"$ref": "#/$defs/d"}, {"maxLength": 3}]})
    schema["$defs"] = {"d": {"type": "string", "x-order": 1}}
    before = copy.deepcopy(schema)
    adapt(schema)
    assert schema == before


def test_large_enums_take_little_time() -> None:
    schema = _object(a={"type": "string", "enum": [f"v{index}" for index in range(200_000)]})
    start = time.process_time()
    assert adapt(schema) == (schema, ())
    assert time.process_time() - start < 3


def test_notes_say_where_and_what() -> None:
    assert str(Note("", "m")) == "(root): m"
    assert str(Note("/a", "m")) == "/a: m"
