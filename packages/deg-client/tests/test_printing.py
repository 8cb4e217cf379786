from __future__ import annotations

import datetime
import enum
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    TypedDict,
    TypeVar,
)

import msgspec
import pytest
from msgspec import Meta

from deg_client import (
    Bounds,
    Choices,
    Description,
    Email,
    Generate,
    Levels,
    NotSent,
    Title,
    Uri,
    schema_of,
)

Item = TypeVar("Item")
Sku = NewType("Sku", str)


class Department(enum.Enum):
    TECHNICAL = "technical"
    BILLING = "billing"


class Priority(enum.IntEnum):
    LOW = 1
    HIGH = 5


class Single(enum.Enum):
    ONLY = "only"


class Empty(msgspec.Struct):
    pass


class Line(msgspec.Struct):
    """A line of an invoice, whose docstring is not for the model."""

    name: str
    price: Decimal | None = None


class Page(msgspec.Struct, Generic[Item]):
    items: list[Item]


class Tree(msgspec.Struct):
    name: str
    children: list[Tree] = []


class Packed(msgspec.Struct, array_like=True):
    name: str


class Renamed(msgspec.Struct, rename="camel"):
    order_number: str


class Tagged(msgspec.Struct, tag="line"):
    name: str


@dataclass
class LineClass:
    name: str
    notes: list[str] = field(default_factory=list)


class LineDict(TypedDict):
    price: float
    name: str
    extra: NotRequired[str]


class Pair(NamedTuple):
    left: int
    right: int


def printed(kind: Any) -> Any:
    """Return the schema of one field of type *kind*."""
    holder = msgspec.defstruct("Holder", [("it", kind)])
    schema = schema_of(holder)
    assert schema["type"] == "object"
    return schema["properties"]["it"]


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (str, {"type": "string"}),
        (str | None, {"type": ["string", "null"]}),
        (bool | None, {"type": ["boolean", "null"]}),
        (bool, {"type": "boolean"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (Decimal, {"type": "number"}),
        (datetime.date, {"type": "string", "format": "date"}),
        (datetime.datetime, {"type": "string", "format": "date-time"}),
        (datetime.datetime | None, {"type": ["string", "null"], "format": "date-time"}),
        (uuid.UUID, {"type": "string", "format": "uuid"}),
        (Email, {"type": "string", "format": "email"}),
        (Uri | None, {"type": ["string", "null"], "format": "uri"}),
        (Sku, {"type": "string"}),
        (Annotated[int, Meta(ge=1, le=5)], {"type": "integer", "minimum": 1, "maximum": 5}),
        (
            Annotated[int, Meta(gt=0, lt=90)] | None,
            {"type": ["integer", "null"], "exclusiveMinimum": 0, "exclusiveMaximum": 90},
        ),
        (
            Annotated[float, Meta(ge=0, multiple_of=0.5)],
            {"type": "number", "minimum": 0, "multipleOf": 0.5},
        ),
        (
            Annotated[Decimal, Bounds(ge=0, lt=10)],
            {"type": "number", "minimum": 0, "exclusiveMaximum": 10},
        ),
        (
            Annotated[str, Meta(min_length=2, max_length=9, pattern="^A")],
            {"type": "string", "minLength": 2, "maxLength": 9, "pattern": "^A"},
        ),
        (Department, {"enum": ["technical", "billing"]}),
        (Department | None, {"enum": ["technical", "billing", None]}),
        (Priority, {"enum": [1, 5]}),
        (Literal["a", None], {"enum": ["a", None]}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
        (Sequence[int], {"type": "array", "items": {"type": "integer"}}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (set[str], {"type": "array", "items": {"type": "string"}}),
        (list[float | None], {"type": "array", "items": {"type": ["number", "null"]}}),
        (
            Annotated[list[Annotated[str, Meta(max_length=9)]], Meta(min_length=1, max_length=3)],
            {
                "type": "array",
                "items": {"type": "string", "maxLength": 9},
                "minItems": 1,
                "maxItems": 3,
            },
        ),
        (
            list[Line],
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "price": {"type": ["number", "null"]},
                    },
                    "required": ["name"],
                },
            },
        ),
        (
            LineClass,
            {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "notes": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["name"],
            },
        ),
        (
            Renamed,
            {
                "type": "object",
                "properties": {"orderNumber": {"type": "string"}},
                "required": ["orderNumber"],
            },
        ),
        (
            Tagged,
            {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        ),
        (
            Page[Priority],
            {
                "type": "object",
                "properties": {"items": {"type": "array", "items": {"enum": [1, 5]}}},
                "required": ["items"],
            },
        ),
        (Empty, {"type": "object", "properties": {}}),
    ],
)
def test_types(kind: Any, schema: Any) -> None:
    assert printed(kind) == schema


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        (
            Annotated[str, Title("Order"), Description("The number of the order")],
            {"type": "string", "title": "Order", "description": "The number of the order"},
        ),
        (
            Annotated[str | None, Description("outside")],
            {"type": ["string", "null"], "description": "outside"},
        ),
        (
            Annotated[str, Description("inside")] | None,
            {"type": ["string", "null"], "description": "inside"},
        ),
        (
            Annotated[Annotated[str, Description("inside")] | None, Description("outside")],
            {"type": ["string", "null"], "description": "outside"},
        ),
        (Annotated[str, Generate()], {"type": "string", "x-generate": True}),
        (
            Annotated[str, Generate(max_tokens=40), Meta(max_length=200)],
            {"type": "string", "maxLength": 200, "x-generate": True, "x-max-tokens": 40},
        ),
        (
            Annotated[list[str], Generate()],
            {"type": "array", "items": {"type": "string"}, "x-generate": True},
        ),
        (
            Annotated[int, Levels({0: "calm", 2: "furious"})],
            {
                "type": "integer",
                "minimum": 0,
                "maximum": 2,
                "x-levels": {"0": "calm", "2": "furious"},
            },
        ),
        (
            Annotated[Department, Choices({"billing": "money", "technical": None})],
            {"oneOf": [{"const": "billing", "description": "money"}, {"const": "technical"}]},
        ),
        (
            Annotated[Literal["a", "b"], Choices({"a": "first", "b": "second"})] | None,
            {
                "oneOf": [
                    {"const": "a", "description": "first"},
                    {"const": "b", "description": "second"},
                    {"const": None},
                ]
            },
        ),
        (
            Annotated[Line, Description("The first line")],
            {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "price": {"type": ["number", "null"]},
                },
                "required": ["name"],
                "description": "The first line",
            },
        ),
    ],
)
def test_annotations(kind: Any, schema: Any) -> None:
    assert printed(kind) == schema


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Any, "Holder.it: its type leaves open what is asked"),
        (None, "None alone leaves nothing to ask"),
        (dict[str, int], "nobody names the keys of a dict; write a Struct"),
        (int | str, "a union leaves open what is asked"),
        (int | str | None, "a union leaves open what is asked"),
        (tuple[int, str], "items are not told by position"),
        (Pair, "a NamedTuple is sent without its names"),
        (datetime.time, "no parser reads a time of day"),
        (datetime.timedelta, "no parser reads a duration"),
        (bytes, "a context holds text, not bytes"),
        (complex, "complex is no type that a fill gives"),
        (msgspec.Raw, "it is no type that a fill gives"),
        (Tree, "Holder.it.children[]: it holds itself"),
        (Packed, "array_like sends no names"),
        (Line | None, "an object is never null; remove the None"),
        (list[str] | None, "an array is never null; remove the None, and allow an empty list"),
        (Annotated[datetime.datetime, Meta(tz=False)], "remove tz=False"),
        (Single, "a single option leaves nothing to ask"),
        (Literal["a"], "a single option leaves nothing to ask"),
        (enum.Enum("Big", {f"a{n}": f"{n}" for n in range(256)}), "at most 255 options"),
        (Annotated[int, Meta(ge=1, le=1)], "its bounds leave 1 values"),
        (Annotated[int, Meta(gt=1, lt=2)], "its bounds leave 0 values"),
        (Annotated[int, Meta(ge=1, le=9, multiple_of=5)], "its bounds leave 1 values"),
        (Annotated[float, Meta(ge=2, le=1)], "its bounds leave no number"),
        (Annotated[float, Meta(gt=1, le=1)], "its bounds leave no number"),
        (Annotated[int, Generate()], "'x-generate' cannot be added to this type"),
        (Annotated[str | None, Generate()], "Generate() always gives a text; remove the None"),
        (Annotated[datetime.date, Generate()], "Generate() writes plain text"),
        (Annotated[list[int], Generate()], "Generate() writes plain text"),
        (Annotated[str, Generate(max_tokens=0)], "'max_tokens' is at least 1, not 0"),
        (Annotated[str, Meta(extra_json_schema={"x-max-tokens": 5})], "add Generate()"),
        (Annotated[str, Meta(extra_json_schema={"x-genrate": True})], "'x-genrate' cannot be"),
        (Annotated[str, Meta(extra_json_schema={"type": "integer"})], "'type' cannot be added"),
        (Annotated[str, Meta(extra_json_schema={"format": "time"})], "'format' 'time' is not"),
        (Annotated[int, Levels({0: "calm", 20: "furious"})], "a scale of 2 to 11 integers"),
        (Annotated[int, Levels({0: "calm", 2: ""})], "give each level that they name a text"),
        (
            Annotated[int, Meta(ge=0, le=3, extra_json_schema={"x-levels": {"9": "b"}})],
            "name 9, which its bounds exclude",
        ),
        (Annotated[Department, Choices({"billing": "x"})], "and the type has"),
        (Annotated[int | None, Meta(ge=1)], "Holder.it: Can only set `ge` on a numeric type"),
    ],
)
def test_what_the_contract_refuses_is_refused_with_the_way_out(kind: Any, words: str) -> None:
    with pytest.raises(NotSent) as caught:
        printed(kind)
    assert words in str(caught.value)


class Parcel(msgspec.Struct):
    weight: Annotated[Decimal, Meta(ge=0)]


class Shipment(msgspec.Struct):
    number: str
    parcel: Parcel


class Sender(msgspec.Struct):
    name: str
    logo: bytes = msgspec.field(name="sender/logo", default=b"")


class Letter(msgspec.Struct):
    senders: list[Sender]
    extra: Any


def test_every_field_that_is_refused_is_named_with_its_place() -> None:
    with pytest.raises(NotSent) as caught:
        schema_of(Letter)
    first, second = caught.value.problems
    assert first.loc == "/schema/properties/senders/items/properties/sender~1logo"
    assert first.msg == "Letter.senders[].logo: a context holds text, not bytes; write str"
    assert second.loc == "/schema/properties/extra"


def test_what_msgspec_refuses_is_named_with_its_place() -> None:
    with pytest.raises(NotSent, match=r"Shipment\.parcel\.weight: Can only set `ge`") as caught:
        schema_of(Shipment)
    assert caught.value.problems[0].loc == "/schema/properties/parcel/properties/weight"


@pytest.mark.parametrize("kind", [list[str], str, dict[str, int], Pair, 3, "Invoice"])
def test_only_an_object_can_be_asked_for(kind: Any) -> None:
    with pytest.raises(NotSent, match="/schema: "):
        schema_of(kind)


def test_the_order_is_the_one_that_was_written() -> None:
    assert list(schema_of(LineDict)["properties"]) == ["price", "name", "extra"]
    assert schema_of(LineDict)["required"] == ["price", "name"]


class Rated(msgspec.Struct):
    size: Literal["small", "medium", "large"]
    sizes: list[Literal["small", "medium", "large"] | None]
    marks: Literal["z", "a"] | Literal[2, 1]


def test_options_keep_the_order_that_was_written() -> None:
    properties = schema_of(Rated)["properties"]
    assert properties["size"]["enum"] == ["small", "medium", "large"]
    assert properties["sizes"]["items"]["enum"] == ["small", "medium", "large", None]
    assert properties["marks"]["enum"] == ["z", "a", 2, 1]


@pytest.mark.parametrize("kind", [Line, LineClass, LineDict, Rated, Page[Line], Renamed])
def test_what_is_printed_is_json(kind: Any) -> None:
    schema = schema_of(kind)
    assert json.loads(json.dumps(schema, allow_nan=False)) == schema


def test_a_scale_needs_a_level() -> None:
    with pytest.raises(ValueError, match="name at least two"):
        Levels({})
