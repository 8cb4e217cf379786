"""JSON Lines: the records of a batch, one a line, each read or refused by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from deg_runtime.documents import DocumentError, parse_json
from deg_schema import Pointer, RequestError, render_context

__all__ = ["Line", "Record", "RecordError", "Survey", "parse_record", "read_lines", "survey"]

_MOST_BYTES = 1 << 28
_MARK = b"\xef\xbb\xbf"
_PARTS = ("context", "id", "schema")


@dataclass(frozen=True, slots=True)
class Line:
    """A line that holds something.

    Attributes:
        number: From 1, blank lines counted.
        offset: The byte where it starts.
        content: Without what is blank at its ends.
    """

    number: int
    offset: int
    content: bytes


@dataclass(frozen=True, slots=True)
class Record:
    """What one line asks for.

    Attributes:
        context: The document.
        schema: The schema of this record alone, if it has one.
        identity: `{"id": ...}` as the record gives it, or nothing.
    """

    context: str | Mapping[str, Any] | list[Any]
    schema: Mapping[str, Any] | None = None
    identity: Mapping[str, Any] = field(default_factory=dict)


class RecordError(ValueError):
    """A line is no record; *pointer* leads to what is wrong in it."""

    def __init__(
        self, pointer: str, message: str, identity: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.pointer, self.message, self.identity = pointer, message, identity or {}


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of a file before its records are read: the hash, and how many there are."""

    sha256: str
    num_records: int


def survey(path: Path) -> Survey:
    """Read *path* once, in little memory.

    Raises:
        DocumentError: It cannot be read, or is no file that can be read again.
    """
    if path.exists() and not path.is_file():
        raise DocumentError(f"{path}: not a file; a batch reads its input more than once")
    try:
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            return Survey(sha256, sum(1 for _ in read_lines(file)))
    except FileNotFoundError:
        raise DocumentError(f"{path}: there is no such file") from None
    except OSError as error:
        raise DocumentError(f"{path}: cannot be read ({error.strerror})") from None


def read_lines(file: BinaryIO, *, first: int = 1) -> Iterator[Line]:
    """Yield the lines that hold something; the file stands at the start of line *first*.

    Of a line longer than any document only the beginning is kept: `parse_record` refuses it.
    """
    number, offset = first, file.tell()
    while piece := file.readline(_MOST_BYTES + 1):
        content, end = piece, offset + len(piece)
        while piece and not piece.endswith(b"\n"):
            piece = file.readline(_MOST_BYTES)
            end += len(piece)
        if not offset:
            content = content.removeprefix(_MARK)
        content = content.strip(b" \t\r\n")
        if content:
            yield Line(number, offset, content)
        number, offset = number + 1, end


def parse_record(content: bytes) -> Record:
    """Read one line: a text, or an object of `context`, `id` and `schema`.

    Raises:
        RecordError: It is neither.
    """
    if len(content) > _MOST_BYTES:
        raise RecordError("", f"the line is longer than {_MOST_BYTES:,} bytes; split the document")
    try:
        record = parse_json(content.decode())
    except UnicodeDecodeError as error:
        raise RecordError("", f"not UTF-8 at byte {error.start}; convert the file") from None
    except DocumentError as error:
        raise RecordError("", str(error)) from None
    if isinstance(record, str):
        record = {"context": record}
    if not isinstance(record, dict):
        raise RecordError("", "a record is a text, or an object with a 'context'")
    identity = _identity(record)
    for problem in _problems(record):
        raise RecordError(*problem, identity)
    return Record(record["context"], record.get("schema"), identity)


def _identity(record: Mapping[str, Any]) -> Mapping[str, Any]:
    if "id" not in record:
        return {}
    try:
        render_context([record["id"]])
    except RequestError as error:
        (problem, *_) = error.problems
        pointer = str(Pointer(("id", *Pointer.parse(problem.loc).tokens[1:])))
        raise RecordError(pointer, problem.msg) from None
    return {"id": record["id"]}


def _problems(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in record:
        if name not in _PARTS:
            pointer = str(Pointer((name,))).encode(errors="backslashreplace").decode()
            yield pointer, f"no part of a record; the parts are {', '.join(_PARTS)}"
    if "context" not in record:
        yield "/context", "missing; give the document"
    elif not isinstance(record["context"], (str, dict, list)):
        yield "/context", "a context is a string, an object or an array"
    if not isinstance(record.get("schema", {}), dict):
        yield "/schema", "a schema is an object"
