from __future__ import annotations

from random import Random

from hypothesis import given, settings, strategies as st

from deg_schema import compile_schema
from deg_train.generate.option_order import is_reordered, twins, with_shuffled_options
from deg_train.records import Record

OPTIONS = ["a", "b", None, "c"]


def record_of(**leaves: object) -> Record:
    properties = {name: {"enum": OPTIONS} for name in ("x", "y")} | leaves
    value = {"x": "a", "y": "c"}
    return Record("text", {"type": "object", "properties": properties}, value, {}, "made")


@given(st.integers(0, 10**6))
@settings(deadline=None)
def test_twins_differ_in_nothing_but_the_order_of_options(seed: int) -> None:
    record = record_of(z={"oneOf": [{"const": "p", "description": "q"}, {"const": "r"}]})
    one, other = twins(record, Random(seed))
    assert one == record
    assert other.value == record.value
    assert is_reordered(one, other)
    assert not is_reordered(one, one)


@given(st.integers(0, 10**6))
@settings(deadline=None)
def test_probabilities_move_with_their_options(seed: int) -> None:
    record = record_of()
    numbers = (0.1, 0.2, 0.3, 0.4)
    record = Record(record.context, record.schema, record.value, {}, "made", {"/x": numbers})
    shuffled = with_shuffled_options(record, Random(seed))
    (field, _) = compile_schema(shuffled.schema).fields
    found = dict(zip(field.options, shuffled.probabilities["/x"], strict=True))
    (before, _) = compile_schema(record.schema).fields
    assert found == dict(zip(before.options, numbers, strict=True))


def test_another_document_is_no_twin() -> None:
    record = record_of()
    other = with_shuffled_options(record, Random(1))
    moved = Record("other", other.schema, other.value, {}, "made")
    assert not is_reordered(record, moved)
