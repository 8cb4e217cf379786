from __future__ import annotations

from typing import Any

from hypothesis import given, strategies as st

from deg_train.item_metrics import aligned_values, count_exact, positional_values
from deg_train.measures import Measure
from deg_train.records import Record

ITEM = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "number"}}}
SCHEMA = {"type": "object", "properties": {"x": {"type": "array", "items": ITEM}}}
TEA, MILK, BREAD = {"a": "tea", "b": 1}, {"a": "milk", "b": 2}, {"a": "bread", "b": None}


def pair(gold: list[Any], answer: list[Any]) -> tuple[Record, dict[str, Any]]:
    record = Record("", SCHEMA, {"x": gold}, {}, "made")
    return record, {"value": {"x": answer}, "meta": {"/x": {"mode": "array"}}}


def test_items_in_another_order_are_right_when_aligned() -> None:
    swapped = [pair([TEA, MILK], [MILK, TEA])]
    assert aligned_values(swapped) == Measure(1, 4)
    assert positional_values(swapped) == Measure(0, 4)


def test_a_missing_and_a_surplus_item_count_against_it() -> None:
    assert aligned_values([pair([TEA, BREAD], [TEA])]) == Measure(2 / 3, 3)
    assert aligned_values([pair([TEA], [TEA, BREAD])]) == Measure(2 / 3, 3)
    assert count_exact([pair([TEA], [TEA, BREAD]), pair([TEA], [MILK])]) == Measure(0.5, 2)


def test_null_is_no_value_and_true_is_not_one() -> None:
    assert aligned_values([pair([{"a": "x", "b": None}], [{"a": "x"}])]) == Measure(1, 1)
    assert aligned_values([pair([{"b": 1}], [{"b": True}])]) == Measure(0, 1)


def test_an_array_that_is_left_out_has_no_items() -> None:
    record, response = pair([], [])
    response["value"] = {}
    assert count_exact([(record, response)]) == Measure(1, 1)


def test_arrays_are_found_by_reference() -> None:
    schema = {"$ref": "#/$defs/doc", "$defs": {"doc": SCHEMA | {"properties": {"o": SCHEMA}}}}
    record = Record("", schema, {"o": {"x": [TEA]}}, {}, "made")
    response = {"value": {"o": {"x": [TEA]}}, "meta": {"/o/x": {"mode": "array"}}}
    assert aligned_values([(record, response)]) == Measure(1, 2)


@given(st.permutations([TEA, MILK, BREAD]))
def test_the_order_of_answers_does_not_matter_when_aligned(answer: list[Any]) -> None:
    assert aligned_values([pair([TEA, MILK, BREAD], answer)]) == Measure(1, 5)
