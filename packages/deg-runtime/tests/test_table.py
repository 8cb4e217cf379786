from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from deg_runtime.findings import findings
from deg_runtime.table import findings_table

SCHEMA = {
    "type": "object",
    "properties": {
        "order": {"type": "string"},
        "sum": {"type": "number"},
        "phone": {"type": ["string", "null"]},
        "team": {"enum": ["sales", "help"]},
    },
    "required": ["phone"],
}
TEXT = "Please look at order [bold]A-1047[/bold] soon:\nit cost 1,250.00 euros and \x1b[2J broke."
WORDS = {"/order": "[bold]A-1047[/bold]", "/sum": "1,250.00"}


def _printed(engine: Any, width: int, text: str = TEXT, **more: Any) -> str:
    console = Console(file=io.StringIO(), width=width, **more)
    found = findings(engine(WORDS).fill(text, SCHEMA), SCHEMA)
    console.print(findings_table(found, text, console))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [30, 42, 80, 120, 200])
def test_a_table_of_any_width_tells_everything(fake_engine: Any, width: int) -> None:
    lines = _printed(fake_engine, width).splitlines()
    assert all(len(line) <= width for line in lines)
    shown = " ".join(" ".join(lines).split())
    for words in ("order", "sum", "phone", "team", "sales", "0.70", "0.80", "null", "»1,250.00«"):
        assert words in shown


def test_a_wide_table_has_a_line_a_field(fake_engine: Any) -> None:
    lines = _printed(fake_engine, 140).splitlines()
    line = next(line for line in lines if line.strip().startswith("sum"))
    assert line.split()[:4] == ["sum", "number", "0.80", "1250.0"]
    assert "it cost »1,250.00« euros" in line


def test_markup_in_a_document_is_text(fake_engine: Any) -> None:
    assert "»[bold]A-1047[/bold]«" in _printed(fake_engine, 140)


def test_no_control_character_reaches_a_pipe(fake_engine: Any) -> None:
    assert "\x1b" not in _printed(fake_engine, 140)


def test_a_terminal_gets_colour_for_the_place(fake_engine: Any) -> None:
    shown = _printed(fake_engine, 140, force_terminal=True, color_system="standard")
    assert "»" not in shown
    assert "\x1b[30;103m1,250.00\x1b[0m" in shown
