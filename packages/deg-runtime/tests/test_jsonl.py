from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from deg_runtime import jsonl
from deg_runtime.documents import DocumentError
from deg_runtime.jsonl import Line, Record, RecordError, parse_record, read_lines, survey

LINES = st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")))


def test_lines_have_the_numbers_that_an_editor_shows() -> None:
    file = io.BytesIO(b'"a"\r\n\n  \n"b"\n"c"')
    assert list(read_lines(file)) == [Line(1, 0, b'"a"'), Line(4, 9, b'"b"'), Line(5, 13, b'"c"')]


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    file = io.BytesIO(b'\xef\xbb\xbf"a"\n\xef\xbb\xbf"b"\n')
    assert [line.content for line in read_lines(file)] == [b'"a"', b'\xef\xbb\xbf"b"']


@given(LINES)
def test_reading_may_begin_at_any_line(contents: list[bytes]) -> None:
    file = io.BytesIO(b"\n".join(contents))
    lines = list(read_lines(file))
    for index, line in enumerate(lines):
        file.seek(line.offset)
        assert list(read_lines(file, first=line.number)) == lines[index:]


def test_an_endless_line_is_refused_and_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "_MOST_BYTES", 8)
    long, short = read_lines(io.BytesIO(b'"' + b"x" * 50 + b'"\n"short"\n'))
    assert parse_record(short.content) == Record("short")
    assert (short.number, short.offset) == (2, 53)
    with pytest.raises(RecordError, match="longer than 8 bytes"):
        parse_record(long.content)


def test_a_record_is_a_text_or_an_object() -> None:
    assert parse_record(b'"Zo\xc3\xab"') == Record("Zoë")
    content = {"id": [1, None], "context": {"a": 1}, "schema": {"type": "object"}}
    record = parse_record(json.dumps(content).encode())
    assert record == Record({"a": 1}, {"type": "object"}, {"id": [1, None]})


@pytest.mark.parametrize(
    ("content", "pointer", "message"),
    [
        (b"{", "", "no JSON .* at column 2"),
        (b"\xff", "", "not UTF-8 at byte 0"),
        (b"3", "", "a record is a text"),
        (b'["a"]', "", "a record is a text"),
        (b'{"id": 3}', "/context", "missing"),
        (b'{"context": 3}', "/context", "a context is"),
        (b'{"context": "a", "schema": "b"}', "/schema", "a schema is an object"),
        (b'{"context": "a", "a/b": 1}', "/a~1b", "no part of a record"),
        (b'{"context": "a", "\\ud800": 1}', "/\\ud800", "no part of a record"),
        (b'{"context": "a", "context": "b"}', "", "given twice"),
        (b'{"context": "a", "id": [NaN]}', "/id/0", "no JSON number"),
        (b'{"context": "a", "id": "\\ud800"}', "/id", "surrogate"),
        (b"[" * 100_000, "", "nests too deep"),
    ],
)
def test_what_is_no_record_is_refused_at_its_place(
    content: bytes, pointer: str, message: str
) -> None:
    with pytest.raises(RecordError, match=message) as refused:
        parse_record(content)
    assert refused.value.pointer == pointer


def test_a_record_that_is_refused_keeps_its_id() -> None:
    with pytest.raises(RecordError) as refused:
        parse_record(b'{"id": 7, "context": 3}')
    assert refused.value.identity == {"id": 7}


@given(st.binary())
def test_nothing_but_a_refusal_comes_of_any_bytes(content: bytes) -> None:
    try:
        record = parse_record(content)
    except RecordError as error:
        json.dumps([error.pointer, error.message]).encode()
    else:
        assert isinstance(record.context, (str, dict, list))


def test_a_survey_counts_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b'"a"\n\nno record\n"b"')
    before = survey(path)
    path.write_bytes(b'"a"\n\nno record\n"c"')
    assert (before.num_records, survey(path).num_records) == (3, 3)
    assert before.sha256 != survey(path).sha256


def test_what_cannot_be_read_twice_is_no_input(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="no such file"):
        survey(tmp_path / "absent")
    with pytest.raises(DocumentError, match="not a file"):
        survey(tmp_path)
