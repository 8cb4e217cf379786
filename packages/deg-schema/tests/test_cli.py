from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from deg_schema.cli import main
from deg_schema.compile import compile_schema

GOOD = {"type": "object", "properties": {"due": {"type": "string", "format": "date"}}}
BAD = {"type": "object", "properties": {"due": {"type": "text"}}}
README = Path(__file__).parent.parent / "README.md"


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
        (["check", "."], 2),
        (["plan", "good.json"], 0),
        (["plan", "bad.json"], 1),
        (["plan", "none.json"], 2),
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
    assert out.splitlines()[1:] == ["1 problem in 1 of 2 files"]
    assert err.startswith("deg-schema: none.json: ")


def test_check_expands_globs_and_checks_each_file_once(capsys: pytest.CaptureFixture[str]) -> None:
    _write("below/more.json", GOOD)
    main(["check", "--format", "json", "good.json", "g*.json", "**/*.json"])
    files = json.loads(capsys.readouterr().out)["files"]
    paths = [Path(file["path"]).as_posix() for file in files]
    assert paths == ["good.json", "bad.json", "below/more.json"]


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


def test_plan_as_json_holds_every_field(capsys: pytest.CaptureFixture[str]) -> None:
    main(["plan", "--json", "good.json"])
    printed = json.loads(capsys.readouterr().out)
    plan = compile_schema(GOOD)
    (field,) = printed["fields"]
    assert printed["fingerprint"] == plan.fingerprint
    assert field["fingerprint"] == plan.fields[0].fingerprint
    assert (field["pointer"], field["path"], field["mode"]) == ("/due", ["due"], "extract.date")


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
        "heavy = {'jsonschema', 'regex', 'torch', 'xml.etree'} & set(sys.modules); "
        "print(time.process_time(), sorted(heavy))"
    )
    command = [sys.executable, "-c", program]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    report, seconds = output.splitlines()
    assert report == "no problems in 1 file"
    assert seconds.endswith(" []")
    assert float(seconds.split()[0]) < 0.3


def test_the_readme_shows_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    text = README.read_text(encoding="utf-8")
    for name, content in re.findall(
        r"`(\S+\.schema\.json)`:\n\n```json\n(.*?)```", text, re.DOTALL
    ):
        Path(name).write_text(content, encoding="utf-8")
    shown = re.findall(r"```console\n\$ deg-schema (.*?)\n(.*?)```", text, re.DOTALL)
    assert len(shown) == 3
    for arguments, expected in shown:
        main(arguments.split())
        assert capsys.readouterr().out == expected
