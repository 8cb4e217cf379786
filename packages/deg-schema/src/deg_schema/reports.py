"""Reports of a check, in the forms that people, programs and CI services read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from deg_schema._version import __version__
from deg_schema.checks import STANDARD_INPUT, FileReport, Finding

__all__ = ["REPORTS", "finding_line", "visible"]

_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_RULE = "schema-problem"


def visible(text: str) -> str:
    """Escape what a terminal would obey and an XML reader would refuse."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def finding_line(name: str, finding: Finding, *, kind: str | None = None) -> str:
    """Write one problem of the file *name*, or what *kind* says it is, as editors read it."""
    place = f"{finding.position.line}:{finding.position.column}"
    what = f"{kind}: " if kind else ""
    return f"{visible(name)}:{place}: {what}{_message(finding)}"


def _text(reports: Sequence[FileReport]) -> str:
    lines = [
        finding_line(report.name, finding) for report in reports for finding in report.findings
    ]
    num_bad = sum(bool(report.findings) for report in reports)
    num_read = sum(report.failure is None for report in reports)
    if not num_read:
        return "no file was checked"
    found = _count(len(lines), "problem") if lines else "no problems"
    where = f"{num_bad} of {_count(num_read, 'file')}" if lines else _count(num_read, "file")
    num_unread = len(reports) - num_read
    unread = f"; {_count(num_unread, 'name')} not read" if num_unread else ""
    return "\n".join([*lines, f"{found} in {where}{unread}"])


def _json(reports: Sequence[FileReport]) -> str:
    files = [
        {
            "path": report.path,
            "problems": [
                {
                    "loc": finding.problem.loc,
                    "msg": finding.problem.msg,
                    "line": finding.position.line,
                    "column": finding.position.column,
                }
                for finding in report.findings
            ],
            "failure": report.failure,
        }
        for report in reports
    ]
    return json.dumps({"version": __version__, "files": files}, indent=2)


def _github(reports: Sequence[FileReport]) -> str:
    lines = []
    for report in reports:
        for finding in report.findings:
            place = f"line={finding.position.line},col={finding.position.column}"
            lines.append(_annotation(report, _message(finding), place))
        if report.failure is not None:
            lines.append(_annotation(report, visible(report.failure)))
    return "\n".join(lines)


def _annotation(report: FileReport, message: str, place: str | None = None) -> str:
    parts = [place, "title=deg-schema"]
    # the standard input is no file of the repository
    if report.path != STANDARD_INPUT:
        parts = [f"file={_property(visible(_posix(report.path)))}", *parts]
    # line breaks, which end a command, are visible by now
    return f"::error {','.join(filter(None, parts))}::{_percent(message)}"


def _sarif(reports: Sequence[FileReport]) -> str:
    rule = {
        "id": _RULE,
        "shortDescription": {"text": "The schema is outside the contract of deg."},
        "fullDescription": {
            "text": "deg fills the schemas of a part of JSON Schema, and no other."
        },
        "help": {"text": "The message names the keyword and the way out."},
        "defaultConfiguration": {"level": "error"},
    }
    failures = [
        {
            "level": "error",
            "message": {"text": f"{visible(report.name)}: {visible(report.failure)}"},
        }
        for report in reports
        if report.failure is not None
    ]
    run = {
        "tool": {"driver": {"name": "deg-schema", "version": __version__, "rules": [rule]}},
        "invocations": [
            {"executionSuccessful": not failures, "toolExecutionNotifications": failures}
        ],
        "columnKind": "unicodeCodePoints",
        "results": [
            result
            for report in reports
            if report.findings
            for result in _sarif_results(_uri(report.path), report.findings)
        ],
    }
    return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _sarif_results(uri: str, findings: Iterable[Finding]) -> Iterator[dict[str, Any]]:
    for finding in findings:
        region = {"startLine": finding.position.line, "startColumn": finding.position.column}
        location: dict[str, Any] = {
            "physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}
        }
        if finding.problem.loc:
            location["logicalLocations"] = [{"fullyQualifiedName": finding.problem.loc}]
        yield {
            "ruleId": _RULE,
            "ruleIndex": 0,
            "level": "error",
            "message": {"text": _message(finding)},
            "locations": [location],
        }


def _junit(reports: Sequence[FileReport]) -> str:
    # no other form needs this import
    from xml.etree import ElementTree  # noqa: PLC0415

    counts = {
        "tests": str(len(reports)),
        "failures": str(sum(bool(report.findings) for report in reports)),
        "errors": str(sum(report.failure is not None for report in reports)),
    }
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "deg-schema", **counts})
    for report in reports:
        names = {"classname": "deg-schema", "name": visible(report.name)}
        case = ElementTree.SubElement(suite, "testcase", names)
        if report.failure is not None:
            message = visible(report.failure)
            ElementTree.SubElement(case, "error", {"type": "unreadable", "message": message})
        elif report.findings:
            message = _count(len(report.findings), "problem")
            attributes = {"type": _RULE, "message": message}
            failure = ElementTree.SubElement(case, "failure", attributes)
            failure.text = "\n".join(
                f"{finding.position.line}:{finding.position.column}: {_message(finding)}"
                for finding in report.findings
            )
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode")


REPORTS: dict[str, Callable[[Sequence[FileReport]], str]] = {
    "text": _text,
    "json": _json,
    "github": _github,
    "sarif": _sarif,
    "junit": _junit,
}
"""Each form of a report by its name."""


def _message(finding: Finding) -> str:
    # the line and column say it where the whole document is meant
    problem = finding.problem
    return visible(str(problem) if problem.loc else problem.msg)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _percent(text: str) -> str:
    return text.replace("%", "%25")


def _property(text: str) -> str:
    return _percent(text).replace(":", "%3A").replace(",", "%2C")


def _posix(path: str) -> str:
    # annotations find a file by the path that the repository has for it
    return Path(path).as_posix()


def _uri(path: str) -> str:
    if path == STANDARD_INPUT:
        return "stdin"
    # no other form needs this import
    from urllib.parse import quote  # noqa: PLC0415

    file = Path(path)
    return (
        file.as_uri()
        if file.is_absolute()
        else quote(file.as_posix().encode(errors="surrogateescape"))
    )
