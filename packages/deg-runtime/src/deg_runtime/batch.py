"""Batch jobs: the records of a file filled in order, each one answered or reported.

An answer has the bytes that the record would get alone, on any engine and in any batch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from deg_model import ContextTooLong
from deg_runtime.console import describe_failure
from deg_runtime.jobs import Request, Response
from deg_runtime.jsonl import Line, Record, RecordError, parse_record
from deg_runtime.memory import is_out_of_memory
from deg_schema import DegError, FillError, Options, RequestError, SchemaError

__all__ = ["Answer", "FillsMany", "LineFiller", "in_batches"]


class FillsMany(Protocol):
    """What a batch needs of an engine."""

    def fill_many(
        self, requests: Sequence[Request], *, options: Options | Mapping[str, Any] | None = None
    ) -> Sequence[Response | DegError]:
        """Return the response to each request, or the error of that request alone."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the output says of one record.

    Attributes:
        number: The line of the input.
        text: The line of the output, with its end.
        fault: Why there is no response, in words.
    """

    number: int
    text: bytes
    fault: str | None = None


class LineFiller:
    """Fills the records of lines.

    Args:
        engine: What fills them.
        schema: Of the records that have none of their own.
        options: Of all.
    """

    def __init__(self, engine: FillsMany, schema: Mapping[str, Any], options: Options) -> None:
        self._engine, self._schema, self._options = engine, schema, options

    def fill(self, lines: Sequence[Line]) -> list[Answer]:
        """Return an answer to each of *lines*, in their order."""
        records = [_parsed(line) for line in lines]
        good = [record for record in records if isinstance(record, Record)]
        filled = iter(self._fill([(record.context, self._schema_of(record)) for record in good]))
        return [
            _answer(line, record, next(filled))
            if isinstance(record, Record)
            else _failed(line, record.identity, record.pointer, record.message)
            for line, record in zip(lines, records, strict=True)
        ]

    def _schema_of(self, record: Record) -> Mapping[str, Any]:
        return self._schema if record.schema is None else record.schema

    def _fill(self, requests: Sequence[Request]) -> list[Response | DegError]:
        if not requests:
            return []
        try:
            filled = list(self._engine.fill_many(requests, options=self._options))
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            if len(requests) == 1:
                return [FillError(describe_failure(error) or "")]
            return [one for request in requests for one in self._fill([request])]
        if len(filled) > 1:
            # what does not fit beside others may fit alone
            for index, one in enumerate(filled):
                if isinstance(one, ContextTooLong):
                    (filled[index],) = self._fill([requests[index]])
        return filled


def in_batches(lines: Iterable[Line], size: int) -> Iterator[list[Line]]:
    """Cut *lines* into batches of *size*, the last one shorter, each only when asked for."""
    lines = iter(lines)
    while batch := list(islice(lines, size)):
        yield batch


def _parsed(line: Line) -> Record | RecordError:
    try:
        return parse_record(line.content)
    except RecordError as error:
        return error


def _answer(line: Line, record: Record, filled: Response | DegError) -> Answer:
    if isinstance(filled, DegError):
        return _failed(line, record.identity, *_fault(filled))
    # what had been read before depends on the order of work, which a response must not
    usage = {name: count for name, count in filled["usage"].items() if name != "cached_tokens"}
    response = filled | {"usage": usage}
    return Answer(line.number, _spelled(line, record.identity, {"response": response}))


def _failed(line: Line, identity: Mapping[str, Any], pointer: str, message: str) -> Answer:
    error = {"pointer": pointer, "message": message}
    fault = f"{pointer}: {message}" if pointer else message
    return Answer(line.number, _spelled(line, identity, {"error": error}), fault)


def _fault(error: DegError) -> tuple[str, str]:
    """Return the pointer, into the record or of the field, and the message."""
    if isinstance(error, FillError):
        return error.pointer, error.message
    if isinstance(error, (RequestError, SchemaError)):
        (problem, *others) = error.problems
        part = "/schema" if isinstance(error, SchemaError) else "/context"
        more = f" (and {len(others)} more)" if others else ""
        return part + problem.loc, problem.msg + more
    return ("/context" if isinstance(error, ContextTooLong) else ""), str(error)


def _spelled(line: Line, identity: Mapping[str, Any], result: Mapping[str, Any]) -> bytes:
    answer = {"line": line.number, **identity, **result}
    return (json.dumps(answer, ensure_ascii=False, allow_nan=False) + "\n").encode()
