"""Schemas of types, as the libraries that people use print them."""

import dataclasses
import datetime
import decimal
import enum
import uuid
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional

import msgspec
import pydantic
import pytest
from typing_extensions import TypedDict

from deg_schema import SchemaError, adapt, compile_schema
from deg_schema.plan import FieldPlan


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Priority(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Only(enum.Enum):
    ONE = "one"


@dataclasses.dataclass
class Address:
    street: str
    number: int | None = None
    tags: list[str] = dataclasses.field(default_factory=list)


class Totals(TypedDict):
    net: float
    tax: NotRequired[int]


class Point(NamedTuple):
    x: float
    y: float


class Mixed(NamedTuple):
    x: float
    name: str


class Line(pydantic.BaseModel):
    kind: Literal["line"] = "line"
    name: str
    price: decimal.Decimal
    quantity: Annotated[int, pydantic.Field(ge=1)] = 1


class Order(pydantic.BaseModel):
    kind: Literal["order"]
    only: Only
    color: Color
    hue: Color | None = None
    size: Literal["s", "m"] = "m"
    priority: Priority = Priority.LOW
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
    code: Annotated[str, pydantic.Field(min_length=2, max_length=5, pattern="^[A-Z]+$")]
    address: Address
    billing: Address | None = None
    totals: Totals
    lines: list[Line]
    old_lines: list[Line] | None = None
    maybe: list[Line | None] = []
    tags: set[str] = set()
    grid: list[list[int]] = []
    size_of: tuple[int, int] = (1, 1)
    corners: tuple[float, ...] = ()
    at_point: Point | None = None
    marks: Annotated[list[Color], pydantic.Field(min_length=1, max_length=3)]
    names: str | list[str]
    raw: bytes
    what: Any
    everything: list[Any] = []
    mail: Annotated[str, pydantic.Field(json_schema_extra={"format": "email", "x-order": 3})]
    text: int | str
    extra: dict[str, int] = {}
    by_color: dict[Color, int] = {}


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
    lines: list[Address]
    size_of: tuple[int, int]
    raw: bytes
    what: Any
    text: int | str | None
    names: Annotated[list[str], msgspec.Meta(min_length=1)]
    only: Only = Only.ONE
    billing: Address | None = None
    old_lines: list[Address] | None = None
    at_point: Point | None = None
    took: datetime.timedelta | None = None
    extra: dict[str, float] = {}


class Person(pydantic.BaseModel):
    name: str
    children: list["Person"] = []
    parent: Optional["Person"] = None


class Node(msgspec.Struct):
    name: str
    children: list["Node"] = []
    parent: Optional["Node"] = None


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]
    bark: str


class Tagged(msgspec.Struct, tag="a"):
    x: int


class OtherTagged(msgspec.Struct, tag="b"):
    y: int


def _fields(schema: dict[str, Any]) -> dict[str, FieldPlan]:
    adapted, notes = adapt(schema)
    assert (adapted != schema) == bool(notes)
    assert adapt(adapted) == (adapted, ())
    return {"/".join(field.path): field for field in compile_schema(adapted).fields}


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
    assert fields["code"].constraints.max_length == 5
    assert fields["stars"].levels == (1, 2, 3, 4, 5)
    assert fields["priority"].options == (1, 2)


def test_arrays_of_pydantic_models_compile() -> None:
    fields = _fields(Order.model_json_schema())
    lines = {path for path in fields if path.startswith("lines/")}
    assert lines == {"lines/*/name", "lines/*/price", "lines/*/quantity"}
    assert fields["lines/*/price"].mode == "extract.number"
    assert "maybe/*/name" in fields
    assert fields["marks/*"].options == ("red", "blue")
    assert fields["size_of/*"].type == fields["grid/*/*"].type == "integer"
    assert fields["at_point/*"].type == fields["corners/*"].type == "number"
    assert fields["names"].type == fields["everything/*"].type == "string"
    assert "address/tags/*" in fields


def test_keys_of_an_enum_are_named_and_others_are_not() -> None:
    paths = _fields(Order.model_json_schema()).keys()
    assert {"by_color/red", "by_color/blue"} <= paths
    assert not any(path.startswith("extra") for path in paths)


def test_pydantic_models_compile_as_they_are_written() -> None:
    assert "total" in _fields(Order.model_json_schema(mode="serialization"))


def test_msgspec_structs_compile() -> None:
    fields = _fields(msgspec.json.schema(Structured))
    assert fields.keys() >= {"color", "billing/street", "totals/tax", "what", "text", "took"}
    assert fields.keys() >= {"lines/*/street", "lines/*/tags/*", "old_lines/*/number", "names/*"}
    assert "only" not in fields
    assert "type" not in fields
    assert fields["hue"].nullable
    assert fields["number"].format == "uuid"
    assert fields["size_of/*"].type == "integer"


@pytest.mark.parametrize("kind", [Address, Totals, Person, Line])
def test_models_compile_through_a_type_adapter(kind: Any) -> None:
    assert _fields(pydantic.TypeAdapter(kind).json_schema())


@pytest.mark.parametrize("kind", [Address, Totals, Node])
def test_dataclasses_and_typed_dicts_compile_through_msgspec(kind: Any) -> None:
    assert _fields(msgspec.json.schema(kind))


@pytest.mark.parametrize(
    "schema", [pydantic.TypeAdapter(Person).json_schema(), msgspec.json.schema(Node)]
)
def test_recursive_models_keep_their_first_level(schema: dict[str, Any]) -> None:
    assert _fields(schema).keys() == {"name"}
    told = [note.msg for note in adapt(schema)[1] if "recursive" in note.msg]
    assert len(told) == 2


def _pydantic_schema(kind: Any) -> dict[str, Any]:
    return pydantic.create_model("Model", a=(kind, ...)).model_json_schema()


def _msgspec_schema(kind: Any) -> dict[str, Any]:
    return msgspec.json.schema(msgspec.defstruct("Model", [("a", kind)]))


@pytest.mark.parametrize(
    ("print_schema", "kind", "place"),
    [
        (
            _pydantic_schema,
            Annotated[Cat | Dog, pydantic.Field(discriminator="kind")],
            "/properties/a/oneOf",
        ),
        (_pydantic_schema, list[Cat | Dog], "/properties/a/items/anyOf"),
        (_pydantic_schema, Cat | str, "/properties/a/anyOf"),
        (_pydantic_schema, bool | str, "/properties/a/anyOf"),
        (_pydantic_schema, tuple[int, str], "/properties/a/prefixItems"),
        (_pydantic_schema, Mixed, "/$defs/Mixed/prefixItems"),
        (_pydantic_schema, list[None], "/properties/a/items/type"),
        (_msgspec_schema, Tagged | OtherTagged, "/$defs/Model/properties/a/anyOf"),
    ],
)
def test_what_has_no_one_meaning_is_a_problem_in_its_place(
    print_schema: Callable[[Any], dict[str, Any]], kind: Any, place: str
) -> None:
    adapted, _ = adapt(print_schema(kind))
    with pytest.raises(SchemaError) as raised:
        compile_schema(adapted)
    assert [problem.loc for problem in raised.value.problems] == [place]


@pytest.mark.parametrize("kind", [list[Line], dict[str, int], int])
def test_a_root_that_is_no_object_is_a_problem(kind: Any) -> None:
    adapted, _ = adapt(pydantic.TypeAdapter(kind).json_schema())
    if adapted["type"] == "object":
        assert compile_schema(adapted).fields == ()
        return
    with pytest.raises(SchemaError, match="root"):
        compile_schema(adapted)
