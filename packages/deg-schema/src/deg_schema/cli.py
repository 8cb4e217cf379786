"""The `deg-schema` command: checks, explains, adapts and compares schemas."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from deg_schema._version import __version__
from deg_schema.checks import STANDARD_INPUT, FileReport, check_file, read_file
from deg_schema.paths import Unmatched, expand
from deg_schema.reports import REPORTS, finding_line, visible

if TYPE_CHECKING:
    from deg_schema.differences import Difference

__all__ = ["main"]

OK, FOUND, REFUSED, STOPPED = 0, 1, 2, 130

_EXAMPLES = """\
examples:
  deg-schema check schemas/*.json
  deg-schema check --format sarif 'schemas/**/*.json' > deg-schema.sarif
  deg-schema plan invoice.schema.json
  deg-schema adapt openapi-part.json --out invoice.schema.json
  git show main:invoice.schema.json | deg-schema diff - invoice.schema.json
"""
_FILE = "a schema, or - for the standard input"
_STATUS = {
    "check": "exit status: 0 no problems, 1 problems, 2 a file was not read",
    "plan": "exit status: 0 a plan, 1 problems, 2 the file was not read",
    "adapt": "exit status: 0 the new schema has no problems, 1 it has some and is not written, "
    "2 a file was not read or not written",
    "diff": "exit status: 0 no answer can change, 1 some can, or come or go, "
    "2 one of the schemas has problems or was not read",
}


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
        description="Check, explain, adapt and compare the JSON Schemas that deg fills.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", title="commands", required=True)

    def add(name: str, what: str) -> argparse.ArgumentParser:
        text = f"{what[0].upper()}{what[1:]}."
        return commands.add_parser(name, help=what, description=text, epilog=_STATUS[name])

    check = add("check", "tell every problem of every schema")
    check.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a file, a glob (** for any folders), a folder (every *.json below it), "
        "or - for the standard input",
    )
    check.add_argument(
        "--format", choices=REPORTS, default="text", help="the form of the report (%(default)s)"
    )
    check.set_defaults(run=_check)

    plan = add("plan", "show how each field is answered")
    plan.add_argument("file", metavar="FILE", help=_FILE)
    plan.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="a table, or the whole plan as canonical JSON (%(default)s)",
    )
    plan.set_defaults(run=_plan)

    adapt = add("adapt", "rewrite what another tool printed so that deg takes it")
    adapt.add_argument("file", metavar="FILE", help=_FILE)
    adapt.add_argument(
        "--out",
        metavar="NEW",
        help="where the new schema goes, FILE itself too; the standard output for - or without it",
    )
    adapt.set_defaults(run=_adapt)

    diff = add("diff", "show which answers can change between two schemas")
    diff.add_argument("old", metavar="OLD", help=_FILE)
    diff.add_argument("new", metavar="NEW", help=_FILE)
    diff.set_defaults(run=_diff)
    return parser


def _check(chosen: argparse.Namespace) -> int:
    reports = [
        FileReport(found.name, failure=found.reason)
        if isinstance(found, Unmatched)
        else check_file(found)
        for found in expand(chosen.files)
    ]
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
    if chosen.format == "json":
        from deg_schema.plan_json import plan_to_json  # noqa: PLC0415

        _print(plan_to_json(report.plan))
        return OK
    # a check, which CI runs, needs neither
    from shutil import get_terminal_size  # noqa: PLC0415

    from deg_schema.tables import plan_table  # noqa: PLC0415

    _print(plan_table(report.plan, get_terminal_size().columns))
    if not (report.plan.fields or report.plan.arrays):
        _say("note: nothing is asked; name the values that you want under 'properties'")
    return OK


def _adapt(chosen: argparse.Namespace) -> int:
    from deg_schema.adapting import adapt_document, schema_text  # noqa: PLC0415

    document = read_file(chosen.file)
    if isinstance(document, FileReport):
        return _tell_why(document)
    adapted = adapt_document(document)
    for note in adapted.notes:
        sys.stderr.write(f"{finding_line(document.name, note, kind='note')}\n")
    if adapted.schema is None:
        for finding in adapted.findings:
            sys.stderr.write(f"{finding_line(document.name, finding)}\n")
        _say(f"{visible(document.name)} needs this mended by hand; nothing was written")
        return FOUND
    if not adapted.notes:
        _say("nothing had to change")
    return _write(schema_text(adapted.schema), chosen.out)


def _write(text: str, path: str | None) -> int:
    if path is None or path == STANDARD_INPUT:
        _print(text)
        return OK
    try:
        Path(path).write_text(f"{text}\n", encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:
        _say(f"{visible(path)}: {getattr(error, 'strerror', None) or error}")
        return REFUSED
    return OK


def _diff(chosen: argparse.Namespace) -> int:
    from deg_schema.differences import compare_plans  # noqa: PLC0415

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


def _diff_lines(differences: Sequence[Difference]) -> Iterator[str]:
    counts = []
    for change in ("added", "removed", "can change", "same outcome"):
        found = [each for each in differences if each.change == change]
        counts.append(f"{len(found)} {change}")
        for each in found:
            yield f"{change:12}  {visible(each.pointer)}"
            yield from (f"{'':12}    {visible(detail)}" for detail in each.details)
    yield ", ".join(counts)


def _tell_why(report: FileReport) -> int:
    _tell_failure(report)
    for finding in report.findings:
        sys.stderr.write(f"{finding_line(report.name, finding)}\n")
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
