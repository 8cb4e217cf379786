from __future__ import annotations

import json
from xml.etree import ElementTree

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
