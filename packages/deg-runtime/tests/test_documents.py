from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from deg_runtime.documents import (
    DocumentError,
    check_target,
    read_document,
    read_options,
    read_schema,
    write_whole,
)


def _file(folder: Path, content: bytes, name: str = "document.txt") -> str:
    path = folder / name
    path.write_bytes(content)
    return str(path)


@pytest.mark.parametrize(
    "text", ["", " \n\t", "a\x00b", "line\r\nline", "naïve 日本 🙂", "‮reversed"]
)
def test_a_text_is_read_as_it_stands(tmp_path: Path, text: str) -> None:
    assert read_document(_file(tmp_path, text.encode())) == text


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    assert read_document(_file(tmp_path, b"\xef\xbb\xbfhello")) == "hello"


def test_a_json_document_is_read_as_json(tmp_path: Path) -> None:
    assert read_document(_file(tmp_path, b'{"a": [1]}', "order.JSON")) == {"a": [1]}


def test_standard_input_is_read_as_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO("é".encode())))
    assert read_document("-") == "é"


def test_standard_input_may_be_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"[1]")))
    assert read_document("-", as_json=True) == [1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"caf\xe9", "not UTF-8 text .at byte 3."),
        (b"%PDF-1.7\n\xe2\xe3\xcf\xd3", "convert it to plain text"),
        (b"\xff\xfeh\x00i\x00", "not UTF-8"),
        (b"\xed\xa0\x80", "not UTF-8"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        read_document(_file(tmp_path, content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "no JSON .* at column 2"),
        (b"3", "an object, an array or a string"),
        (b'{"a": 1, "b": 2, "a": 3}', "the key 'a' is given twice"),
        (b"[" * 100_000, "nests too deep"),
    ],
)
def test_json_that_is_none_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        read_document(_file(tmp_path, content, "document.json"))


def test_an_integer_of_many_digits_is_left_to_the_check_of_values(tmp_path: Path) -> None:
    assert read_schema(Path(_file(tmp_path, b"9" * 5000))) == float("inf")


@pytest.mark.parametrize(
    ("name", "message"),
    [("absent.txt", "no such file"), (".", "is a folder"), ("a\x00b", "cannot be read")],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        read_document(str(tmp_path / name))


@pytest.mark.parametrize(
    ("word", "options"),
    [
        ("date_order=DMY", {"date_order": "DMY"}),
        ('date_order="DMY"', {"date_order": "DMY"}),
        ("null_margin=2.5", {"null_margin": 2.5}),
        ("max_items=null", {"max_items": None}),
        ("default_offset=+02:00", {"default_offset": "+02:00"}),
        ("decimal_separator=,", {"decimal_separator": ","}),
        ("a==b", {"a": "=b"}),
    ],
)
def test_an_option_is_json_or_a_text(word: str, options: dict[str, Any]) -> None:
    assert read_options([word]) == options


@pytest.mark.parametrize("words", [["seed"], ["=1"], ["seed=1", "seed=2"]])
def test_an_option_that_says_nothing_is_refused(words: list[str]) -> None:
    with pytest.raises(DocumentError, match="--option"):
        read_options(words)


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("old")
    write_whole(target, "new é\n")
    assert target.read_bytes() == "new é\n".encode()
    assert list(tmp_path.iterdir()) == [target]


def test_nothing_is_left_of_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "page.html", "start \ud800")
    assert list(tmp_path.iterdir()) == []


def test_a_target_is_checked_before_any_work(tmp_path: Path) -> None:
    document = _file(tmp_path, b"hello")
    check_target(tmp_path / "page.html", document)
    with pytest.raises(DocumentError, match="not there"):
        check_target(tmp_path / "absent" / "page.html")
    with pytest.raises(DocumentError, match="not a file"):
        check_target(tmp_path)
    with pytest.raises(DocumentError, match="overwrite"):
        check_target(Path(document), "-", document)
