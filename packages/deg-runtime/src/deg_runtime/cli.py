"""The `deg` command: fills a schema from a document."""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch

from deg_model import ModelError
from deg_runtime._version import __version__
from deg_runtime.documents import (
    STANDARD_INPUT,
    DocumentError,
    check_target,
    read_document,
    read_options,
    read_schema,
    write_whole,
)
from deg_runtime.engine import load as load_engine
from deg_runtime.findings import visible
from deg_runtime.page import render_page
from deg_schema import (
    DegSchemaError,
    Options,
    Problem,
    RequestError,
    SchemaError,
    compile_schema,
    parse_options,
    render_context,
    unsupported,
)

__all__ = ["Filler", "Load", "describe_failure", "main", "use_utf8"]

OK, FAILED, REFUSED, STOPPED = 0, 1, 2, 130

_EXAMPLES = """\
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
    ) -> dict[str, Any]:
        """Return the response to one request."""


class Load(Protocol):
    """How an engine is loaded."""

    def __call__(
        self, checkpoint: Path | None = None, *, report: Callable[[str], None] | None = None
    ) -> Filler:
        """Return an engine, telling *report* of each step that takes time."""


def main(arguments: Sequence[str] | None = None, *, load: Load = load_engine) -> int:
    """Run one command and return its exit status: 1 for a failure, 2 for input to mend."""
    use_utf8()
    try:
        return _fill(_parser().parse_args(arguments), load)
    except BrokenPipeError:
        # whoever read the output has gone, and the flush at exit would find that out once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        _say("stopped")
        return STOPPED
    except DocumentError as error:
        _say(f"error: {error}")
        return REFUSED
    except (DegSchemaError, ModelError, MemoryError, OSError, RuntimeError) as error:
        message = describe_failure(error)
        if message is None:
            raise
        _say(f"error: {message}")
        return FAILED


def use_utf8() -> None:
    """Print UTF-8 whatever the locale is: JSON has no other encoding."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def describe_failure(error: Exception) -> str | None:
    """Word a failure in one line, or return `None` for what only a mistake of ours can cause."""
    if isinstance(error, (DegSchemaError, ModelError)):
        return str(error)
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or error}"
    is_full = isinstance(error, (MemoryError, torch.OutOfMemoryError))
    # on the CPU, torch says it by a plain RuntimeError
    if is_full or "allocate memory" in str(error):
        return "there is not enough memory for this document; split it and fill the parts"
    return None


def _fill(arguments: argparse.Namespace, load: Load) -> int:
    if arguments.html is not None:
        check_target(arguments.html, arguments.document, str(arguments.schema))
    schema = read_schema(arguments.schema)
    context = read_document(arguments.document, as_json=arguments.json)
    options = read_options(arguments.option)
    problems = [
        *_problems(lambda: _check_schema(schema), ""),
        *_problems(lambda: parse_options(options), "--option "),
        *_problems(lambda: render_context(context), arguments.document),
    ]
    if problems:
        for problem in problems:
            _say(str(problem))
        return REFUSED
    response = load(arguments.checkpoint, report=_say).fill(context, schema, options=options)
    if arguments.html is not None:
        page = render_page(
            response, schema, render_context(context), title=_title(arguments.document)
        )
        write_whole(arguments.html, page)
    shown = response if arguments.meta else response["value"]
    sys.stdout.write(json.dumps(shown, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()
    return OK


def _check_schema(schema: object) -> None:
    if problems := unsupported(compile_schema(schema)):
        raise SchemaError(problems)


def _problems(check: Callable[[], object], origin: str) -> Iterable[Problem]:
    try:
        check()
    except (RequestError, SchemaError) as error:
        for problem in error.problems:
            loc = problem.loc.removeprefix("/") if origin.startswith("--") else problem.loc
            yield Problem(origin + loc, problem.msg)


def _title(name: str) -> str:
    return "standard input" if name == STANDARD_INPUT else Path(name).name


def _say(message: str) -> None:
    sys.stderr.write(visible(" ".join(message.splitlines())) + "\n")
    sys.stderr.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="deg", description="Fill JSON schemas from documents, with probabilities and places."
    )
    parser.add_argument("--version", action="version", version=f"deg {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    fill = commands.add_parser(
        "fill",
        help="fill one schema from one document",
        description="Fill a schema from a document and print the value as JSON.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    fill.add_argument(
        "document",
        metavar="DOCUMENT",
        help="a UTF-8 text; a .json file is JSON; - reads the standard input",
    )
    fill.add_argument(
        "--schema", required=True, type=Path, metavar="SCHEMA.json", help="the schema to fill"
    )
    fill.add_argument("--json", action="store_true", help="the document is JSON, whatever its name")
    fill.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the request, such as date_order=DMY; may be given again",
    )
    fill.add_argument(
        "--meta", action="store_true", help="print the whole response: probabilities, places, usage"
    )
    fill.add_argument(
        "--html", type=Path, metavar="PAGE.html", help="write a page that shows where values stand"
    )
    fill.add_argument(
        "--checkpoint", type=Path, metavar="DIR", help="a trained checkpoint to use instead"
    )
    return parser
