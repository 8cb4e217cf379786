"""`deg fill`: one schema filled from one document."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from deg_model import Progress as OnProgress
from deg_runtime.console import OK, REFUSED, say
from deg_runtime.documents import (
    STANDARD_INPUT,
    check_target,
    read_document,
    read_options,
    read_schema,
    write_whole,
)
from deg_runtime.json_logs import json_logs
from deg_runtime.page import render_page
from deg_runtime.problems import find_problems
from deg_runtime.progress import Progress
from deg_runtime.trace import Trace
from deg_schema import Options, compile_schema, parse_options, render_context

__all__ = ["Filler", "Load", "add_fill_arguments", "run_fill"]

EXAMPLES = """\
examples:
  deg fill invoice.txt --schema invoice.schema.json
  deg fill invoice.txt --schema invoice.schema.json --meta --html invoice.html
  deg fill letter.txt --schema letter.schema.json --option date_order=DMY
  cat order.json | deg fill - --json --schema order.schema.json
"""


class Filler(Protocol):
    """What the command needs of an engine."""

    def fill(
        self,
        context: str | dict[str, Any] | list[Any],
        schema: Mapping[str, Any],
        *,
        options: Options | Mapping[str, Any] | None = None,
        trace: Trace | None = None,
        on_progress: OnProgress | None = None,
    ) -> dict[str, Any]:
        """Return the response to one request."""


class Load(Protocol):
    """How an engine is loaded."""

    def __call__(
        self, checkpoint: Path | None = None, *, report: Callable[[str], None] | None = None
    ) -> Filler:
        """Return an engine, telling *report* of each step that takes time."""


def add_fill_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes beside what every command does."""
    parser.add_argument(
        "document",
        metavar="DOCUMENT",
        help="a UTF-8 text; a .json file is JSON; - reads the standard input",
    )
    parser.add_argument(
        "--json", action="store_true", help="the document is JSON, whatever its name"
    )
    parser.add_argument(
        "--meta", action="store_true", help="print the whole response: probabilities, places, usage"
    )
    parser.add_argument(
        "--html", type=Path, metavar="PAGE.html", help="write a page that shows where values stand"
    )
    parser.add_argument(
        "--trace",
        action="store_true",
        help="print to the standard error, as JSON, what was done and how long it took",
    )


def run_fill(arguments: argparse.Namespace, load: Load) -> int:
    """Print the value, or every problem of the input before the model is loaded."""
    if arguments.html is not None:
        check_target(arguments.html, arguments.document, str(arguments.schema))
    schema = read_schema(arguments.schema)
    context = read_document(arguments.document, as_json=arguments.json)
    options = read_options(arguments.option)
    problems = [
        *find_problems(lambda: compile_schema(schema), ""),
        *find_problems(lambda: parse_options(options), "--option "),
        *find_problems(lambda: render_context(context), arguments.document),
    ]
    if problems:
        for problem in problems:
            say(str(problem))
        return REFUSED
    engine = load(arguments.checkpoint, report=say)
    trace = Trace() if arguments.trace else None
    with json_logs(enabled=arguments.log_json), Progress("tokens read") as progress:
        response = engine.fill(
            context, schema, options=options, trace=trace, on_progress=progress.update
        )
    if arguments.html is not None:
        page = render_page(
            response, schema, render_context(context), title=_title(arguments.document)
        )
        write_whole(arguments.html, page)
    _print(response if arguments.meta else response["value"])
    if trace is not None:
        sys.stderr.write(json.dumps(trace.to_dict(), indent=2) + "\n")
    return OK


def _print(shown: Any) -> None:
    sys.stdout.write(json.dumps(shown, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()


def _title(name: str) -> str:
    return "standard input" if name == STANDARD_INPUT else Path(name).name
