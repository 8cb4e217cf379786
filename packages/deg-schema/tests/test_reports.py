from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from deg_schema.checks import FileReport, Finding, check_source
from deg_schema.errors import Problem
from deg_schema.positions import Position
from deg_schema.reports import REPORTS, visible

PROBLEM = Problem("/properties/a", "'enum' is empty; give 100% of it")
BAD = FileReport("dir/b,c.json", findings=(Finding(PROBLEM, Position(3, 7)),))
UNREAD = FileReport("none.json", failure="No such file or directory")
GOOD = check_source("good.json", b'{"type": "object"}')
HOSTILE = FileReport("-", findings=(Finding(Problem("/\x1b[31m\0\ud800", "m\n"), Position(1, 1)),))


def test_text_gives_each_problem_a_line_and_counts_them() -> None:
    assert REPORTS["text"]([GOOD, BAD]).splitlines() == [
        "dir/b,c.json:3:7: /properties/a: 'enum' is empty; give 100% of it",
        "1 problem in 1 of 2 files",
    ]
    assert REPORTS["text"]([GOOD]) == "no problems in 1 file"
    assert REPORTS["text"]([GOOD, UNREAD]) == "no problems in 1 file; 1 name not read"
    assert REPORTS["text"]([UNREAD]) == "no file was checked"


def test_what_is_wrong_with_the_whole_is_told_without_a_pointer() -> None:
    whole = FileReport("a.json", findings=(Finding(Problem("", "it is empty"), Position(1, 1)),))
    assert REPORTS["text"]([whole]).startswith("a.json:1:1: it is empty\n")


def test_json_gives_problems_with_their_places() -> None:
    files = json.loads(REPORTS["json"]([GOOD, BAD, UNREAD]))["files"]
    problem = {"loc": PROBLEM.loc, "msg": PROBLEM.msg, "line": 3, "column": 7}
    assert files == [
        {"path": "good.json", "problems": [], "failure": None},
        {"path": "dir/b,c.json", "problems": [problem], "failure": None},
        {"path": "none.json", "problems": [], "failure": UNREAD.failure},
    ]


def test_github_gets_one_command_a_problem() -> None:
    assert REPORTS["github"]([GOOD, BAD, UNREAD]).splitlines() == [
        "::error file=dir/b%2Cc.json,line=3,col=7,title=deg-schema::"
        "/properties/a: 'enum' is empty; give 100%25 of it",
        "::error file=none.json,title=deg-schema::No such file or directory",
    ]
    assert REPORTS["github"]([GOOD]) == ""


def test_github_finds_no_file_for_the_standard_input() -> None:
    report = FileReport("-", findings=BAD.findings)
    assert REPORTS["github"]([report]).startswith("::error line=3,col=7,title=deg-schema::")


def test_github_reads_no_command_out_of_a_name_or_a_message() -> None:
    hostile = FileReport("a%0A::error ::b,line=2\n", failure="100%0A\r\n::warning::c")
    (line,) = REPORTS["github"]([hostile]).splitlines()
    assert line == (
        r"::error file=a%250A%3A%3Aerror %3A%3Ab%2Cline=2\n,title=deg-schema::"
        r"100%250A\r\n::warning::c"
    )


def test_sarif_has_what_its_standard_requires() -> None:
    log = json.loads(REPORTS["sarif"]([GOOD, BAD]))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert run["tool"]["driver"]["name"] == "deg-schema"
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]
    (result,) = run["results"]
    assert result["ruleId"] == run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"]
    assert result["message"]["text"] == str(PROBLEM)
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "dir/b%2Cc.json"},
        "region": {"startLine": 3, "startColumn": 7},
    }
    assert location["logicalLocations"] == [{"fullyQualifiedName": "/properties/a"}]


def _closed(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    """Return a schema of an object with these members and no others."""
    return {
        "type": "object",
        "properties": {**required, **optional},
        "required": [*required],
        "additionalProperties": False,
    }


TEXT = {"type": "string", "minLength": 1}
MESSAGE = _closed({"text": TEXT})
LEVEL = {"enum": ["none", "note", "warning", "error"]}
# what SARIF 2.1.0 asks of the parts that are written here
SARIF = _closed(
    {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": _closed(
                {
                    "tool": _closed(
                        {
                            "driver": _closed(
                                {"name": TEXT},
                                version=TEXT,
                                rules={
                                    "type": "array",
                                    "uniqueItems": True,
                                    "items": _closed(
                                        {"id": TEXT},
                                        shortDescription=MESSAGE,
                                        fullDescription=MESSAGE,
                                        help=MESSAGE,
                                        defaultConfiguration=_closed({}, level=LEVEL),
                                    ),
                                },
                            )
                        }
                    )
                },
                columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                invocations={
                    "type": "array",
                    "items": _closed(
                        {"executionSuccessful": {"type": "boolean"}},
                        toolExecutionNotifications={
                            "type": "array",
                            "items": _closed({"message": MESSAGE}, level=LEVEL),
                        },
                    ),
                },
                results={
                    "type": "array",
                    "items": _closed(
                        {"message": MESSAGE},
                        ruleId=TEXT,
                        ruleIndex={"type": "integer", "minimum": -1},
                        level=LEVEL,
                        locations={
                            "type": "array",
                            "items": _closed(
                                {},
                                physicalLocation=_closed(
                                    {
                                        "artifactLocation": _closed(
                                            {}, uri={"format": "uri-reference"}
                                        )
                                    },
                                    region=_closed(
                                        {},
                                        startLine={"type": "integer", "minimum": 1},
                                        startColumn={"type": "integer", "minimum": 1},
                                    ),
                                ),
                                logicalLocations={
                                    "type": "array",
                                    "items": _closed({}, fullyQualifiedName={"type": "string"}),
                                },
                            ),
                        },
                    ),
                },
            ),
        },
    },
    **{"$schema": {"type": "string", "format": "uri"}},
)


@pytest.mark.parametrize("reports", [[], [GOOD], [GOOD, BAD], [BAD, UNREAD], [HOSTILE]])
def test_sarif_keeps_to_its_schema(reports: list[FileReport]) -> None:
    jsonschema.validate(json.loads(REPORTS["sarif"](reports)), SARIF)


def test_sarif_tells_what_was_not_read() -> None:
    (run,) = json.loads(REPORTS["sarif"]([UNREAD]))["runs"]
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["message"]["text"] == "none.json: No such file or directory"
    assert run["results"] == []


def test_sarif_spells_paths_as_uris() -> None:
    reports = [FileReport(path, findings=BAD.findings) for path in ("-", "/a b.json", "é\udcff")]
    results = json.loads(REPORTS["sarif"](reports))["runs"][0]["results"]
    places = [result["locations"][0]["physicalLocation"] for result in results]
    uris = [place["artifactLocation"]["uri"] for place in places]
    assert uris == ["stdin", "file:///a%20b.json", "%C3%A9%FF"]


def test_junit_has_one_case_a_file() -> None:
    root = ElementTree.fromstring(REPORTS["junit"]([GOOD, BAD, UNREAD]))
    assert root.tag == "testsuites"
    suite = root.find("testsuite")
    assert suite is not None
    assert suite.attrib == {"name": "deg-schema", "tests": "3", "failures": "1", "errors": "1"}
    cases = suite.findall("testcase")
    assert [case.get("name") for case in cases] == ["good.json", "dir/b,c.json", "none.json"]
    assert [[child.tag for child in case] for case in cases] == [[], ["failure"], ["error"]]
    assert suite.findtext("testcase/failure") == f"3:7: {PROBLEM}"


@pytest.mark.parametrize("name", ["text", "github", "junit"])
def test_nothing_that_a_terminal_obeys_is_printed(name: str) -> None:
    text = REPORTS[name]([HOSTILE])
    assert text.replace("\n", "").isprintable()
    assert r"/\x1b[31m\x00\ud800: m\n" in text


@pytest.mark.parametrize("name", REPORTS)
def test_every_report_can_be_encoded(name: str) -> None:
    REPORTS[name]([HOSTILE, GOOD, UNREAD]).encode()


def test_junit_of_a_hostile_file_is_xml() -> None:
    root = ElementTree.fromstring(REPORTS["junit"]([HOSTILE]))
    assert root.find("testsuite/testcase/failure") is not None


def test_visible_keeps_what_can_be_seen() -> None:
    assert visible("naïve 日本語") == "naïve 日本語"
    assert visible("a\tb\u202ec") == r"a\tb\u202ec"
