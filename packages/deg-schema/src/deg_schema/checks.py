"""Checks of schema files: whatever keeps a file from being compiled, with its place in the file."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from deg_schema.compile import compile_schema
from deg_schema.errors import Problem, SchemaError
from deg_schema.json_text import load_json
from deg_schema.limits import MAX_NESTING
from deg_schema.plan import FillPlan
from deg_schema.positions import Position, locate, locate_depth, position_at

__all__ = ["STANDARD_INPUT", "FileReport", "Finding", "check_file", "check_source"]

STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of a file and where its text has it."""

    problem: Problem
    position: Position


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
        return "<stdin>" if self.path == STANDARD_INPUT else self.path


def check_file(path: str) -> FileReport:
    """Check the schema in the file at *path*, or on the standard input for `-`."""
    try:
        source = sys.stdin.buffer.read() if path == STANDARD_INPUT else Path(path).read_bytes()
    except OSError as error:
        return FileReport(path, failure=error.strerror or str(error))
    return check_source(path, source)


def check_source(path: str, source: bytes) -> FileReport:
    """Check the schema that *source*, the content of a file, spells."""
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
        schema = load_json(text)
    except json.JSONDecodeError as error:
        message = f"the file is no JSON: {error.msg}"
        return _refused(path, message, Position(error.lineno, error.colno))
    except RecursionError:
        message = f"the file nests deeper than {MAX_NESTING} levels; flatten it"
        return _refused(path, message, locate_depth(text, MAX_NESTING))
    try:
        return FileReport(path, plan=compile_schema(schema))
    except SchemaError as error:
        return FileReport(path, findings=_located(text, error.problems))


def _refused(path: str, message: str, position: Position) -> FileReport:
    return FileReport(path, findings=(Finding(Problem("", message), position),))


def _located(text: str, problems: Iterable[Problem]) -> tuple[Finding, ...]:
    problems = tuple(problems)
    positions = locate(text, {problem.loc for problem in problems})
    return tuple(Finding(problem, positions[problem.loc]) for problem in problems)
