from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from deg_schema.checks import Document, FileReport, check_file, check_source, read_file
from deg_schema.compile import compile_schema
from deg_schema.positions import Position

SCHEMA = {"type": "object", "properties": {"due": {"type": "string", "format": "date"}}}


def test_a_schema_in_order_gives_its_plan() -> None:
    report = check_source("a.json", json.dumps(SCHEMA).encode())
    assert report.plan == compile_schema(SCHEMA)
    assert report.findings == ()
    assert report.failure is None


def test_every_problem_has_its_place_in_the_file() -> None:
    leaves = ['"a": {"type": "text"}', '"b": {"type": "string", "mx": 1}']
    text = '{"type": "object",\n "properties": {\n  ' + ",\n  ".join(leaves) + "}}"
    report = check_source("a.json", text.encode())
    assert report.plan is None
    assert [(finding.problem.loc, finding.position) for finding in report.findings] == [
        ("/properties/a/type", Position(3, 9)),
        ("/properties/b/mx", Position(4, 27)),
    ]


@pytest.mark.parametrize(
    ("source", "loc", "message", "line", "column"),
    [
        (b"", "", "the file is empty", 1, 1),
        (b'{"a":\n 1,}', "", "the file is no JSON: nothing follows this comma", 2, 3),
        (b"\xff\xfe{\0}\0", "", "the file is UTF-16; save it as UTF-8", 1, 1),
        (b'{"a":\n "\xff"}', "", "the file is not UTF-8 at byte 8", 2, 3),
        (b"\xef\xbb\xbf{}", "", "byte order mark", 1, 1),
        (b"[]", "", "the root is a schema", 1, 1),
        (b'{"a": 1,\n "a": 2}', "/a", "given twice", 2, 2),
        (b'{"a": [1,\n NaN]}', "/a/1", "nan is no JSON number", 2, 2),
        (b'{"a": -Infinity}', "/a", "-inf is no JSON number", 1, 2),
        (b'{"a":\n 1' + b"0" * 5000 + b"}", "/a", "too large to read", 1, 2),
        (b'{"a": "\\ud800"}', "/a", "half of a surrogate pair", 1, 2),
        (b'{"a": {"\\ud800": 1}}', "/a", "half of a surrogate pair", 1, 2),
    ],
)
def test_bad_texts_are_problems(
    source: bytes, loc: str, message: str, line: int, column: int
) -> None:
    (finding,) = check_source("a.json", source).findings
    assert finding.problem.loc == loc
    assert message in finding.problem.msg
    assert finding.position == Position(line, column)


@pytest.mark.parametrize("depth", [300, 5000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_depth_is_a_problem_where_it_is_passed(depth: int, opening: str, closing: str) -> None:
    text = '{"a":' + opening * depth + "1" + closing * depth + "}"
    (finding,) = check_source("a.json", text.encode()).findings
    assert "deeper than 256 levels" in finding.problem.msg
    assert finding.position.column >= len('{"a":' + opening * 254)


def test_a_file_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    report = check_file(str(tmp_path / "none.json"))
    assert report.plan is None
    assert report.findings == ()
    assert report.failure


@given(st.binary())
def test_no_bytes_raise(source: bytes) -> None:
    report = check_source("a.json", source)
    assert report.plan is not None or report.findings


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["type", "properties", "enum", "$ref", "a"]), inner)
    ),
    max_leaves=12,
)


@given(json_values)
def test_no_document_raises(document: Any) -> None:
    report = check_source("a.json", json.dumps(document).encode())
    assert report.plan is not None or report.findings


def test_reading_a_file_gives_its_text_and_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"b": 1}', encoding="utf-8")
    assert read_file(str(path)) == Document(str(path), '{"b": 1}', {"b": 1})


def test_a_path_that_no_system_takes_is_a_failure() -> None:
    read = read_file("a\0b")
    assert isinstance(read, FileReport)
    assert read.failure is not None
