"""Laws of random supported schemas: what compiles, what is valid, what keeps a fingerprint."""

import copy
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator

from deg_schema.compile import compile_schema
from deg_schema.constraints import violated_keyword
from deg_schema.errors import FillError
from deg_schema.outcomes import Decided, Extracted, Generated, Items, Missing, Outcome
from deg_schema.plan import FieldPlan, FillPlan
from deg_schema.plan_json import plan_from_json, plan_to_json
from deg_schema.response import assemble

LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "minLength": 2, "pattern": "^[a-z]+$"},
        {"type": ["string", "null"], "format": "date"},
        {"type": "string", "format": "email"},
        {"type": "boolean"},
        {"type": ["boolean", "null"]},
        {"type": "integer", "minimum": 1, "maximum": 5, "x-levels": {"1": "low"}},
        {"type": ["integer", "null"], "minimum": 0, "maximum": 2},
        {"type": "number", "exclusiveMinimum": 0.5},
        {"type": "integer", "maximum": 10**20},
        {"enum": ["a", 1, None, True, 1.5]},
        {"anyOf": [{"const": "x", "description": "d"}, {"const": "y"}]},
        {"$ref": "#/$defs/Shared", "title": "a shared one"},
        {"type": "string", "x-generate": True, "x-max-tokens": 9},
    ]
)
NAMES = st.sampled_from(["*", "a", "b/c", "d~", "0", "", "ü"])
DEFINITIONS = {"Shared": {"type": ["string", "null"], "maxLength": 4}}


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def build(properties: dict[str, Any], step: int) -> dict[str, Any]:
        required = sorted(properties)[::step]
        return {"type": "object", "properties": properties, "required": required}

    return st.builds(build, st.dictionaries(NAMES, inner, max_size=3), st.integers(1, 3))


def _arrays(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    bounds = st.sampled_from(
        [{}, {"minItems": 1}, {"minItems": 2, "maxItems": 2}, {"maxItems": 3, "description": "D"}]
    )
    written = {"items": {"type": "string"}, "x-generate": True, "x-max-tokens": 3}
    items = inner.map(lambda schema: {"items": schema}) | st.just(written)
    return st.tuples(bounds, items).map(lambda parts: {"type": "array", **parts[0], **parts[1]})


VALUES = st.recursive(LEAVES, lambda inner: _objects(inner) | _arrays(inner), max_leaves=6)
SCHEMAS = _objects(VALUES).map(lambda schema: {**schema, "$defs": DEFINITIONS})

TEXTS = ["", "x", "ab", "cd", "2024-02-29", "a@b.de", "Ünï"]
NUMBERS = [0, 1, -3, 2.5, 10**21]
NOTHING = st.just(Missing("not_found", 0.5))


def _outcome(
    draw: Callable[[Any], Any], field: FieldPlan, missing: st.SearchStrategy[Missing]
) -> Outcome:
    if field.num_outcomes:
        weights = st.lists(
            st.floats(0, 1), min_size=field.num_outcomes, max_size=field.num_outcomes
        )
        return Decided(tuple(draw(weights)))
    if field.mode == "generate":
        return Generated(draw(st.sampled_from(TEXTS)), 2)
    pool = NUMBERS if field.mode == "extract.number" else TEXTS
    valid = [
        value
        for value in pool
        if violated_keyword(field.constraints, field.format, value) is None
        and not (field.type == "integer" and isinstance(value, float))
    ]
    found = st.sampled_from(valid).map(lambda value: Extracted(value, (0, 1), 0.5))
    return draw(found | missing)


def _outcomes(
    draw: Callable[[Any], Any],
    plan: FillPlan,
    *,
    least: int = 0,
    missing: st.SearchStrategy[Missing] = NOTHING,
) -> dict[str, Outcome]:
    """Draw the outcomes of every item, from the outermost arrays inward."""
    outcomes: dict[str, Outcome] = {}
    instances: dict[tuple[str, ...], list[tuple[int, ...]]] = {(): [()]}
    for array in plan.arrays:
        around = array.path[: array.item_steps[-1] + 1] if array.item_steps else ()
        instances[(*array.path, "*")] = []
        for indices in instances[around]:
            count = draw(st.integers(least, min(3, array.max_items or 3)))
            outcomes[array.pointer_at(indices)] = Items(count)
            instances[(*array.path, "*")] += [(*indices, index) for index in range(count)]
    for field in plan.fields:
        around = field.path[: field.item_steps[-1] + 1] if field.item_steps else ()
        for indices in instances[around]:
            outcomes[field.pointer_at(indices)] = _outcome(draw, field, missing)
    return outcomes


def _reordered(draw: Callable[[Any], Any], schema: Any, *, where: Callable[[Any], bool]) -> Any:
    if isinstance(schema, list):
        return [_reordered(draw, each, where=where) for each in schema]
    if not isinstance(schema, dict):
        return schema
    members = {name: _reordered(draw, each, where=where) for name, each in schema.items()}
    if isinstance(members.get("properties"), dict) and where(members):
        names = draw(st.permutations(list(members["properties"])))
        members["properties"] = {name: members["properties"][name] for name in names}
    return members


def _has_no_text(schema: Any) -> bool:
    return '"x-generate"' not in json.dumps(schema)


@settings(deadline=None)
@given(SCHEMAS)
def test_a_supported_schema_compiles_and_stays_as_it_was(schema: dict[str, Any]) -> None:
    before = copy.deepcopy(schema)
    plan = compile_schema(schema)
    assert schema == before
    assert len({part.path for part in (*plan.fields, *plan.objects, *plan.arrays)}) == len(
        plan.fields
    ) + len(plan.objects) + len(plan.arrays)


@settings(deadline=None)
@given(SCHEMAS)
def test_a_plan_is_read_back_from_its_json(schema: dict[str, Any]) -> None:
    plan = compile_schema(schema)
    text = plan_to_json(plan)
    read = plan_from_json(text)
    assert (read, repr(read), plan_to_json(read)) == (plan, repr(plan), text)
    assert read.fingerprint == plan.fingerprint


@settings(deadline=None)
@given(SCHEMAS, st.data())
def test_an_assembled_value_is_valid(schema: dict[str, Any], data: st.DataObject) -> None:
    plan = compile_schema(schema)
    outcomes = _outcomes(data.draw, plan)
    # a required value may be missing, which is an error and never an invalid value
    with suppress(FillError):
        response = assemble(plan, schema, outcomes, model="m", prompt_tokens=1)
        Draft202012Validator(schema).validate(response["value"])
        assert json.loads(json.dumps(response)) == response


@settings(deadline=None)
@given(SCHEMAS, st.data())
def test_a_value_can_be_assembled_where_nothing_is_missing(
    schema: dict[str, Any], data: st.DataObject
) -> None:
    plan = compile_schema(schema)
    # no schema here asks for more than two items
    outcomes = _outcomes(data.draw, plan, least=2, missing=st.nothing())
    response = assemble(plan, schema, outcomes, model="m", prompt_tokens=1)
    Draft202012Validator(schema).validate(response["value"])
    assert response["meta"].keys() == outcomes.keys()
    assert all("dropped" not in meta for meta in response["meta"].values())


@settings(deadline=None)
@given(SCHEMAS, st.data())
def test_the_order_of_what_is_not_written_keeps_the_fingerprint(
    schema: dict[str, Any], data: st.DataObject
) -> None:
    other = _reordered(data.draw, schema, where=_has_no_text)
    assert compile_schema(other).fingerprint == compile_schema(schema).fingerprint


@settings(deadline=None)
@given(SCHEMAS, st.data())
def test_every_order_keeps_the_fingerprint_of_each_field(
    schema: dict[str, Any], data: st.DataObject
) -> None:
    other = _reordered(data.draw, schema, where=lambda _: True)
    plans = compile_schema(schema), compile_schema(other)
    fields = [{(field.path, field.fingerprint) for field in plan.fields} for plan in plans]
    arrays = [{(array.path, array.fingerprint) for array in plan.arrays} for plan in plans]
    assert (fields[0], arrays[0]) == (fields[1], arrays[1])
    texts = [[field.path for field in plan.fields if field.mode == "generate"] for plan in plans]
    assert (plans[0].fingerprint == plans[1].fingerprint) is (texts[0] == texts[1])


@settings(deadline=None)
@given(_objects(VALUES), _objects(VALUES))
def test_a_field_and_an_array_hash_alike_whatever_stands_beside_them(
    one: dict[str, Any], two: dict[str, Any]
) -> None:
    first = {"one/" + name: schema for name, schema in one["properties"].items()}
    second = {"two/" + name: schema for name, schema in two["properties"].items()}
    alone, together = (
        compile_schema({"type": "object", "properties": properties, "$defs": DEFINITIONS})
        for properties in (first, {**second, **first})
    )
    assert {field.fingerprint for field in alone.fields} <= {
        field.fingerprint for field in together.fields
    }
    assert {array.fingerprint for array in alone.arrays} <= {
        array.fingerprint for array in together.arrays
    }
    has_more = len(together.fields) + len(together.arrays) > len(alone.fields) + len(alone.arrays)
    assert (together.fingerprint != alone.fingerprint) is has_more


ROW = {"type": "object", "properties": {"n": {"type": "number"}, "k": {"type": "boolean"}}}


def _of(**keywords: object) -> FillPlan:
    array = {"type": "array", "items": ROW, **keywords}
    return compile_schema({"type": "object", "properties": {"rows": array}})


@pytest.mark.parametrize(
    "keywords",
    [
        {"minItems": 1},
        {"maxItems": 9},
        {"uniqueItems": True},
        {"title": "T"},
        {"description": "D"},
    ],
)
def test_what_an_array_says_of_itself_is_in_the_plan_s_fingerprint_alone(
    keywords: dict[str, object],
) -> None:
    plain, other = _of(), _of(**keywords)
    assert plain.fingerprint != other.fingerprint
    assert plain.arrays[0].fingerprint != other.arrays[0].fingerprint
    assert [field.fingerprint for field in plain.fields] == [
        field.fingerprint for field in other.fields
    ]


@pytest.mark.parametrize(
    "keywords",
    [
        {"minItems": 0},
        {"uniqueItems": False},
        {"x-generate": False},
        {"default": []},
        {"examples": [[]], "$comment": "none", "deprecated": True},
        {"items": {**ROW, "additionalProperties": False}},
        {"items": {"$ref": "#/properties/rows/$defs/Row"}, "$defs": {"Row": ROW}},
    ],
)
def test_what_does_not_matter_is_in_no_fingerprint(keywords: dict[str, object]) -> None:
    assert _of(**keywords).fingerprint == _of().fingerprint


@pytest.mark.parametrize(
    "items",
    [
        {**ROW, "required": ["n"]},
        {"type": "object", "properties": {"n": {"type": "integer"}, "k": {"type": "boolean"}}},
        {"type": "object", "properties": {"n": {"type": "number"}}},
    ],
)
def test_what_is_asked_of_an_item_is_in_the_plan_s_fingerprint(items: object) -> None:
    assert _of(items=items).fingerprint != _of().fingerprint


def test_that_an_array_is_required_is_in_the_plan_s_fingerprint() -> None:
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": ROW}}}
    optional, required = compile_schema(schema), compile_schema({**schema, "required": ["rows"]})
    assert optional.fingerprint != required.fingerprint
