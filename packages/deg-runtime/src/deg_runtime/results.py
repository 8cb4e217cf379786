"""The output of a batch: whole lines, appended in order, taken up again after any end.

Beside the output stands a small file that says what job it belongs to.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deg_runtime.documents import DocumentError, write_whole
from deg_runtime.jsonl import Line

if sys.platform != "win32":
    import fcntl

__all__ = ["BatchJob", "Finished", "Results", "job_place"]

_PARTS = {
    "input": "another input",
    "schema": "another schema",
    "options": "other options",
    "checkpoint": "another checkpoint",
    "version": "another version of deg",
}


@dataclass(frozen=True, slots=True)
class BatchJob:
    """What an output depends on; two jobs that are equal write the same bytes.

    Attributes:
        input: The hash of the input.
        schema: The hash of the schema.
        options: All options of the request.
        checkpoint: The hash of the checkpoint.
        version: Of this package.
    """

    input: str
    schema: str
    options: Mapping[str, Any]
    checkpoint: str
    version: str


@dataclass(frozen=True, slots=True)
class Finished:
    """How many records have an answer, and how many of these a failure."""

    num_records: int = 0
    num_failed: int = 0


class Results:
    """An output that is open for one job.

    Raises:
        DocumentError: Another process writes it, or it belongs to another job.
    """

    def __init__(self, path: Path, job: BatchJob) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            self._lock()
            self._check(job)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Results:
        """Return this."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Let other processes write the file."""
        os.close(self._file)

    def resume(self, lines: Iterator[Line]) -> Finished:
        """Take up after the records that are finished, and cut off a line that is not whole.

        Args:
            lines: The input from its first line; left at the first record without an answer.

        Raises:
            DocumentError: A line is none that this job wrote.
        """
        num_records = num_failed = end = 0
        with self._path.open("rb") as written:
            while (text := written.readline()).endswith(b"\n"):
                num_records += 1
                num_failed += self._is_failure(text, num_records, next(lines, None))
                end += len(text)
        os.ftruncate(self._file, end)
        return Finished(num_records, num_failed)

    def append(self, texts: Sequence[bytes]) -> None:
        """Write whole lines, or none of them.

        Raises:
            OSError: There is no room.
        """
        rest = memoryview(b"".join(texts))
        end = os.fstat(self._file).st_size
        try:
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, end)
            message = f"{error.strerror}; what is finished is kept: make room, then run the "
            raise OSError(error.errno, f"{message}same command again", str(self._path)) from None

    def _lock(self) -> None:
        if sys.platform == "win32":
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = "another deg batch is writing it; wait for it, or name another --out"
            raise DocumentError(f"{self._path}: {message}") from None
        except OSError:
            # a file system without locks
            return

    def _check(self, job: BatchJob) -> None:
        place = job_place(self._path)
        text = json.dumps(asdict(job), indent=2) + "\n"
        if not os.fstat(self._file).st_size:
            write_whole(place, text)
            return
        now, begun = json.loads(text), _read_job(place)
        if begun is None:
            message = f"no deg batch is known to have written it ({place.name} cannot be read)"
            raise DocumentError(f"{self._path}: {message}; name another --out")
        if changed := [words for name, words in _PARTS.items() if begun.get(name) != now[name]]:
            message = f"was begun with {' and '.join(changed)}; run it as it was begun"
            raise DocumentError(f"{self._path}: {message}, or name another --out")

    def _is_failure(self, text: bytes, number: int, line: Line | None) -> bool:
        try:
            answer = json.loads(text)
            if line is not None and answer["line"] == line.number:
                return "error" in answer
        except (ValueError, TypeError, KeyError):
            # told below
            pass
        message = f"line {number} is not as deg batch wrote it; restore it, or name another --out"
        raise DocumentError(f"{self._path}: {message}")


def job_place(path: Path) -> Path:
    """Return where it stands what job the output at *path* belongs to."""
    return path.with_name(f"{path.name}.job")


def _read_job(place: Path) -> dict[str, Any] | None:
    try:
        begun = json.loads(place.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return begun if isinstance(begun, dict) else None
