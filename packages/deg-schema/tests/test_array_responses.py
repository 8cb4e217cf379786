"""Arrays in a response: items, what is dropped, and what follows from a drop."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from deg_schema.compile import compile_schema
from deg_schema.errors import FillError
from deg_schema.outcomes import Decided, Extracted, Generated, Items, Missing, Outcome
from deg_schema.response import assemble

NOTHING = Missing("not_found", 0.9)
TEXT = {"type": "string"}


def _array(items: object, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def _object(*required: str, **properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def _found(value: Any) -> Extracted:
    return Extracted(value, (0, 1), 0.5)


def _yes(is_true: bool = True) -> Decided:
    return Decided((1.0, 0.0) if is_true else (0.0, 1.0))


def _assemble(outcomes: dict[str, Outcome], **properties: object) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return assemble(compile_schema(schema), schema, outcomes, model="m", prompt_tokens=3)


def _refused(outcomes: dict[str, Outcome], **properties: object) -> tuple[str, str]:
    with pytest.raises(FillError) as raised:
        _assemble(outcomes, **properties)
    return raised.value.pointer, raised.value.message


ROWS = _array(_object("price", text=TEXT, price={"type": "number"}, new={"type": "boolean"}))


def _row(index: int, text: Outcome, price: Outcome) -> dict[str, Outcome]:
    place = f"/rows/{index}"
    return {f"{place}/text": text, f"{place}/price": price, f"{place}/new": _yes()}


def test_items_come_in_order_with_their_own_meta() -> None:
    outcomes = {"/rows": Items(2)} | _row(0, _found("a"), _found(1)) | _row(1, NOTHING, _found(2.5))
    response = _assemble(outcomes, rows=ROWS)
    assert response["value"] == {
        "rows": [{"text": "a", "price": 1, "new": True}, {"price": 2.5, "new": True}]
    }
    assert list(response["meta"]) == [
        "/rows",
        *(f"/rows/{index}/{name}" for index in range(2) for name in ("text", "price", "new")),
    ]
    assert response["meta"]["/rows"] == {"mode": "array", "items": 2}
    assert response["meta"]["/rows/1/text"]["null_reason"] == "not_found"


def test_an_empty_array_is_written() -> None:
    response = _assemble({"/rows": Items(0)}, rows=ROWS)
    assert response["value"] == {"rows": []}
    assert response["meta"] == {"/rows": {"mode": "array", "items": 0}}


def test_an_item_that_lacks_a_required_value_is_dropped_and_the_rest_move_up() -> None:
    outcomes = {"/rows": Items(3)}
    outcomes |= _row(0, _found("a"), NOTHING)
    outcomes |= _row(1, _found("b"), _found(2)) | _row(2, _found("c"), _found(3))
    response = _assemble(outcomes, rows=ROWS)
    assert [row["text"] for row in response["value"]["rows"]] == ["b", "c"]
    assert response["meta"]["/rows"] == {"mode": "array", "items": 2, "dropped": 1}
    assert response["meta"]["/rows/1/price"]["span"] == [0, 1]
    assert "/rows/2/price" not in response["meta"]


def test_a_scalar_item_is_dropped_where_it_has_no_value() -> None:
    outcomes = {"/a": Items(3), "/a/0": _found("a@b.de"), "/a/1": NOTHING, "/a/2": _found("c@d.de")}
    response = _assemble(outcomes, a=_array({"type": "string", "format": "email"}))
    assert response["value"] == {"a": ["a@b.de", "c@d.de"]}
    assert response["meta"]["/a"]["dropped"] == 1


def test_a_nullable_item_is_null() -> None:
    outcomes = {"/a": Items(2), "/a/0": NOTHING, "/a/1": _found("x")}
    response = _assemble(outcomes, a=_array({"type": ["string", "null"]}))
    assert response["value"] == {"a": [None, "x"]}
    assert "dropped" not in response["meta"]["/a"]


def test_too_few_items_at_the_top_are_an_error() -> None:
    outcomes = {"/a": Items(2), "/a/0": NOTHING, "/a/1": _found("x")}
    assert _refused(outcomes, a=_array(TEXT, minItems=2)) == (
        "/a",
        "minItems 2: only 1 items have their required values",
    )
    assert _refused({"/a": Items(0)}, a=_array(TEXT, minItems=1))[0] == "/a"


def test_too_few_items_within_an_item_drop_that_item() -> None:
    times = _array(_array(TEXT, minItems=2))
    outcomes: dict[str, Outcome] = {"/a": Items(2), "/a/0": Items(2), "/a/1": Items(2)}
    outcomes |= {"/a/0/0": _found("x"), "/a/0/1": NOTHING}
    outcomes |= {"/a/1/0": _found("y"), "/a/1/1": _found("z")}
    response = _assemble(outcomes, a=times)
    assert response["value"] == {"a": [["y", "z"]]}
    assert response["meta"]["/a"] == {"mode": "array", "items": 1, "dropped": 1}
    assert response["meta"]["/a/0"] == {"mode": "array", "items": 2}


def test_drops_go_on_outward_to_an_error_at_the_top() -> None:
    outcomes: dict[str, Outcome] = {"/a": Items(1), "/a/0": Items(1), "/a/0/0": NOTHING}
    nested = _array(_array(TEXT, minItems=1), minItems=1)
    assert _refused(outcomes, a=nested) == (
        "/a",
        "minItems 1: only 0 items have their required values",
    )


def test_the_innermost_item_is_dropped_and_no_other() -> None:
    outcomes: dict[str, Outcome] = {"/a": Items(1), "/a/0": Items(2)}
    outcomes |= {"/a/0/0": NOTHING, "/a/0/1": _found("x")}
    response = _assemble(outcomes, a=_array(_array(TEXT)))
    assert response["value"] == {"a": [["x"]]}
    assert response["meta"]["/a"] == {"mode": "array", "items": 1}
    assert response["meta"]["/a/0"] == {"mode": "array", "items": 1, "dropped": 1}


def test_an_optional_object_of_an_item_is_left_out_before_the_item_is_dropped() -> None:
    buyer = _object("name", name=TEXT, city=TEXT)
    outcomes: dict[str, Outcome] = {"/a": Items(2)}
    outcomes |= {"/a/0/buyer/name": NOTHING, "/a/0/buyer/city": NOTHING}
    outcomes |= {"/a/1/buyer/name": NOTHING, "/a/1/buyer/city": _found("x")}
    response = _assemble(outcomes, a=_array(_object(buyer=buyer)))
    assert response["value"] == {"a": [{}]}
    assert response["meta"]["/a"]["dropped"] == 1


@pytest.mark.parametrize(
    ("nested", "required", "value"),
    [
        (_object(rows=_array(TEXT)), [], {}),
        (_object(rows=_array(TEXT)), ["o"], {"o": {"rows": []}}),
        (_object(rows=_array(TEXT, minItems=1)), [], {}),
        (_object(rows=_array(TEXT), name={"type": ["string", "null"]}), [], None),
    ],
)
def test_an_object_of_empty_arrays_is_one_of_which_nothing_was_found(
    nested: dict[str, Any], required: list[str], value: Any
) -> None:
    schema = {"type": "object", "properties": {"o": nested}, "required": required}
    plan = compile_schema(schema)
    outcomes: dict[str, Outcome] = {field.pointer: NOTHING for field in plan.fields[1:]}
    outcomes["/o/rows"] = Items(0)
    response = assemble(plan, schema, outcomes, model="m", prompt_tokens=1)
    assert response["value"] == ({"o": {"rows": [], "name": None}} if value is None else value)


def test_texts_are_written_for_the_items_that_stay() -> None:
    items = _object("n", n={"type": "number"}, note={"type": "string", "x-generate": True})
    outcomes: dict[str, Outcome] = {"/a": Items(2), "/a/0/n": NOTHING, "/a/1/n": _found(1)}
    outcomes["/a/1/note"] = Generated("well", 4)
    response = _assemble(outcomes, a=_array(items))
    assert response["value"] == {"a": [{"n": 1, "note": "well"}]}
    assert response["usage"]["generated_tokens"] == 4
    del outcomes["/a/1/note"]
    assert _refused(outcomes, a=_array(items)) == ("/a/1/note", "the field has no outcome")


def test_a_written_array() -> None:
    outcomes = {"/a": Items(2), "/a/0": Generated("x", 1), "/a/1": Generated("y", 2)}
    response = _assemble(outcomes, a=_array(TEXT, **{"x-generate": True}))
    assert response["value"] == {"a": ["x", "y"]}
    assert response["usage"]["generated_tokens"] == 3


def test_items_that_must_differ_are_checked() -> None:
    outcomes = {"/a": Items(2), "/a/0": _found("x"), "/a/1": _found("x")}
    pointer, message = _refused(outcomes, a=_array(TEXT, uniqueItems=True))
    assert pointer == "/a"
    assert "'uniqueItems'" in message
    outcomes["/a/1"] = NOTHING
    unique = _assemble(outcomes, a=_array(TEXT, uniqueItems=True))
    assert unique["value"] == {"a": ["x"]}


def test_properties_of_every_kind_come_in_schema_order() -> None:
    properties = {
        "rows": _array({"type": "object"}),
        "z": TEXT,
        "o": _object(b=_array(TEXT), a=TEXT),
        "e": {"type": "object"},
        "t": _array(TEXT),
    }
    outcomes = {"/rows": Items(1), "/z": _found("x"), "/o/b": Items(0), "/o/a": _found("x")}
    value = _assemble(outcomes | {"/t": Items(0)}, **properties)["value"]
    assert list(value) == ["rows", "z", "o", "e", "t"]
    assert value["rows"] == [{}]
    assert list(value["o"]) == ["b", "a"]


def test_names_that_look_like_items_are_names() -> None:
    named = _array(_object(**{"*": TEXT, "0": TEXT, "a/b": TEXT}))
    outcomes: dict[str, Outcome] = {"/*": Items(1)}
    outcomes |= {"/*/0/*": _found("x"), "/*/0/0": _found("y"), "/*/0/a~1b": _found("z")}
    assert _assemble(outcomes, **{"*": named})["value"] == {"*": [{"*": "x", "0": "y", "a/b": "z"}]}


@pytest.mark.parametrize(
    ("outcomes", "pointer", "words"),
    [
        ({}, "/a", "the array has no outcome"),
        ({"/a": NOTHING}, "/a", "Missing is no outcome of an array"),
        ({"/a": Items(4)}, "/a", "maxItems 3"),
        ({"/a": Items(-1)}, "/a", "no -1 items"),
        ({"/a": Items(2), "/a/0": _found("x")}, "/a/1", "the field has no outcome"),
        ({"/a": Items(1), "/a/0": Items(1)}, "/a/0", "Items is no outcome of mode"),
        ({"/a": Items(0), "/a/0": _found("x")}, "/a/0", "belongs to no field"),
        ({"/a": Items(1), "/a/0": _found(5)}, "/a/0", "'type'"),
    ],
)
def test_outcomes_that_do_not_fit_an_array_are_errors(
    outcomes: dict[str, Outcome], pointer: str, words: str
) -> None:
    found_pointer, message = _refused(outcomes, a=_array(TEXT, maxItems=3))
    assert found_pointer == pointer
    assert words in message


@settings(deadline=None)
@given(
    st.lists(st.lists(st.booleans(), max_size=4), max_size=4), st.integers(0, 2), st.integers(0, 2)
)
def test_what_stays_is_what_has_its_values(
    found: list[list[bool]], least_rows: int, least_times: int
) -> None:
    outcomes: dict[str, Outcome] = {"/rows": Items(len(found))}
    for i, times in enumerate(found):
        outcomes[f"/rows/{i}/times"] = Items(len(times))
        outcomes[f"/rows/{i}/first"] = _yes(i == 0)
        for j, is_found in enumerate(times):
            outcomes[f"/rows/{i}/times/{j}"] = _found(f"{i} {j}") if is_found else NOTHING
    times = _array(TEXT, minItems=least_times)
    rows = _array(_object(times=times, first={"type": "boolean"}), minItems=least_rows)
    expected = [
        {"times": [f"{i} {j}" for j, is_found in enumerate(times) if is_found], "first": i == 0}
        for i, times in enumerate(found)
        if sum(times) >= least_times
    ]
    if len(expected) < least_rows:
        assert _refused(outcomes, rows=rows) == (
            "/rows",
            f"minItems {least_rows}: only {len(expected)} items have their required values",
        )
        return
    response = _assemble(outcomes, rows=rows)
    assert response["value"] == {"rows": expected}
    assert response["meta"]["/rows"].get("dropped", 0) == len(found) - len(expected)
    dropped = [times.count(False) for times in found if sum(times) >= least_times]
    assert dropped == [
        response["meta"][f"/rows/{i}/times"].get("dropped", 0) for i in range(len(expected))
    ]
