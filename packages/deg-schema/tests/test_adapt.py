import copy
import dataclasses
import datetime
import decimal
import enum
import json
import uuid
from typing import Annotated, Any, Literal, NotRequired

import msgspec
import pydantic
import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator
from typing_extensions import TypedDict

from deg_schema import Note, SchemaError, adapt, compile_schema
from deg_schema.plan import FieldPlan


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _adapted(leaf: Any, **more: Any) -> Any:
    schema, _ = adapt({**_object(a=leaf, z={"type": "boolean"}), **more})
    return schema["properties"].get("a", "removed")


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
        ({"type": ["array", "null"]}, {"type": "array"}),
        ({"type": "object", "additionalProperties": {"type": "string"}}, {"type": "object"}),
        ({"type": "object", "unevaluatedProperties": False}, {"type": "object"}),
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
        {"type": "array", "items": {"type": "string"}},
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


def test_a_conflict_is_told() -> None:
    _, notes = adapt(_object(a={"allOf": [{"type": "string"}, {"type": "integer"}]}))
    assert [note.loc for note in notes] == ["/properties/a"]


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


@pytest.mark.parametrize(
    "schema",
    [
        _object(a={"$ref": "#"}, b={}),
        {**_object(a={"$ref": "#/$defs/x"}), "$defs": {"x": {"allOf": [{"$ref": "#/$defs/x"}]}}},
        _object(a={"$ref": "#/properties/b"}, b={"$ref": "#/properties/a"}),
        _object(a=_object(b={"$ref": "#/properties/c"}), c=_object(d={"$ref": "#/properties/a"})),
    ],
)
def test_recursion_is_left_to_compile(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        compile_schema(adapt(schema)[0])


def test_doubling_references_stop() -> None:
    definitions: dict[str, Any] = {"d0": {"x-vendor": 1}}
    for i in range(20):
        reference = {"$ref": f"#/$defs/d{i}"}
        definitions[f"d{i + 1}"] = {"allOf": [reference, reference]}
    schema = {**_object(a={"$ref": "#/$defs/d20"}), "$defs": definitions}
    adapted, [note] = adapt(schema)
    assert adapted == schema
    assert "10000 parts" in note.msg


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


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Only(enum.Enum):
    ONE = "one"


@dataclasses.dataclass
class Address:
    street: str
    number: int | None = None


class Totals(TypedDict):
    net: float
    tax: NotRequired[int]


class Order(pydantic.BaseModel):
    kind: Literal["order"]
    only: Only
    color: Color
    hue: Color | None = None
    size: Literal["s", "m"] = "m"
    due: datetime.date
    seen: datetime.datetime | None = None
    at: datetime.time
    took: datetime.timedelta
    number: uuid.UUID
    other: pydantic.UUID4
    link: pydantic.AnyUrl
    total: decimal.Decimal
    tax: decimal.Decimal | None = None
    stars: Annotated[int, pydantic.Field(ge=1, le=5)]
    share: pydantic.PositiveFloat
    address: Address
    billing: Address | None = None
    totals: Totals
    raw: bytes
    what: Any
    mail: Annotated[str, pydantic.Field(json_schema_extra={"format": "email", "x-order": 3})]
    text: int | str
    extra: dict[str, int] = {}


class Structured(msgspec.Struct, tag="structured"):
    color: Color
    hue: Color | None
    size: Literal["s", "m"]
    due: datetime.date
    number: uuid.UUID
    total: decimal.Decimal
    stars: Annotated[int, msgspec.Meta(ge=1, le=5, extra_json_schema={"x-order": 3})]
    address: Address
    totals: Totals
    raw: bytes
    what: Any
    text: int | str | None
    only: Only = Only.ONE
    billing: Address | None = None
    took: datetime.timedelta | None = None


def test_pydantic_models_compile() -> None:
    fields = _fields(Order.model_json_schema())
    assert fields.keys() >= {"color", "billing/street", "totals/tax", "what", "mail", "text"}
    assert "kind" not in fields
    assert "only" not in fields
    assert fields["hue"].options == ("red", "blue", None)
    assert (fields["total"].mode, fields["total"].nullable) == ("extract.number", False)
    assert (fields["tax"].mode, fields["tax"].nullable) == ("extract.number", True)
    assert fields["other"].format == "uuid"
    assert fields["mail"].format == "email"
    assert fields["stars"].levels == (1, 2, 3, 4, 5)


def test_pydantic_models_compile_as_they_are_written() -> None:
    assert "total" in _fields(Order.model_json_schema(mode="serialization"))


def test_msgspec_structs_compile() -> None:
    fields = _fields(msgspec.json.schema(Structured))
    assert fields.keys() >= {"color", "billing/street", "totals/tax", "what", "text", "took"}
    assert "only" not in fields
    assert "type" not in fields
    assert fields["hue"].nullable
    assert fields["number"].format == "uuid"


@pytest.mark.parametrize("kind", [Address, Totals])
def test_dataclasses_and_typed_dicts_compile(kind: Any) -> None:
    assert len(_fields(pydantic.TypeAdapter(kind).json_schema())) == 2
    assert len(_fields(msgspec.json.schema(kind))) == 2


_GOOD = st.sampled_from(
    [
        {"type": "string"},
        {"type": ["string", "null"], "format": "date", "title": "T", "default": None},
        {"type": "boolean"},
        {"type": "integer", "minimum": 0, "maximum": 3, "x-levels": {"0": "low"}},
        {"enum": ["a", 1, None]},
        {"oneOf": [{"const": "a", "description": "d"}, {"const": "b"}]},
        {"anyOf": [{"type": "number"}, {"type": "null"}], "examples": [1]},
        {"$ref": "#/$defs/d", "description": "x"},
        {"type": "string", "x-generate": True},
    ]
)


@given(
    st.dictionaries(
        st.text(max_size=3), st.recursive(_GOOD, lambda s: s.map(lambda x: _object(a=x)))
    )
)
def test_good_schemas_stay_as_they_are(properties: dict[str, Any]) -> None:
    schema = {**_object(**properties), "$defs": {"d": {"type": "string"}}}
    compile_schema(schema)
    assert adapt(schema) == (schema, ())


_TYPES = st.sampled_from(["string", "number", "integer", "boolean", "null", "object", "array"])
_SCALARS = st.sampled_from([None, True, False, 0, 1, 1.0, 2.5, 7, "", "a", "ab"])
_SMALL = st.sampled_from([0, 1, 2, 5])


def _schemas(inner: Any) -> Any:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": _TYPES | st.lists(_TYPES, max_size=3, unique=True),
            "enum": st.lists(_SCALARS, max_size=3),
            "const": _SCALARS,
            "minimum": _SMALL,
            "maximum": _SMALL,
            "minLength": _SMALL,
            "title": st.just("t"),
            "x-vendor": st.just(1),
            "anyOf": st.lists(inner, max_size=3),
            "oneOf": st.lists(inner, max_size=3),
            "allOf": st.lists(inner, max_size=2),
            "properties": st.dictionaries(st.sampled_from("abz"), inner, max_size=2),
            "required": st.lists(st.sampled_from("abz"), max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "items": inner,
            "not": inner,
            "$ref": st.sampled_from(["#/$defs/d", "#/$defs/e", "#/properties/a", "#"]),
        },
    )


_MESSY: Any = st.recursive(st.just({}) | st.booleans(), _schemas, max_leaves=8)


@settings(max_examples=300, deadline=None)
@given(_MESSY, _MESSY, _MESSY)
def test_adapting_twice_changes_nothing_more(a: Any, b: Any, d: Any) -> None:
    schema = {**_object(a=a, b=b), "$defs": {"d": d, "e": {"const": 1}}}
    before = copy.deepcopy(schema)
    once, notes = adapt(schema)
    assert schema == before
    assert adapt(once)[0] == once
    assert json.loads(json.dumps(once)) == once
    assert all(type(note) is Note for note in notes)


_VALUES: Any = (
    None,
    True,
    0,
    1,
    3,
    1.0,
    2.5,
    "",
    "a",
    "ab",
    "abc",
    {},
    {"a": 1},
    {"a": "a", "b": None},
)


@settings(max_examples=300, deadline=None)
@given(_MESSY, _MESSY)
def test_what_the_adapted_schema_admits_the_given_one_admits(a: Any, d: Any) -> None:
    schema = {**_object(a=a), "required": ["a"], "$defs": {"d": d, "e": {"const": 1}}}
    adapted, _ = adapt(schema)
    if "a" not in adapted["properties"]:
        return
    try:
        compile_schema(adapted)
    except SchemaError:
        return
    given_validator, validator = Draft202012Validator(schema), Draft202012Validator(adapted)
    for value in _VALUES:
        if not isinstance(value, dict) and validator.is_valid({"a": value}):
            assert given_validator.is_valid({"a": value})
