import json
from typing import Any

import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

from deg_schema.compile import compile_schema
from deg_schema.errors import FillError
from deg_schema.outcomes import Decided, Extracted, Generated, Missing, Outcome, confidence_of
from deg_schema.plan import FieldPlan
from deg_schema.response import assemble

NOTHING = Missing("not_found", 0.9)


def _assemble(
    properties: dict[str, Any], outcomes: dict[str, Outcome], **more: Any
) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, **more}
    return assemble(compile_schema(schema), schema, outcomes, model="m", prompt_tokens=42)


def _value(properties: dict[str, Any], outcomes: dict[str, Outcome], **more: Any) -> Any:
    return _assemble(properties, outcomes, **more)["value"]


@pytest.mark.parametrize(
    ("probabilities", "confidence"),
    [((0.8, 0.15, 0.05), 0.7), ((0.5, 0.5), 0.0), ((0.0, 1.0), 1.0), ((1.0,), 1.0)],
)
def test_confidence(probabilities: tuple[float, ...], confidence: float) -> None:
    assert confidence_of(probabilities) == pytest.approx(confidence)


def test_the_response_of_the_contract() -> None:
    properties = {
        "department": {"enum": ["billing", "sales", "other"]},
        "urgent": {"type": "boolean"},
        "anger": {"type": "integer", "minimum": 0, "maximum": 4},
        "order_id": {"type": "string"},
        "due": {"type": ["string", "null"], "format": "date"},
        "reply": {"type": "string", "x-generate": True},
    }
    outcomes: dict[str, Outcome] = {
        "/department": Decided((0.8, 0.15, 0.05)),
        "/urgent": Decided((0.91, 0.09)),
        "/anger": Decided((0.0, 0.1, 0.6, 0.3, 0.0)),
        "/order_id": Extracted("A-12345", (32, 39), 0.88),
        "/due": Missing("not_found", 0.4),
        "/reply": Generated("Thank you.", 11),
    }
    response = _assemble(properties, outcomes)
    assert response["value"] == {
        "department": "billing",
        "urgent": True,
        "anger": 2,
        "order_id": "A-12345",
        "due": None,
        "reply": "Thank you.",
    }
    assert response["meta"] == {
        "/department": {
            "mode": "decide.choice",
            "probability": 0.8,
            "confidence": pytest.approx(0.7),
            "probabilities": [0.8, 0.15, 0.05],
        },
        "/urgent": {"mode": "decide.noul", "probability": 0.91},
        "/anger": {
            "mode": "decide.score",
            "probability": 0.6,
            "confidence": pytest.approx(0.5),
            "probabilities": [0.0, 0.1, 0.6, 0.3, 0.0],
            "expected": pytest.approx(2.2),
        },
        "/order_id": {"mode": "extract.span", "confidence": 0.88, "span": [32, 39]},
        "/due": {
            "mode": "extract.date",
            "confidence": 0.4,
            "span": None,
            "null_reason": "not_found",
        },
        "/reply": {"mode": "generate", "generated_tokens": 11},
    }
    assert response["usage"] == {"prompt_tokens": 42, "generated_tokens": 11}
    assert json.loads(json.dumps(response)) == response


def test_ties_go_to_the_first() -> None:
    assert _value({"a": {"enum": ["x", "y"]}}, {"/a": Decided((0.5, 0.5))}) == {"a": "x"}
    assert _value({"a": {"type": "boolean"}}, {"/a": Decided((0.5, 0.5))}) == {"a": True}


def test_the_last_outcome_of_a_nullable_score_is_null() -> None:
    leaf = {"type": ["integer", "null"], "minimum": 1, "maximum": 2}
    response = _assemble({"a": leaf}, {"/a": Decided((0.1, 0.3, 0.6))})
    assert response["value"] == {"a": None}
    assert response["meta"]["/a"]["expected"] == pytest.approx(1.75)
    certain = _assemble({"a": leaf}, {"/a": Decided((0.0, 0.0, 1.0))})
    assert certain["meta"]["/a"]["expected"] is None


def test_details_are_told_where_they_are_known() -> None:
    properties = {
        "a": {"type": "string", "format": "date-time"},
        "b": {"type": "string", "format": "date"},
    }
    outcomes: dict[str, Outcome] = {
        "/a": Extracted("2024-01-02T03:04:05Z", (0, 5), 0.5, assumed_offset=True),
        "/b": Missing("unparsable", 0.5, "ambiguous_date"),
    }
    meta = _assemble(properties, outcomes)["meta"]
    assert meta["/a"]["assumed_offset"] is True
    assert meta["/b"]["null_detail"] == "ambiguous_date"


@pytest.mark.parametrize(
    ("leaf", "required", "value"),
    [
        ({"type": "string"}, [], {}),
        ({"type": ["string", "null"]}, [], {"a": None}),
        ({"type": ["string", "null"]}, ["a"], {"a": None}),
    ],
)
def test_a_field_without_value(leaf: dict[str, Any], required: list[str], value: object) -> None:
    assert _value({"a": leaf}, {"/a": NOTHING}, required=required) == value


def test_a_required_field_without_value_is_an_error() -> None:
    with pytest.raises(FillError, match="make it nullable") as raised:
        _value({"a": {"type": "string"}}, {"/a": NOTHING}, required=["a"])
    assert raised.value.pointer == "/a"


def _object(*required: str) -> dict[str, Any]:
    properties = {"b": {"type": "string"}, "c": {"type": "string"}}
    return {"type": "object", "properties": properties, "required": list(required)}


@pytest.mark.parametrize(
    ("nested", "required", "value"),
    [
        (_object(), [], {}),
        (_object(), ["a"], {"a": {}}),
        (_object("b"), [], {}),
        ({"type": "object"}, [], {"a": {}}),
        (
            {"type": "object", "properties": {"b": {"type": ["string", "null"]}}},
            [],
            {"a": {"b": None}},
        ),
        ({"type": "object", "properties": {"d": _object("b")}, "required": ["d"]}, [], {}),
    ],
)
def test_an_object_of_which_nothing_was_found(
    nested: dict[str, Any], required: list[str], value: object
) -> None:
    schema = {"type": "object", "properties": {"a": nested}, "required": required}
    plan = compile_schema(schema)
    outcomes = {field.pointer: NOTHING for field in plan.fields}
    response = assemble(plan, schema, outcomes, model="m", prompt_tokens=1)
    assert response["value"] == value


def test_an_object_of_which_a_part_was_found_needs_its_required_parts() -> None:
    with pytest.raises(FillError, match="not_found") as raised:
        _value({"a": _object("b")}, {"/a/b": NOTHING, "/a/c": Extracted("x", (0, 1), 0.9)})
    assert raised.value.pointer == "/a/b"


def test_keys_come_in_schema_order() -> None:
    properties = {
        "z": {"type": "string"},
        "m": {"type": "object", "properties": {"y": {"type": "string"}}},
        "e": {"type": "object"},
        "a": {"type": "string"},
    }
    found = Extracted("x", (0, 1), 0.9)
    value = _value(properties, {"/z": found, "/m/y": found, "/a": found})
    assert list(value) == ["z", "m", "e", "a"]


@pytest.mark.parametrize(
    ("leaf", "outcome", "words"),
    [
        ({"type": "string"}, Extracted(5, (0, 1), 0.5), "'type'"),
        ({"type": "string", "maxLength": 2}, Extracted("abc", (0, 3), 0.5), "'maxLength'"),
        ({"type": "string", "pattern": "^a$"}, Extracted("a\n", (0, 2), 0.5), "'pattern'"),
        ({"type": "string", "format": "email"}, Extracted("a", (0, 1), 0.5), "'format'"),
        ({"type": "number", "multipleOf": 0.1}, Extracted(0.35, (0, 1), 0.5), "'multipleOf'"),
        ({"type": "string", "x-generate": True, "minLength": 9}, Generated("a", 1), "'minLength'"),
        ({"type": "string"}, Decided((0.5, 0.5)), "no outcome of mode"),
        ({"type": "string"}, Extracted("a", (0, 1), float("nan")), "confidence"),
        ({"type": "string", "x-generate": True}, NOTHING, "no outcome of mode"),
        ({"type": "boolean"}, Decided((1.0,)), "1 probabilities for 2"),
        ({"type": "boolean"}, Decided((float("nan"), 1.0)), "between 0 and 1"),
    ],
)
def test_an_outcome_that_does_not_fit_is_an_error(
    leaf: dict[str, Any], outcome: Outcome, words: str
) -> None:
    with pytest.raises(FillError, match=words) as raised:
        _value({"a": leaf}, {"/a": outcome})
    assert raised.value.pointer == "/a"


def test_every_field_has_one_outcome_and_every_outcome_a_field() -> None:
    with pytest.raises(FillError, match="no outcome"):
        _value({"a": {"type": "string"}}, {})
    with pytest.raises(FillError, match="belongs to no field"):
        _value({}, {"/b": NOTHING})


def test_a_third_is_a_multiple_of_a_tenth_by_its_digits() -> None:
    leaf = {"type": "number", "multipleOf": 0.1}
    assert _value({"a": leaf}, {"/a": Extracted(0.3, (0, 3), 0.5)}) == {"a": 0.3}


def test_the_draft_of_the_schema_decides() -> None:
    leaf = {"type": "number", "minimum": 1, "exclusiveMinimum": True}
    draft = {"$schema": "http://json-schema.org/draft-04/schema#"}
    with pytest.raises(FillError, match="'minimum'"):
        _value({"a": leaf}, {"/a": Extracted(1, (0, 1), 0.5)}, **draft)


SCHEMA = {
    "type": "object",
    "properties": {
        "choice": {"enum": ["a", 1, None, True]},
        "flag": {"type": ["boolean", "null"]},
        "score": {"type": ["integer", "null"], "minimum": 0, "maximum": 3},
        "name": {"type": "string", "minLength": 1},
        "inner": {
            "type": "object",
            "properties": {"x": {"type": ["string", "null"]}, "y": {"type": "string"}},
            "required": ["x"],
        },
    },
    "required": ["choice"],
}


def _outcome(field: FieldPlan) -> st.SearchStrategy[Outcome]:
    if field.num_outcomes:
        weights = st.lists(
            st.floats(0, 1), min_size=field.num_outcomes, max_size=field.num_outcomes
        )
        return weights.map(lambda values: Decided(tuple(values)))
    found = st.text(min_size=1).map(lambda text: Extracted(text, (0, len(text)), 0.5))
    return found | st.just(NOTHING)


@given(st.data())
def test_an_assembled_value_is_valid(choices: st.DataObject) -> None:
    plan = compile_schema(SCHEMA)
    outcomes = {field.pointer: choices.draw(_outcome(field)) for field in plan.fields}
    response = assemble(plan, SCHEMA, outcomes, model="m", prompt_tokens=1)
    Draft202012Validator(SCHEMA).validate(response["value"])


@pytest.mark.parametrize(("cached", "usage"), [(0, {}), (3, {"cached_tokens": 3})])
def test_usage_says_what_had_been_read_before(cached: int, usage: dict[str, int]) -> None:
    schema = {"type": "object"}
    response = assemble(
        compile_schema(schema), schema, {}, model="m", prompt_tokens=5, cached_tokens=cached
    )
    assert response["usage"] == {"prompt_tokens": 5, "generated_tokens": 0} | usage
