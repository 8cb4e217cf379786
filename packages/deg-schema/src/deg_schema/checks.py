"""Checks of schema files: whatever keeps a file from being compiled, with its place in the file."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deg_schema.compile import compile_schema
from deg_schema.errors import Problem, SchemaError
from deg_schema.json_faults import explain_fault
from deg_schema.json_text import load_json
from deg_schema.limits import MAX_NESTING
from deg_schema.plan import FillPlan
from deg_schema.positions import Position, locate, locate_depth, position_at

__all__ = [
    "STANDARD_INPUT",
    "Document",
    "FileReport",
    "Finding",
    "check_file",
    "check_source",
    "read_file",
]

STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of a file and where its text has it."""

    problem: Problem
    position: Position


@dataclass(frozen=True, slots=True)
class Document:
    """A file that is JSON: its text, and what the text says."""

    path: str
    text: str
    value: Any

    @property
    def name(self) -> str:
        """The path as a reader is told it."""
        return _name(self.path)

    def locate(self, problems: Iterable[Problem]) -> tuple[Finding, ...]:
        """Find where the text has each problem."""
        problems = tuple(problems)
        positions = locate(self.text, {problem.loc for problem in problems})
        return tuple(Finding(problem, positions[problem.loc]) for problem in problems)


@dataclass(frozen=True, slots=True)
class FileReport:
    """What became of one file: a plan, or findings, or the reason why it was not read."""

    path: str
    plan: FillPlan | None = None
    findings: tuple[Finding, ...] = ()
    failure: str | None = None

    @property
    def name(self) -> str:
        """The path as a reader is told it."""
        return _name(self.path)


def check_file(path: str) -> FileReport:
    """Check the schema in the file at *path*, or on the standard input for `-`."""
    return _checked(read_file(path))


def check_source(path: str, source: bytes) -> FileReport:
    """Check the schema that *source*, the content of a file, spells."""
    return _checked(_read_source(path, source))


def read_file(path: str) -> Document | FileReport:
    """Read the JSON in the file at *path*, or tell why it cannot be read."""
    try:
        source = sys.stdin.buffer.read() if path == STANDARD_INPUT else Path(path).read_bytes()
    except (OSError, ValueError) as error:
        # a path that holds a null character is no value that the system takes
        return FileReport(path, failure=getattr(error, "strerror", None) or str(error))
    return _read_source(path, source)


def _checked(read: Document | FileReport) -> FileReport:
    if isinstance(read, FileReport):
        return read
    try:
        return FileReport(read.path, plan=compile_schema(read.value))
    except SchemaError as error:
        return FileReport(read.path, findings=read.locate(error.problems))


def _read_source(path: str, source: bytes) -> Document | FileReport:
    if source.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _refused(path, "the file is UTF-16; save it as UTF-8", Position(1, 1))
    try:
        text = source.decode()
    except UnicodeDecodeError as error:
        before = source[: error.start].decode()
        message = f"the file is not UTF-8 at byte {error.start}; save it as UTF-8"
        return _refused(path, message, position_at(before, len(before)))
    if text.startswith("\N{ZERO WIDTH NO-BREAK SPACE}"):
        message = "the file starts with a byte order mark; save it as UTF-8 without one"
        return _refused(path, message, Position(1, 1))
    try:
        return Document(path, text, load_json(text))
    except json.JSONDecodeError as error:
        fault = explain_fault(error)
        return _refused(path, fault.message, position_at(text, fault.offset))
    except RecursionError:
        message = f"the file nests deeper than {MAX_NESTING} levels; flatten it"
        return _refused(path, message, locate_depth(text, MAX_NESTING))


def _name(path: str) -> str:
    return "<stdin>" if path == STANDARD_INPUT else path


def _refused(path: str, message: str, position: Position) -> FileReport:
    return FileReport(path, findings=(Finding(Problem("", message), position),))
