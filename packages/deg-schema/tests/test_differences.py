from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from deg_schema.compile import compile_schema
from deg_schema.differences import Difference, compare_plans

TEXT = {"type": "string"}
REPLY = {"type": "string", "x-generate": True}


def _compare(old: dict[str, Any], new: dict[str, Any]) -> list[Difference]:
    plans = [compile_schema({"type": "object", "properties": leaves}) for leaves in (old, new)]
    return list(compare_plans(*plans))


def test_fields_come_and_go() -> None:
    assert _compare({"a": TEXT, "b": TEXT}, {"c": TEXT, "b": TEXT}) == [
        Difference("/c", "added"),
        Difference("/b", "same outcome"),
        Difference("/a", "removed"),
    ]


def test_a_changed_field_says_what_changed() -> None:
    old = {"a": {"type": "string", "minLength": 2, "description": "x"}}
    new = {"a": {"type": ["string", "null"], "minLength": 3, "description": "x"}}
    assert _compare(old, new) == [
        Difference(
            "/a",
            "can change",
            ("nullable: false -> true", "minLength: 2 -> 3"),
        )
    ]


def test_a_changed_list_says_what_came_and_went() -> None:
    old, new = {"a": {"enum": ["x", "y", 1]}}, {"a": {"enum": ["y", "z", 1]}}
    assert _compare(old, new)[0].details == ('options: without "x", with "z"',)


def test_another_order_of_options_is_the_same_question() -> None:
    described = [{"const": "x", "description": "p"}, {"const": "y", "description": "q"}]
    old = {"a": {"enum": ["x", "y", 1]}, "b": {"oneOf": described}}
    turned = {"a": {"enum": [1, "y", "x"]}, "b": {"oneOf": described[::-1]}}
    assert {each.change for each in _compare(old, turned)} == {"same outcome"}
    swapped = [{"const": "x", "description": "q"}, {"const": "y", "description": "p"}]
    assert _compare(old, old | {"b": {"oneOf": swapped}})[1].change == "can change"


def test_true_and_1_differ() -> None:
    (difference,) = _compare({"a": {"enum": [1, "x"]}}, {"a": {"enum": [True, "x"]}})
    assert difference.details == ("options: without 1, with true",)


def test_a_text_can_change_with_the_answers_that_it_is_written_from() -> None:
    old, new = {"a": TEXT, "reply": REPLY}, {"a": TEXT, "b": TEXT, "reply": REPLY}
    assert _compare(old, new)[-1].change == "can change"
    assert _compare(old, old)[-1].change == "same outcome"


def test_a_text_does_not_depend_on_other_texts() -> None:
    old, new = {"a": TEXT, "b": REPLY}, {"c": REPLY, "b": REPLY, "a": TEXT}
    assert Difference("/b", "same outcome") in _compare(old, new)


def test_an_object_that_becomes_required_is_a_change() -> None:
    schema = {"type": "object", "properties": {"o": {"type": "object", "properties": {"a": TEXT}}}}
    old, new = compile_schema(schema), compile_schema({**schema, "required": ["o"]})
    assert compare_plans(old, new) == (
        Difference("/o/a", "same outcome"),
        Difference("/o", "can change", ("required: false -> true",)),
    )


def test_an_object_without_leaves_comes_and_goes_itself() -> None:
    empty = {"o": {"type": "object"}}
    assert _compare({}, empty) == [Difference("/o", "added")]
    assert _compare(empty, {}) == [Difference("/o", "removed")]
    assert _compare(empty, empty) == []


@given(st.permutations("abcd"), st.sets(st.sampled_from("abcd")))
def test_siblings_and_order_never_change_an_outcome(order: list[str], kept: set[str]) -> None:
    leaves = {name: {"type": "string", "description": name} for name in "abc"}
    leaves["d"] = {"type": "array", "items": TEXT}
    differences = _compare(leaves, {name: leaves[name] for name in order if name in kept})
    same = {each.pointer for each in differences if each.change == "same outcome"}
    assert same == {f"/{name}" for name in kept} | ({"/d/*"} if "d" in kept else set())
    assert {each.change for each in differences} <= {"same outcome", "removed"}


def test_descriptions_and_labels_stand_beside_what_they_are_about() -> None:
    old = {"a": {"oneOf": [{"const": "x", "description": "an x"}, {"const": "y"}]}}
    new = {"a": {"oneOf": [{"const": "x"}, {"const": "y", "description": "an x"}]}}
    assert _compare(old, new)[0].details == (
        'option descriptions: without ["x", "an x"], with ["y", "an x"]',
    )
    old = {"a": {"type": "integer", "minimum": 0, "maximum": 2, "x-levels": {"0": "calm"}}}
    new = {"a": {"type": "integer", "minimum": 0, "maximum": 2, "x-levels": {"1": "calm"}}}
    assert _compare(old, new)[0].details == ('level labels: without [0, "calm"], with [1, "calm"]',)


def _array(**parts: Any) -> dict[str, Any]:
    leaves = {"name": TEXT, "kind": {"enum": ["x", "y"]}}
    return {"type": "array", "items": {"type": "object", "properties": leaves}, **parts}


def test_the_same_array_gives_the_same_items() -> None:
    assert _compare({"a": _array()}, {"b": TEXT, "a": _array()}) == [
        Difference("/b", "added"),
        Difference("/a", "same outcome"),
        Difference("/a/*/name", "same outcome"),
        Difference("/a/*/kind", "same outcome"),
    ]


def test_the_order_within_an_item_changes_nothing() -> None:
    turned = _array(
        items={**_array()["items"], "properties": {"kind": {"enum": ["x", "y"]}, "name": TEXT}}
    )
    assert {each.change for each in _compare({"a": _array()}, {"a": turned})} == {"same outcome"}


def test_what_is_asked_of_an_array_can_change_its_items() -> None:
    new = _array(minItems=1, maxItems=3, uniqueItems=True, description="each x")
    array, *leaves = _compare({"a": _array()}, {"a": new})
    assert array == Difference(
        "/a",
        "can change",
        (
            "minItems: 0 -> 1",
            "maxItems: null -> 3",
            "uniqueItems: false -> true",
            'description: null -> "each x"',
        ),
    )
    assert {(leaf.change, leaf.details) for leaf in leaves} == {
        ("can change", ("the items of /a",))
    }


def test_a_leaf_of_a_nested_array_can_change_all_that_stands_around_it() -> None:
    def outer(leaf: dict[str, Any]) -> dict[str, Any]:
        properties = {"name": TEXT, "inner": {"type": "array", "items": leaf}}
        return {"a": {"type": "array", "items": {"type": "object", "properties": properties}}}

    differences = _compare(outer(TEXT), outer({"type": "string", "maxLength": 9}))
    assert [(each.pointer, each.details) for each in differences] == [
        ("/a", ("the items of /a",)),
        ("/a/*/name", ("the items of /a",)),
        ("/a/*/inner", ("the items of /a",)),
        ("/a/*/inner/*", ("maxLength: null -> 9",)),
    ]


def test_a_leaf_that_becomes_an_array_is_a_change() -> None:
    assert _compare({"a": TEXT}, {"a": {"type": "array", "items": TEXT}}) == [
        Difference("/a", "can change", ('mode: "extract.span" -> "array"',)),
        Difference("/a/*", "added"),
    ]


def test_a_property_named_as_an_item_is_another_value() -> None:
    named = {"a": {"type": "object", "properties": {"*": TEXT}}}
    changes = {each.change for each in _compare(named, {"a": {"type": "array", "items": TEXT}})}
    assert changes == {"added", "removed"}


def test_a_text_reads_the_arrays_too() -> None:
    old, new = {"a": _array(), "b": REPLY}, {"a": _array(maxItems=2), "b": REPLY}
    assert _compare(old, new)[-1].change == "can change"
