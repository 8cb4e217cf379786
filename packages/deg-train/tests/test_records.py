from __future__ import annotations

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


@given(st.text(min_size=1))
def test_lookup_reads_escaped_pointers(name: str) -> None:
    escaped = name.replace("~", "~0").replace("/", "~1")
    assert lookup({"outer": {name: 7}}, f"/outer/{escaped}") == 7
    assert lookup({}, f"/outer/{escaped}") is None
