from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path

import pytest

from deg_schema.cli import main

TEXT = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
FILES = re.findall(r"`(\S+\.schema\.json)`:\n\n```json\n(.*?)```", TEXT, re.DOTALL)
PROGRAMS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
SHOWN = re.findall(r"```console\n\$ (.*?)\n(.*?)```", TEXT, re.DOTALL)
PIPE = re.compile(r"echo '(.*)' \| ")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run each test in a folder with the schemas that the README shows."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, content in FILES:
        Path(name).write_text(content, encoding="utf-8")


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_runs(program: str) -> None:
    exec(compile(program, "README.md", "exec"), {})


@pytest.mark.parametrize(("line", "expected"), SHOWN)
def test_a_command_prints_what_is_shown(
    line: str,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if piped := PIPE.match(line):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"{piped[1]}\n".encode())))
    # a terminal shows both
    monkeypatch.setattr("sys.stderr", sys.stdout)
    program, *arguments = shlex.split(line[piped.end() :] if piped else line)
    assert program == "deg-schema"
    main(arguments)
    assert capsys.readouterr().out == expected


def test_each_command_and_each_form_of_a_report_is_shown() -> None:
    assert {
        name for line, _ in SHOWN for name in ("check", "plan", "adapt", "diff") if name in line
    } == {
        "check",
        "plan",
        "adapt",
        "diff",
    }
    forms = {form for line, _ in SHOWN for form in re.findall(r"--format (\w+)", line)}
    assert {"json", "github", "sarif", "junit"} <= forms


@pytest.mark.parametrize("part", ["entry: deg-schema check\n", "files: \\.schema\\.json$\n"])
def test_the_hook_of_the_repository_is_the_one_that_is_shown(part: str) -> None:
    hooks = Path(__file__).parents[3] / ".pre-commit-hooks.yaml"
    assert part in hooks.read_text(encoding="utf-8")
    assert part in TEXT
