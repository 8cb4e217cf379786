"""The `deg-schema` command: checks, explains and compares schemas."""

from __future__ import annotations

import argparse
import dataclasses
import glob
import io
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

from deg_schema._version import __version__
from deg_schema.checks import STANDARD_INPUT, FileReport, check_file
from deg_schema.differences import Change, Difference, compare_plans
from deg_schema.plan import FillPlan
from deg_schema.reports import REPORTS, visible
from deg_schema.tables import plan_table

__all__ = ["main"]

OK, FOUND, REFUSED, STOPPED = 0, 1, 2, 130

_EXAMPLES = """\
examples:
  deg-schema check schemas/*.json
  deg-schema check --format sarif 'schemas/**/*.json' > deg-schema.sarif
  deg-schema plan invoice.schema.json
  git show main:invoice.schema.json | deg-schema diff - invoice.schema.json
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 1 for what it found, 2 for input to mend."""
    _use_utf8()
    chosen = _parser().parse_args(arguments)
    try:
        status: int = chosen.run(chosen)
        sys.stdout.flush()
    except BrokenPipeError:
        # whoever read the output has gone, and the flush at exit would find that out once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND
    except KeyboardInterrupt:
        return STOPPED
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="deg-schema",
        description="Check, explain and compare the JSON Schemas that deg fills.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    check = commands.add_parser("check", help="tell every problem of every schema")
    check.add_argument(
        "files", nargs="+", metavar="FILE", help="a file, a glob, or - for the standard input"
    )
    check.add_argument("--format", choices=REPORTS, default="text", help="the form of the report")
    check.set_defaults(run=_check)

    plan = commands.add_parser("plan", help="show how each field is answered")
    plan.add_argument("file", metavar="FILE", help="a schema, or - for the standard input")
    plan.add_argument("--json", action="store_true", help="print the plan as JSON")
    plan.set_defaults(run=_plan)

    diff = commands.add_parser("diff", help="show which answers can change between two schemas")
    diff.add_argument("old", metavar="OLD", help="a schema, or - for the standard input")
    diff.add_argument("new", metavar="NEW", help="a schema, or - for the standard input")
    diff.set_defaults(run=_diff)
    return parser


def _check(chosen: argparse.Namespace) -> int:
    # a file that two globs name is checked once
    paths = dict.fromkeys(path for name in chosen.files for path in _expand(name))
    reports = [check_file(path) for path in paths]
    for report in reports:
        _tell_failure(report)
    if text := REPORTS[chosen.format](reports):
        _print(text)
    if any(report.failure is not None for report in reports):
        return REFUSED
    return FOUND if any(report.findings for report in reports) else OK


def _plan(chosen: argparse.Namespace) -> int:
    report = check_file(chosen.file)
    if report.plan is None:
        return _tell_why(report)
    if chosen.json:
        _print(json.dumps(_members(report.plan), indent=2))
    else:
        _print(plan_table(report.plan, shutil.get_terminal_size().columns))
    return OK


def _diff(chosen: argparse.Namespace) -> int:
    if chosen.old == chosen.new == STANDARD_INPUT:
        _say("only one of the two schemas can come from the standard input")
        return REFUSED
    old, new = check_file(chosen.old), check_file(chosen.new)
    if old.plan is None or new.plan is None:
        for report in (old, new):
            if report.plan is None:
                _tell_why(report)
        # 1 would say that the two differ
        return REFUSED
    differences = compare_plans(old.plan, new.plan)
    for line in _diff_lines(differences):
        _print(line)
    return FOUND if any(each.change != "same outcome" for each in differences) else OK


def _expand(name: str) -> list[str]:
    """Expand a glob, for shells that do not; a file may be named as a glob is spelled."""
    if name == STANDARD_INPUT or not glob.has_magic(name) or Path(name).exists():
        return [name]
    found = sorted(path for path in glob.glob(name, recursive=True) if Path(path).is_file())
    # what nothing matches is told as the missing file that it is
    return found or [name]


def _members(plan: FillPlan) -> dict[str, Any]:
    members = dataclasses.asdict(plan)
    members["fields"] = [
        {"pointer": field.pointer, **spec, "fingerprint": field.fingerprint}
        for field, spec in zip(plan.fields, members["fields"], strict=True)
    ]
    return members | {"fingerprint": plan.fingerprint}


def _diff_lines(differences: Sequence[Difference]) -> Iterator[str]:
    counts = []
    for change in get_args(Change):
        found = [each for each in differences if each.change == change]
        counts.append(f"{len(found)} {change}")
        for each in found:
            yield f"{change:12}  {visible(each.pointer)}"
            yield from (f"{'':12}    {visible(detail)}" for detail in each.details)
    yield ", ".join(counts)


def _tell_why(report: FileReport) -> int:
    _tell_failure(report)
    for finding in report.findings:
        place = f"{visible(report.name)}:{finding.position.line}:{finding.position.column}"
        sys.stderr.write(f"{place}: {visible(str(finding.problem))}\n")
    return REFUSED if report.failure is not None else FOUND


def _tell_failure(report: FileReport) -> None:
    if report.failure is not None:
        _say(f"{visible(report.name)}: {visible(report.failure)}")


def _say(message: str) -> None:
    sys.stderr.write(f"deg-schema: {message}\n")


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _use_utf8() -> None:
    """Print UTF-8 whatever the locale is: JSON has no other encoding."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
