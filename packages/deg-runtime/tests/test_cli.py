from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from deg_model import WeightsError
from deg_runtime.cli import main
from deg_schema import FillError

TEXT = "Order A-1047 from Zoë is due on 3 May 2026."
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "order": {"type": "string"},
        "name": {"type": ["string", "null"]},
        "late": {"type": "boolean"},
    },
    "required": ["name"],
}
BAD_SCHEMA = {"type": "object", "properties": {"a": {"type": "what"}, "b": {"x-unknown": 1}}}
WORDS = {"/order": "A-1047", "/name": "Zoë"}


def _unloadable(*_: Any, **__: Any) -> Any:
    raise AssertionError("the model was loaded")


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """The command line of a fill that is in order."""
    (tmp_path / "document.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    return ["fill", f"{tmp_path}/document.txt", "--schema", f"{tmp_path}/schema.json"]


def test_the_value_is_printed_as_json(
    words: list[str], fake_engine: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words, load=fake_engine(WORDS)) == 0
    output = capsys.readouterr()
    assert json.loads(output.out) == {"order": "A-1047", "name": "Zoë", "late": True}
    assert "Zoë" in output.out
    assert output.err == ""


def test_meta_prints_the_whole_response(
    words: list[str], fake_engine: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--meta"], load=fake_engine(WORDS)) == 0
    response = json.loads(capsys.readouterr().out)
    assert list(response) == ["model", "value", "meta", "usage", "plan"]
    assert response["meta"]["/order"]["span"] == [6, 12]


def test_options_reach_the_engine(words: list[str], fake_engine: Any) -> None:
    engine = fake_engine(WORDS)
    options = ["--option", "date_order=DMY", "--option", "null_margin=1.5"]
    assert main([*words, *options], load=engine) == 0
    assert engine.options == {"date_order": "DMY", "null_margin": 1.5}


def test_who_writes_texts_is_said_to_whoever_loads(words: list[str], fake_engine: Any) -> None:
    engine, told = fake_engine(WORDS), []

    def load(*given: Any, **named: Any) -> Any:
        told.append(named.pop("generate", None))
        return engine(*given, **named)

    for more in ([], ["--generate", "base"], ["--generate", "base+lora:mine"]):
        assert main([*words, *more], load=load) == 0
    assert told == [None, "base", f"base+lora:{Path('mine').resolve()}"]


def test_a_page_is_written(words: list[str], fake_engine: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert main([*words, "--html", str(page)], load=fake_engine(WORDS)) == 0
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert "document.txt" in page.read_text("utf-8")


@pytest.mark.parametrize("text", ["", " \n ", "\x00", "\x00Zoë\x00"])
def test_a_document_with_nothing_to_read_is_filled(
    words: list[str], fake_engine: Any, tmp_path: Path, text: str
) -> None:
    Path(words[1]).write_text(text, encoding="utf-8")
    page = str(tmp_path / "page.html")
    assert main([*words, "--html", page], load=fake_engine({})) == 0


def test_standard_input_may_hold_json(
    words: list[str],
    fake_engine: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = json.dumps({"order": "A-1047"}).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    words[1] = "-"
    assert main([*words, "--json", "--meta"], load=fake_engine(WORDS)) == 0
    span = json.loads(capsys.readouterr().out)["meta"]["/order"]["span"]
    assert '{"order": "A-1047"}'[slice(*span)] == "A-1047"


def test_every_problem_is_told_before_the_model_loads(
    words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    Path(words[3]).write_text(json.dumps(BAD_SCHEMA))
    page = tmp_path / "page.html"
    status = main([*words, "--option", "speed=9", "--html", str(page)], load=_unloadable)
    output = capsys.readouterr()
    lines = output.err.splitlines()
    assert status == 2
    assert [line.partition(": ")[0] for line in lines][-1] == "--option speed"
    assert any(line.startswith("/properties/a") for line in lines)
    assert any(line.startswith("/properties/b") for line in lines)
    assert output.out == ""
    assert not page.exists()


def test_a_json_context_that_json_cannot_say_is_refused(
    words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words[1] = str(tmp_path / "order.json")
    Path(words[1]).write_text('{"a": [NaN, "\\ud800"]}')
    assert main(words, load=_unloadable) == 2
    places = [line.partition(": ")[0] for line in capsys.readouterr().err.splitlines()]
    assert places == [f"{words[1]}/a/0", f"{words[1]}/a/1"]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[]", b"3", b'{"type": 1, "type": 2}'])
def test_a_schema_that_is_none_is_refused(
    words: list[str], capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    Path(words[3]).write_bytes(content)
    assert main(words, load=_unloadable) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("name", ["absent.txt", "", "a\nb\x1b[31m"])
def test_a_document_that_is_not_there_is_one_line(
    words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str
) -> None:
    words[1] = str(tmp_path / name)
    assert main(words, load=_unloadable) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: ")
    assert message.count("\n") == 1
    assert "\x1b" not in message


@pytest.mark.parametrize(
    ("error", "words_of_it"),
    [
        (WeightsError("no weights:\nconnect once"), "no weights: connect once"),
        (FillError("the field is required", "/order"), "/order: the field is required"),
        (MemoryError(), "not enough memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"), "not enough memory"),
        (OSError(28, "No space left on device", "page.html"), "page.html: No space left"),
    ],
)
def test_a_failure_is_one_line(
    words: list[str],
    fake_engine: Any,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    words_of_it: str,
) -> None:
    assert main(words, load=fake_engine({}, error)) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert words_of_it in output.err
    assert output.err.count("\n") == 1


def test_a_mistake_of_ours_is_not_hidden(words: list[str], fake_engine: Any) -> None:
    with pytest.raises(RuntimeError, match="shapes"):
        main(words, load=fake_engine({}, RuntimeError("shapes differ")))


def test_stopping_it_is_no_failure_of_ours(
    words: list[str], fake_engine: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words, load=fake_engine({}, KeyboardInterrupt())) == 130
    assert capsys.readouterr().err == "stopped\n"


def test_a_reader_that_has_gone_is_no_traceback(words: list[str]) -> None:
    program = (
        "import sys; from deg_runtime.cli import main\n"
        "class Engine:\n"
        "    def fill(self, *_, **__): return {'value': {'a': 'x' * 1_000_000}}\n"
        "sys.exit(main(sys.argv[1:], load=lambda *_, **__: Engine()))"
    )
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-c", program, *words]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert done.returncode == 1
    assert done.stderr == ""


@pytest.mark.parametrize("arguments", [[], ["fill"], ["fill", "a.txt"], ["what"]])
def test_an_incomplete_command_gets_the_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments, load=_unloadable)
    assert stopped.value.code == 2
    assert "usage: deg" in capsys.readouterr().err


def test_a_trace_says_what_was_done(
    words: list[str], fake_engine: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    class Traced(fake_engine):  # type: ignore[misc, valid-type]
        def fill(self, *request: Any, trace: Any = None, **options: Any) -> Any:
            trace.asked(3, 120, 0.0)
            return super().fill(*request, **options)

    assert main([*words, "--trace"], load=Traced(WORDS)) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["order"] == "A-1047"
    (asked,) = json.loads(output.err)["rounds"]
    assert (asked["rows"], asked["tokens"]) == (3, 120)


def test_a_real_engine_tells_trace_progress_and_log(
    words: list[str], make_engine: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(words[3]).write_text(json.dumps({"type": "object", "properties": SCHEMA["properties"]}))
    engine = make_engine()
    told: list[tuple[int, int]] = []
    engine.fill(TEXT, {"type": "object", "properties": {}}, on_progress=lambda *at: told.append(at))
    assert told[-1][0] == told[-1][1] > 0
    command = [*words, "--trace", "--log-json", "--meta"]
    assert main(command, load=lambda *_, **__: engine) == 0
    output = capsys.readouterr()
    logged, _, traced = output.err.partition("\n")
    assert json.loads(logged)["message"] == "filled"
    trace, usage = json.loads(traced), json.loads(output.out)["usage"]
    assert json.loads(logged)["prompt_tokens"] == usage["prompt_tokens"]
    assert trace["num_requests"] == 1
    assert [asked["rows"] for asked in trace["rounds"]] == [3]
