from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from deg_runtime.documents import DocumentError
from deg_runtime.jsonl import Line
from deg_runtime.results import BatchJob, Finished, Results, job_place

JOB = BatchJob("input", "schema", {"seed": None}, "checkpoint", "1")
NUMBERS = (1, 2, 4, 7)
LINES = [Line(number, 0, b"") for number in NUMBERS]
TEXTS = [
    json.dumps({"line": number, "error" if number == 2 else "response": {}}).encode() + b"\n"
    for number in NUMBERS
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An output whose job is finished."""
    with Results(tmp_path / "out", JOB) as results:
        assert results.resume(iter(LINES)) == Finished()
        results.append(TEXTS)
    return tmp_path / "out"


def test_what_is_finished_is_counted(path: Path) -> None:
    with Results(path, JOB) as results:
        lines = iter([*LINES, Line(9, 0, b"")])
        assert results.resume(lines) == Finished(4, 1)
        assert next(lines).number == 9
    assert path.read_bytes() == b"".join(TEXTS)


@given(length=st.integers(0, sum(map(len, TEXTS))))
def test_an_output_cut_at_any_byte_is_taken_up_again(
    tmp_path_factory: pytest.TempPathFactory, length: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "out"
    with Results(path, JOB) as results:
        results.append(TEXTS)
    os.truncate(path, length)
    with Results(path, JOB) as results:
        finished = results.resume(iter(LINES)).num_records
        whole = sum(length >= len(b"".join(TEXTS[:count])) for count in range(1, 5))
        assert finished == whole
        results.append(TEXTS[finished:])
    assert path.read_bytes() == b"".join(TEXTS)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("input", "another input"),
        ("schema", "another schema"),
        ("checkpoint", "another checkpoint"),
        ("version", "another version of deg"),
    ],
)
def test_another_job_is_refused(path: Path, part: str, words: str) -> None:
    with pytest.raises(DocumentError, match=f"begun with {words}; run it as"):
        Results(path, replace(JOB, **{part: "other"}))
    with pytest.raises(DocumentError, match="begun with other options"):
        Results(path, replace(JOB, options={"seed": 3}))
    assert path.read_bytes() == b"".join(TEXTS)


def test_an_output_that_is_removed_is_begun_anew(path: Path) -> None:
    path.unlink()
    with Results(path, replace(JOB, schema="other")) as results:
        assert results.resume(iter(LINES)) == Finished()


@pytest.mark.parametrize("content", [None, "", "[]", "{"])
def test_a_file_that_no_batch_wrote_is_refused(path: Path, content: str | None) -> None:
    job_place(path).unlink()
    if content is not None:
        job_place(path).write_text(content)
    with pytest.raises(DocumentError, match="no deg batch is known to have written it"):
        Results(path, JOB)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + b"\n",
        lambda text: b"{}\n" + text,
        lambda text: text.replace(b'"line": 4', b'"line": 5'),
        lambda text: text.replace(b'"line": 4, ', b"\xff"),
        lambda text: text + text,
        lambda text: b"[1]\n" + text,
    ],
)
def test_an_output_that_was_edited_is_refused_untouched(
    path: Path, change: Callable[[bytes], bytes]
) -> None:
    edited = change(path.read_bytes())
    path.write_bytes(edited)
    with Results(path, JOB) as results, pytest.raises(DocumentError, match="restore it"):
        results.resume(iter(LINES))
    assert path.read_bytes() == edited


def test_two_processes_do_not_write_one_output(path: Path) -> None:
    with Results(path, JOB), pytest.raises(DocumentError, match="another deg batch"):
        Results(path, JOB)
    Results(path, JOB).close()


def test_a_disk_that_is_full_takes_no_half_line(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, room = os.write, [100]

    def write_some(file: int, content: bytes) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        count = write(file, content[: room[0]])
        room[0] -= count
        return count

    monkeypatch.setattr(os, "write", write_some)
    with Results(path, JOB) as results:
        results.resume(iter(LINES))
        with pytest.raises(OSError, match="No space left .*; what is finished is kept: make room"):
            results.append([b"x" * 80, b"y" * 80])
    assert path.read_bytes() == b"".join(TEXTS)
