"""The demonstration: `python -m deg_runtime.demo FOLDER` fills every example in it."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from deg_model import ModelError
from deg_runtime.console import FAILED, OK, REFUSED, STOPPED, describe_failure, use_utf8
from deg_runtime.documents import DocumentError, read_document, read_schema
from deg_runtime.engine import load as load_engine
from deg_runtime.fill_command import Filler, Load
from deg_runtime.findings import findings, visible
from deg_runtime.table import findings_table
from deg_schema import DegSchemaError, render_context

__all__ = ["main"]

_DOCUMENT, _SCHEMA = "document.txt", "schema.json"


def main(
    arguments: Sequence[str] | None = None,
    *,
    load: Load = load_engine,
    console: Console | None = None,
) -> int:
    """Fill each example, a folder with a document and its schema, and show what was found."""
    use_utf8()
    words = list(sys.argv[1:] if arguments is None else arguments)
    console = console or Console(highlight=False)
    if len(words) != 1 or words[0].startswith("-"):
        console.print("usage: python -m deg_runtime.demo FOLDER", markup=False)
        return OK if words in (["-h"], ["--help"]) else REFUSED
    examples = sorted(path.parent for path in Path(words[0]).glob(f"*/{_SCHEMA}"))
    if not examples:
        _complain(console, f"{words[0]}: holds no folder with {_DOCUMENT} and {_SCHEMA}")
        return REFUSED
    try:
        return _show_all(console, examples, load)
    except KeyboardInterrupt:
        _complain(console, "stopped")
        return STOPPED


def _show_all(console: Console, examples: Sequence[Path], load: Load) -> int:
    began = time.perf_counter()
    try:
        engine = load(report=lambda line: console.print(Text(visible(line), style="dim")))
    except (ModelError, MemoryError, OSError, RuntimeError) as error:
        return _failed(console, error)
    console.print(Text(f"model loaded in {time.perf_counter() - began:.1f} s", style="dim"))
    statuses = [_show(console, engine, folder) for folder in examples]
    console.print(_advice(examples[0]), soft_wrap=True)
    return max(statuses)


def _show(console: Console, engine: Filler, folder: Path) -> int:
    console.print()
    console.print(Rule(Text(folder.name, style="bold"), align="left", style="dim"))
    try:
        schema = read_schema(folder / _SCHEMA)
        document = read_document(str(folder / _DOCUMENT))
        began = time.perf_counter()
        response = engine.fill(document, schema)
        seconds = time.perf_counter() - began
    except (DocumentError, DegSchemaError, ModelError, MemoryError, RuntimeError) as error:
        return _failed(console, error)
    found = findings(response, schema)
    console.print(findings_table(found, render_context(document), console))
    told = f"{len(found)} fields in {seconds:.2f} s, {response['usage']['prompt_tokens']} tokens"
    console.print(Padding(Text(told, style="dim"), (0, 0, 0, 1)))
    return OK


def _failed(console: Console, error: Exception) -> int:
    message = str(error) if isinstance(error, DocumentError) else describe_failure(error)
    if message is None:
        raise error
    _complain(console, message)
    return FAILED


def _complain(console: Console, message: str) -> None:
    console.print(Text(visible(message), style="red"), soft_wrap=True)


def _advice(example: Path) -> Text:
    here = Path(sys.executable).with_name("deg")
    command = "deg" if shutil.which("deg") or not here.exists() else os.path.relpath(here)
    line = f"{command} fill {example / _DOCUMENT} --schema {example / _SCHEMA} --html page.html"
    return Text.assemble(
        "\nsure: the probability of what was decided, the confidence in what was read.",
        "\nNext, see where each value stands, or change a description in the schema first:\n  ",
        (line, "bold"),
    )


if __name__ == "__main__":
    raise SystemExit(main())
