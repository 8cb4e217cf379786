"""Random schemas with every keyword of the contract, nested arrays among them, on any document."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from jsonschema import Draft202012Validator

from deg_model import ArrayMode
from deg_runtime import Engine, FillError
from deg_schema import (
    Options,
    compile_schema,
    find_candidates,
    has_candidates,
    is_format,
    read_span,
)

few = settings(
    deadline=None,
    max_examples=10,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

WORDS = (
    "Ann paid 12.50 EUR on 3 May 2026",
    "at 2026-05-03T17:30:00+02:00",
    "(1,234 or -5, 7)",
    "bob@example.org",
    "https://example.org/a?b=c",
    "7c1e8a52-40bb-4d0e-9a63-2f1d6b90c7aa",
    "患者 naïve",
    "row 1: bolt 30",
    "\n- nut, 45 %\n",
    "null",
)
NAMES = ("a", "b", "order id", "größe", "x/y", "~", "*", "")
PATTERNS = ("[a-z]", "^[A-Z]", "[0-9]{2}", "\\d$", "^[ab]{1,3}$")


class Maker:
    """Makes schemas at random.

    Args:
        draw: The source of chance.
    """

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.definitions: dict[str, Any] = {}

    def schema(self) -> dict[str, Any]:
        """Return a whole schema."""
        schema = self.object(3)
        if self.definitions:
            schema["$defs"] = self.definitions
        if self.maybe():
            schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
        return schema

    def maybe(self, odds: float = 0.3) -> bool:
        """Flip a coin."""
        return self.draw.random() < odds

    def object(self, depth: int) -> dict[str, Any]:
        """Return an object of a few properties."""
        names = self.draw.sample(NAMES, self.draw.randint(1, 3))
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: self.value(depth) for name in names},
        }
        if self.maybe(0.5):
            schema["required"] = self.draw.sample(names, self.draw.randint(1, len(names)))
        if self.maybe():
            schema["additionalProperties"] = self.draw.choice([True, False])
        return schema | self.annotations()

    def value(self, depth: int) -> dict[str, Any]:
        """Return a schema of any kind."""
        if depth > 1 and self.maybe(0.3):
            return self.array(depth - 1)
        if depth > 1 and self.maybe(0.15):
            return self.object(depth - 1)
        leaf = self.leaf()
        if self.maybe(0.1):
            name = f"d{len(self.definitions)}"
            self.definitions[name] = leaf
            return {"$ref": f"#/$defs/{name}"} | self.annotations()
        return leaf

    def array(self, depth: int) -> dict[str, Any]:
        """Return an array of scalars, objects, arrays or texts to be written."""
        if self.maybe(0.15):
            items: dict[str, Any] = {"type": "string"} | self.lengths()
            array: dict[str, Any] = {"x-generate": True, "x-max-tokens": 12}
        else:
            items, array = self.object(depth) if self.maybe() else self.value(depth), {}
        array |= {"type": "array", "items": items}
        least = self.draw.choice([0, 0, 0, 1, 2])
        if least:
            array["minItems"] = least
        if self.maybe():
            array["maxItems"] = least + self.draw.randint(0, 2)
        if self.maybe(0.1):
            array["uniqueItems"] = self.draw.choice([True, False])
        return array | self.annotations()

    def leaf(self) -> dict[str, Any]:
        """Return a leaf of any mode."""
        copied = (self.number, self.text, self.text)
        kinds = (self.choice, self.described, self.flag, self.scale, *copied)
        leaf = self.draw.choice(kinds)()
        return leaf | self.annotations()

    def choice(self) -> dict[str, Any]:
        """Return a choice of plain values."""
        values = self.draw.sample(["red", "", 1, 2.5, True, None, "größe"], 3)
        return {"enum": values}

    def described(self) -> dict[str, Any]:
        """Return a choice whose options say what they mean."""
        branches = [{"const": "x", "description": "the first"}, {"enum": ["y", "z"]}]
        return {self.draw.choice(["oneOf", "anyOf"]): branches}

    def flag(self) -> dict[str, Any]:
        """Return a yes or no."""
        return {"type": self.draw.choice(["boolean", ["boolean", "null"]])}

    def scale(self) -> dict[str, Any]:
        """Return a small scale."""
        first = self.draw.randint(-2, 1)
        leaf: dict[str, Any] = {"type": self.nullable("integer")}
        leaf |= {"minimum": first, "exclusiveMaximum": first + self.draw.randint(2, 5)}
        if self.maybe():
            leaf["x-levels"] = {str(first): "least"}
        return leaf

    def number(self) -> dict[str, Any]:
        """Return a number that is copied."""
        leaf: dict[str, Any] = {"type": self.nullable(self.draw.choice(["number", "integer"]))}
        limits = {
            "minimum": -10,
            "exclusiveMinimum": -6,
            "maximum": 2000,
            "exclusiveMaximum": 1234,
            "multipleOf": self.draw.choice([1, 5]),
        }
        return leaf | {name: limits[name] for name in limits if self.maybe(0.2)}

    def text(self) -> dict[str, Any]:
        """Return a text that is copied, or one to be written."""
        if self.maybe(0.15):
            return {"type": "string", "x-generate": True, "x-max-tokens": 12} | self.lengths()
        if self.maybe(0.4):
            form = self.draw.choice(["date", "date-time", "email", "uri", "uuid"])
            leaf: dict[str, Any] = {"type": "string", "format": form}
            nullable = {self.draw.choice(["anyOf", "oneOf"]): [leaf, {"type": "null"}]}
            return self.draw.choice([leaf, nullable, leaf | {"type": ["string", "null"]}])
        return {"type": self.nullable("string")} | self.lengths()

    def lengths(self) -> dict[str, Any]:
        """Return limits of a text."""
        if self.maybe(0.2):
            return {"pattern": self.draw.choice(PATTERNS)}
        limits = {"minLength": self.draw.randint(0, 3), "maxLength": self.draw.randint(3, 20)}
        return {name: limits[name] for name in limits if self.maybe()}

    def nullable(self, kind: str) -> str | list[str]:
        """Return a type, nullable at times."""
        return [kind, "null"] if self.maybe() else kind

    def annotations(self) -> dict[str, Any]:
        """Return what explains a schema."""
        said = {
            "title": "Title",
            "description": "what it is",
            "default": None,
            "examples": [1],
            "$comment": "no comment",
            "readOnly": True,
            "writeOnly": False,
            "deprecated": True,
        }
        return {name: said[name] for name in said if self.maybe(0.1)}

    def document(self) -> str:
        """Return a document, now and then an empty one."""
        return " ".join(self.draw.choices(WORDS, k=self.draw.randint(0, 4)))

    def options(self) -> Options:
        """Return options that keep texts and arrays short."""
        return Options(
            max_items=self.draw.choice([2, 3]),
            date_order=self.draw.choice([None, "MDY", "DMY"]),
            array_decode=self.draw.choice(["threshold", "count_peaks", "hybrid"]),
            null_margin=self.draw.choice([None, -1e6, -1.0, 1e6]),
            temperature=self.draw.choice([0.0, 1.0]),
            seed=7,
        )


KEYWORDS = (
    "type enum const oneOf anyOf $ref $defs $schema properties required additionalProperties items "
    "minItems maxItems uniqueItems minimum maximum exclusiveMinimum exclusiveMaximum multipleOf "
    "minLength maxLength pattern format x-generate x-max-tokens x-levels title description default "
    "examples $comment readOnly writeOnly deprecated"
).split()


@pytest.fixture(scope="module", params=["anchor", "index"])
def any_engine(request: pytest.FixtureRequest, make_engine: Callable[..., Engine]) -> Engine:
    return make_engine(arrays=ArrayMode(request.param), anchor_bias=-2.0)


def check_refusal(error: FillError, document: str, schema: Any, options: Options) -> str:
    """Check that a fill that failed could not but fail, and return why."""
    if "'uniqueItems'" in error.message:
        return "uniqueItems"
    if error.message.startswith("minItems"):
        return "minItems"
    (field,) = (one for one in compile_schema(schema).fields if one.pointer == error.pointer)
    assert field.on_null == "forbid"
    assert not field.item_steps
    if not has_candidates(field):
        limits = field.constraints
        assert limits.pattern or limits.min_length or limits.max_length or not document.strip()
        return "text"
    candidates = find_candidates(field, document)
    readings = (read_span(field, document[start:end], options) for start, end in candidates)
    assert all(reading.reason for reading in readings)
    return "typed"


@pytest.mark.parametrize("shard", range(5))
def test_every_response_is_valid_or_could_not_be(any_engine: Engine, shard: int) -> None:
    seen: set[str] = set()
    outcomes: Counter[str] = Counter()
    for batch in range(4):
        maker = [Maker(random.Random(f"{shard}/{batch}/{index}")) for index in range(60)]
        requests = [(each.document(), each.schema(), each.options()) for each in maker]
        responses = any_engine.fill_many(requests)
        for (document, schema, options), response in zip(requests, responses, strict=True):
            seen.update(word for word in KEYWORDS if f'"{word}"' in json.dumps(schema))
            if isinstance(response, FillError):
                outcomes[check_refusal(response, document, schema, options)] += 1
                continue
            assert isinstance(response, dict)
            Draft202012Validator(schema, format_checker=None).validate(response["value"])
            check_formats(response)
            outcomes["filled"] += 1
    assert sum(outcomes.values()) == 240
    assert outcomes["filled"] > 160, outcomes
    assert seen == set(KEYWORDS)


def check_formats(response: dict[str, Any]) -> None:
    """Check that each value of the response has its place in the meta, and its format."""
    for pointer, meta in response["meta"].items():
        value: Any = response["value"]
        for token in pointer.split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            value = value[int(key)] if isinstance(value, list) else value.get(key, ...)
            if value is ...:
                # an object that is left out has what was looked for in it
                assert meta["mode"] == "array" or meta.get("span", ...) is None
                break
        else:
            if meta["mode"] == "array":
                assert len(value) == meta["items"]
            if meta["mode"] == "extract.date" and value is not None:
                assert is_format("date-time" if "T" in value else "date", value)


def said(response: Any) -> str:
    """Return a response, or why there is none, in bytes that can be compared."""
    return str(response) if isinstance(response, FillError) else json.dumps(response)


def parts(response: Any) -> dict[str, str]:
    """Return what a response says of each property of the root."""
    if isinstance(response, FillError):
        return {}
    found: dict[str, Any] = {}
    for pointer, meta in response["meta"].items():
        found.setdefault(pointer.split("/")[1].replace("~1", "/").replace("~0", "~"), []).append(
            [pointer, meta]
        )
    return {
        name: json.dumps([response["value"].get(name, "left out"), metas])
        for name, metas in found.items()
    }


@few
@given(draw=st.randoms(use_true_random=False))
def test_other_requests_change_no_byte(any_engine: Engine, draw: random.Random) -> None:
    maker = Maker(draw)
    requests = [(maker.document(), Maker(draw).schema(), maker.options()) for _ in range(4)]
    alone = [said(any_engine.fill_many([request])[0]) for request in requests]
    together = any_engine.fill_many(requests[::-1])[::-1]
    assert [said(response) for response in together] == alone


@few
@given(draw=st.randoms(use_true_random=False))
def test_neither_order_nor_company_of_properties_changes_a_byte(
    any_engine: Engine, draw: random.Random
) -> None:
    maker = Maker(draw)
    document, options = maker.document(), maker.options()
    schema = maker.schema() | {"required": []}
    # what is written depends on what else was found
    leaves = {
        name: leaf
        for name, leaf in schema["properties"].items()
        if "x-generate" not in json.dumps([leaf, schema.get("$defs")])
    }
    whole = any_engine.fill_many([(document, schema | {"properties": leaves}, options)])[0]
    order = draw.sample(sorted(leaves), len(leaves))
    turned = schema | {"properties": {name: leaves[name] for name in order}}
    reordered = any_engine.fill_many([(document, turned, options)])[0]
    assert parts(reordered) == parts(whole)
    for name in order if isinstance(whole, dict) else []:
        split = schema | {"properties": {name: leaves[name]}}
        assert parts(any_engine.fill_many([(document, split, options)])[0]).items() <= (
            parts(whole).items()
        )
