from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from deg_train.labels import Fault, Labelled, read_labels

SCHEMA = {
    "type": "object",
    "properties": {
        "buyer": {"type": "string"},
        "total": {"type": ["number", "null"]},
        "kind": {"enum": ["order", "offer"]},
    },
}
ROW = {
    "context": "Ada owes 1,250.00",
    "schema": SCHEMA,
    "value": {"buyer": "Ada", "total": 1250, "kind": "order"},
}


def read(tmp_path: Path, *rows: Any) -> list[Labelled | Fault]:
    path = tmp_path / "own.jsonl"
    path.write_text(
        "".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows)
    )
    return list(read_labels(path))


def test_a_line_needs_no_more_than_context_schema_and_value(tmp_path: Path) -> None:
    (each,) = read(tmp_path, ROW)
    assert isinstance(each, Labelled)
    assert (each.split, each.record.source, each.missing) == ("train", "own", ())
    assert each.record.spans == {"/buyer": ((0, 3),), "/total": ((9, 17),)}


def test_a_json_context_is_labelled_as_the_model_reads_it(tmp_path: Path) -> None:
    (each,) = read(tmp_path, ROW | {"context": {"who": "Ada", "owes": "1,250.00"}})
    assert isinstance(each, Labelled)
    record = each.record
    assert {p: record.context[slice(*places[0])] for p, places in record.spans.items()} == {
        "/buyer": "Ada",
        "/total": "1,250.00",
    }


def test_options_say_how_values_are_read(tmp_path: Path) -> None:
    row = ROW | {"context": "Ada owes 1.250,00", "options": {"decimal_separator": ","}}
    (each,) = read(tmp_path, row)
    assert isinstance(each, Labelled)
    assert each.record.spans["/total"] == ((9, 17),)
    assert each.record.options == {"decimal_separator": ","}


def test_a_value_that_stands_nowhere_is_told(tmp_path: Path) -> None:
    (each,) = read(tmp_path, ROW | {"value": {"buyer": "Eve", "total": None}})
    assert isinstance(each, Labelled)
    assert each.missing == ("/buyer",)


def test_given_places_and_probabilities_are_kept(tmp_path: Path) -> None:
    more = {"spans": {"/buyer": [[0, 3]]}, "probabilities": {"/kind": [7e-1, 3e-1]}, "split": "val"}
    (each,) = read(tmp_path, ROW | more)
    assert isinstance(each, Labelled)
    assert each.split == "val"
    assert each.record.probabilities == {"/kind": (0.7, 0.3)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"context": 7}, "context: a context is a string"),
        ({"schema": {"type": "object", "properties": {"a": {"type": "strin"}}}}, "schema/prop"),
        ({"value": {"buyer": 7}}, "value/buyer: 7 is not of type 'string'"),
        ({"value": []}, "'value' is an object"),
        ({"value": {"buyr": "Ada"}}, "value/buyr: the schema asks for no such property"),
        ({"valeu": {}}, "'valeu' is none of context"),
        ({"options": {"date_order": "YDM"}}, "options/date_order: 'date_order' must be"),
        ({"options": {"seed": 1}}, "options/seed: it is none of date_order"),
        ({"options": []}, "options(root): 'options' is an object"),
        ({"split": "dev"}, "'split' is one of train, val, test, not 'dev'"),
        ({"spans": {"/buyer": [[0, 2]]}}, "spans/buyer: 'Ad' does not read as the value 'Ada'"),
        ({"spans": {"/buyer": [[0, 99]]}}, "spans/buyer: [0, 99) is outside the context"),
        ({"spans": {"/kind": [[0, 3]]}}, "spans/kind: there is no copied field"),
        ({"spans": {"/buyer": [0, 3]}}, "'spans' maps each pointer to a list"),
        ({"probabilities": {"/kind": [0.1, 0.9]}}, "another outcome is likelier than the value"),
        ({"probabilities": {"/kind": [0.5]}}, "probabilities/kind: 2 numbers"),
        ({"probabilities": {"/buyer": [1.0]}}, "probabilities/buyer: there is no decided field"),
    ],
)
def test_a_fault_names_its_place(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    good, fault = read(tmp_path, "\n", ROW, ROW | change)
    assert isinstance(good, Labelled)
    assert good.line == 2
    assert isinstance(fault, Fault)
    assert str(fault).startswith("line 3: ")
    assert message in str(fault)


@pytest.mark.parametrize(
    ("leaf", "value", "message"),
    [
        ({"type": "string", "pattern": r"^\p{L}+$"}, "Ada", None),
        ({"type": "string", "pattern": r"^\p{L}+$"}, "1,250.00", "does not match"),
        ({"type": "number", "multipleOf": 0.01}, 19.99, None),
        ({"type": "string", "format": "date"}, "15.06.2026", "value/x: '15.06.2026' is not a"),
    ],
)
def test_a_value_is_valid_as_one_that_is_filled(
    leaf: dict[str, Any], value: object, message: str | None, tmp_path: Path
) -> None:
    schema = {"type": "object", "properties": {"x": leaf}}
    (each,) = read(tmp_path, ROW | {"schema": schema, "value": {"x": value}})
    assert isinstance(each, Labelled) if message is None else message in str(each)


@pytest.mark.parametrize("index", ["00", "\u00b2", "9", "9" * 5000])
def test_a_place_in_an_item_that_is_not_there_is_a_fault(index: str, tmp_path: Path) -> None:
    item = {"type": "object", "properties": {"name": {"type": "string"}}}
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": item}}}
    row = {"context": "Ada", "schema": schema, "value": {"rows": [{"name": "Ada"}]}}
    (each,) = read(tmp_path, row | {"spans": {f"/rows/{index}/name": [[0, 3]]}})
    assert isinstance(each, Fault)
    (nested,) = read(tmp_path, row | {"value": {"rows": [{"name": "Ada"}, {"nam": "Ada"}]}})
    assert "value/rows/1/nam: " in str(nested)


@pytest.mark.parametrize(
    "line", ["{", "[]\n", '"text"\n', "{}\n", "\ufeff{}\n", '{"context": ' + "1" * 5000 + "}"]
)
def test_a_line_that_is_no_record_is_a_fault(line: str, tmp_path: Path) -> None:
    (fault,) = read(tmp_path, line)
    assert isinstance(fault, Fault)


@given(st.binary(max_size=60))
def test_no_line_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, line: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "any.jsonl"
    path.write_bytes(line)
    for each in read_labels(path):
        assert isinstance(each, Fault)
