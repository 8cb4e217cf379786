from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from deg_train.records import Record, RecordError, check, lookup, read_records, write_records

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "number"}}}


def make_record(value: dict[str, object], spans: dict[str, tuple[tuple[int, int], ...]]) -> Record:
    return Record("pay 12.50 to Ada", SCHEMA, value, spans, "test")


def test_a_record_survives_its_line_of_json() -> None:
    record = make_record({"a": "Ada"}, {"/a": ((13, 16),)})
    assert Record.from_json(record.to_json()) == record


def test_records_survive_a_file(tmp_path: Path) -> None:
    records = [make_record({"a": "Ada"}, {"/a": ((13, 16),)}), make_record({}, {})]
    assert write_records(tmp_path / "records.jsonl", records) == 2
    assert list(read_records(tmp_path / "records.jsonl")) == records


@pytest.mark.parametrize("line", ["", "[]", "{}", "nonsense", '{"context": "x", "spans": []}'])
def test_a_line_that_is_no_record_is_refused(line: str) -> None:
    with pytest.raises(RecordError, match="is no record"):
        Record.from_json(line)


def test_check_accepts_a_parsed_value_and_a_verbatim_one() -> None:
    check(make_record({"a": "Ada", "n": 12.5}, {"/a": ((13, 16),), "/n": ((4, 9),)}))


@pytest.mark.parametrize(
    ("value", "span", "message"),
    [
        ("Ada", (13, 17), "outside"),
        ("Ada", (16, 13), "outside"),
        ("Ada", (12, 16), "blanks"),
        ("Ada", (4, 9), "is not the value"),
        (None, (13, 16), "value None"),
    ],
)
def test_check_names_what_is_wrong(value: object, span: tuple[int, int], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        check(make_record({"a": value}, {"/a": (span,)}))


@pytest.mark.parametrize(
    ("pointer", "found"),
    [
        ("/x/1/a", "Bo"),
        ("/x/0", {"a": "Ada"}),
        ("/x/2/a", None),
        ("/x/a", None),
        ("/x/-1", None),
        ("/x/0/a/0", None),
    ],
)
def test_lookup_goes_through_arrays(pointer: str, found: object) -> None:
    assert lookup({"x": [{"a": "Ada"}, {"a": "Bo"}]}, pointer) == found


def test_check_goes_through_arrays() -> None:
    day = {"type": "string", "format": "date"}
    item = {"type": "object", "properties": {"a": {"type": "string"}, "d": day}}
    schema = {"type": "object", "properties": {"x": {"type": "array", "items": item}}}
    value = {"x": [{"a": "Ada", "d": "2024-05-01"}]}
    spans = {"/x/0/a": ((0, 3),), "/x/0/d": ((4, 14),)}
    record = Record("Ada 1 May 2024", schema, value, spans, "test")
    check(record)
    with pytest.raises(RecordError, match="/x/0/a: the span 'Ad' is not the value 'Ada'"):
        check(replace(record, spans=spans | {"/x/0/a": ((0, 2),)}))
    with pytest.raises(RecordError, match="/x/1/a: 1 spans for the value None"):
        check(replace(record, spans={"/x/1/a": ((0, 3),)}))


@given(st.text(min_size=1))
def test_lookup_reads_escaped_pointers(name: str) -> None:
    escaped = name.replace("~", "~0").replace("/", "~1")
    assert lookup({"outer": {name: 7}}, f"/outer/{escaped}") == 7
    assert lookup({}, f"/outer/{escaped}") is None
