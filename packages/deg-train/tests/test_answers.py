from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from deg_model import DegModel
from deg_runtime import Engine
from deg_schema import FillError
from deg_train.answers import Answered, answer_all, holds_slice_law, is_valid
from deg_train.generate import DocumentSource
from deg_train.records import Record

SCHEMA = {
    "type": "object",
    "properties": {"x": {"type": "string"}, "n": {"type": "integer"}},
    "required": ["x", "n"],
}


def answered(value: dict[str, Any], **spans: list[int]) -> Answered:
    meta = {f"/{name}": {"span": spans.get(name)} for name in ("x", "n")}
    record = Record("Ann owes 1,200", SCHEMA, {}, {}, "made")
    return Answered(record, {"value": value, "meta": meta})


class Picky:
    """Refuses `/n` as long as it is required."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def fill_many(
        self, documents: Sequence[tuple[str, Mapping[str, Any], Mapping[str, Any]]]
    ) -> list[dict[str, Any] | FillError]:
        self.sizes.append(len(documents))
        return [
            FillError("not found", "/n") if "n" in schema["required"] else {"value": {"x": context}}
            for context, schema, _ in documents
        ]


def test_records_answered_together_are_answered_as_alone(model: DegModel) -> None:
    records = DocumentSource().records(6, seed=1)
    together = [each for group in answer_all(Engine(model), records) for each in group]
    alone = [
        each
        for record in records
        for group in answer_all(Engine(model), [record])
        for each in group
    ]
    assert together == alone


def test_a_refused_field_is_left_out_and_counted() -> None:
    record = Record("Ann", SCHEMA, {"x": "Ann"}, {}, "made")
    ((one,),) = answer_all(Picky(), [record])
    assert one.refused == ("/n",)
    assert one.record.schema["required"] == ["x"]
    assert SCHEMA["required"] == ["x", "n"]


def test_a_refused_field_is_found_by_reference() -> None:
    class Deep:
        def fill_many(
            self, documents: Sequence[tuple[str, Mapping[str, Any], Mapping[str, Any]]]
        ) -> list[dict[str, Any] | FillError]:
            required = [schema["$defs"]["d"]["required"] for _, schema, _ in documents]
            return [FillError("not found", "/o/n") if "n" in each else {} for each in required]

    schema = {"type": "object", "properties": {"o": {"$ref": "#/$defs/d"}}, "$defs": {"d": SCHEMA}}
    ((one,),) = answer_all(Deep(), [Record("Ann", schema, {}, {}, "made")])
    assert one.refused == ("/o/n",)


def test_an_error_that_optional_fields_do_not_heal_is_raised() -> None:
    class Stubborn(Picky):
        def fill_many(
            self, documents: Sequence[tuple[str, Mapping[str, Any], Mapping[str, Any]]]
        ) -> list[dict[str, Any] | FillError]:
            return [FillError("no", "") for _ in documents]

    with pytest.raises(FillError):
        list(answer_all(Stubborn(), [Record("Ann", SCHEMA, {}, {}, "made")]))


def test_groups_are_bounded_by_records_and_by_text() -> None:
    schema = {"type": "object", "properties": {}, "required": []}
    engine = Picky()
    short = [Record("short", schema, {}, {}, "made")] * 70
    long = [Record("long" * 3000, schema, {}, {}, "made")] * 3
    assert sum(len(group) for group in answer_all(engine, [*short, *long])) == 73
    assert max(engine.sizes) == 32
    assert engine.sizes[-3:] == [1, 1, 1] or engine.sizes[-2:] == [1, 1]


def test_a_value_is_its_slice_or_what_the_slice_reads_as() -> None:
    right = answered({"x": "Ann", "n": 1200}, x=[0, 3], n=[9, 14])
    wrong = answered({"x": "Anna", "n": 12}, x=[0, 3], n=[9, 14])
    assert holds_slice_law(right) == [True, True]
    assert holds_slice_law(wrong) == [False, False]
    assert holds_slice_law(answered({"x": None, "n": None})) == []


def test_validity_is_that_of_the_schema() -> None:
    assert is_valid(answered({"x": "Ann", "n": 1}))
    assert not is_valid(answered({"x": "Ann"}))


def test_validity_knows_decimals_and_patterns_that_python_does_not() -> None:
    price = {"type": "number", "multipleOf": 0.01}
    name = {"type": "string", "pattern": r"^\p{L}+$"}
    for leaf, right, wrong in ((price, 19.99, 19.995), (name, "Ann", "A1")):
        schema = {"type": "object", "properties": {"x": leaf}}
        record = Record("Ann owes 19.99", schema, {}, {}, "made")
        assert is_valid(Answered(record, {"value": {"x": right}, "meta": {}}))
        assert not is_valid(Answered(record, {"value": {"x": wrong}, "meta": {}}))
