from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from deg_schema.cli import main
from deg_schema.compile import compile_schema
from deg_schema.plan_json import plan_from_json

GOOD = {"type": "object", "properties": {"due": {"type": "string", "format": "date"}}}
BAD = {"type": "object", "properties": {"due": {"type": "text"}}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Run each test in a folder with a good and a bad schema."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    _write("good.json", GOOD)
    _write("bad.json", BAD)
    return tmp_path


def _write(name: str, schema: Any) -> None:
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(schema), encoding="utf-8")


def _pipe(monkeypatch: pytest.MonkeyPatch, schema: Any) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(schema).encode())))


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["check", "good.json"], 0),
        (["check", "bad.json"], 1),
        (["check", "good.json", "bad.json"], 1),
        (["check", "none.json"], 2),
        (["check", "bad.json", "none.json"], 2),
        (["check", "."], 1),
        (["check", "x*.json"], 2),
        (["plan", "good.json"], 0),
        (["plan", "bad.json"], 1),
        (["plan", "none.json"], 2),
        (["plan", "."], 2),
        (["adapt", "good.json"], 0),
        (["adapt", "bad.json"], 1),
        (["adapt", "none.json"], 2),
        (["adapt", "good.json", "--out", "none/new.json"], 2),
        (["diff", "good.json", "good.json"], 0),
        (["diff", "good.json", "bad.json"], 2),
        (["diff", "none.json", "good.json"], 2),
        (["diff", "-", "-"], 2),
    ],
)
def test_the_status_says_what_was_found(arguments: list[str], status: int) -> None:
    assert main(arguments) == status


@pytest.mark.parametrize("arguments", [[], ["check"], ["check", "--format", "xml", "a"], ["what"]])
def test_a_wrong_call_exits_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2


def test_check_tells_every_file(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "none.json", "good.json", "bad.json"])
    out, err = capsys.readouterr()
    assert out.splitlines()[0].startswith("bad.json:1:43: /properties/due/type: 'type' 'text'")
    assert out.splitlines()[1:] == ["1 problem in 1 of 2 files; 1 name not read"]
    assert err.startswith("deg-schema: none.json: ")


def test_check_expands_globs_and_checks_each_file_once(capsys: pytest.CaptureFixture[str]) -> None:
    _write("below/more.json", GOOD)
    main(["check", "--format", "json", "good.json", "g*.json", "**/*.json"])
    files = json.loads(capsys.readouterr().out)["files"]
    paths = [Path(file["path"]).as_posix() for file in files]
    assert paths == ["good.json", "bad.json", "below/more.json"]


def test_check_takes_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    _write("below/more.json", BAD)
    assert main(["check", "below"]) == 1
    assert Path(capsys.readouterr().out.partition(":")[0]) == Path("below/more.json")


@pytest.mark.parametrize("name", ["check", "plan", "adapt", "diff"])
def test_each_command_tells_its_exit_status(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"])
    assert caught.value.code == 0
    assert "exit status: 0 " in " ".join(capsys.readouterr().out.split())


def test_no_command_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([])
    assert "{check,plan,adapt,diff}" in capsys.readouterr().err


def test_a_glob_that_nothing_matches_is_a_missing_file() -> None:
    assert main(["check", "good.json", "x*.json"]) == 2


def test_a_file_may_be_named_as_a_glob_is_spelled() -> None:
    _write("[a].json", GOOD)
    assert main(["check", "[a].json"]) == 0


def test_check_reads_the_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _pipe(monkeypatch, BAD)
    assert main(["check", "-"]) == 1
    assert capsys.readouterr().out.startswith("<stdin>:1:43: ")


def test_each_format_reads_as_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    outputs = {}
    for name in ("json", "sarif", "junit", "github"):
        assert main(["check", "--format", name, "bad.json"]) == 1
        outputs[name] = capsys.readouterr().out
    assert json.loads(outputs["json"])["files"][0]["problems"][0]["line"] == 1
    assert json.loads(outputs["sarif"])["runs"][0]["results"]
    assert ElementTree.fromstring(outputs["junit"]).get("failures") == "1"
    assert outputs["github"].startswith("::error file=bad.json,line=1,col=43,")


def test_plan_as_json_is_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "--format", "json", "good.json"])
    assert plan_from_json(capsys.readouterr().out) == compile_schema(GOOD)


def test_adapt_writes_the_schema_and_tells_each_change(capsys: pytest.CaptureFixture[str]) -> None:
    _write("old.json", {**GOOD, "kind": "é"})
    assert main(["adapt", "old.json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == GOOD
    assert err.startswith("old.json:1:81: note: /kind: ")
    assert err.count("\n") == 1


def test_adapt_writes_where_it_is_told_to(capsys: pytest.CaptureFixture[str]) -> None:
    _write("old.json", {**GOOD, "title": "é", "kind": 1})
    assert main(["adapt", "old.json", "--out", "old.json"]) == 0
    assert capsys.readouterr().out == ""
    text = Path("old.json").read_bytes().decode()
    assert json.loads(text) == {**GOOD, "title": "é"}
    assert "é" in text
    assert text.endswith("}\n")


def test_adapt_of_what_is_fit_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    main(["adapt", "good.json"])
    assert capsys.readouterr().err == "deg-schema: nothing had to change\n"


def test_adapt_writes_nothing_where_a_problem_stays(capsys: pytest.CaptureFixture[str]) -> None:
    Path("new.json").write_text("as it was", encoding="utf-8")
    assert main(["adapt", "bad.json", "--out", "new.json"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "bad.json:1:43: /properties/due/type: 'type' 'text'" in err
    assert err.endswith("deg-schema: bad.json needs this mended by hand; nothing was written\n")
    assert Path("new.json").read_text(encoding="utf-8") == "as it was"


def test_plan_of_nothing_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    _write("empty.json", {"type": "object"})
    assert main(["plan", "empty.json"]) == 0
    assert "note: nothing is asked; name the values" in capsys.readouterr().err


def test_plan_of_a_bad_schema_tells_why(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "bad.json"])
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("bad.json:1:43: /properties/due/type: ")


def test_diff_tells_what_can_change(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    new = {"due": {"type": "string", "format": "date"}, "paid": {"type": "boolean"}}
    _pipe(monkeypatch, {"type": "object", "properties": new})
    assert main(["diff", "good.json", "-"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "added         /paid",
        "same outcome  /due",
        "1 added, 0 removed, 0 can change, 1 same outcome",
    ]


def test_a_reader_that_goes_is_no_traceback() -> None:
    _write("wide.json", {"type": "object", "properties": {f"p{i}": {} for i in range(5000)}})
    program = "from deg_schema.cli import main; raise SystemExit(main(['check', 'wide.json']))"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_a_check_is_quick_and_imports_nothing_heavy() -> None:
    program = (
        "import sys, time; from deg_schema.cli import main; main(['check', 'good.json']); "
        "heavy = {'jsonschema', 'regex', 'torch', 'xml.etree', 'glob'}; "
        "heavy &= set(sys.modules); "
        "print(time.process_time(), sorted(heavy))"
    )
    command = [sys.executable, "-c", program]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    report, seconds = output.splitlines()
    assert report == "no problems in 1 file"
    assert seconds.endswith(" []")
    # several times what it takes: the machine that runs the tests may be slow
    assert float(seconds.split()[0]) < 1
