"""The `deg` command: fills schemas from documents."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from deg_model import generator_folder
from deg_runtime import batch_command, fill_command
from deg_runtime._version import __version__
from deg_runtime.batch_command import add_batch_arguments, run_batch
from deg_runtime.console import FAILED, REFUSED, STOPPED, describe_failure, say, use_utf8
from deg_runtime.documents import DocumentError
from deg_runtime.engine import load as load_engine
from deg_runtime.fill_command import add_fill_arguments, run_fill
from deg_schema import DegError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None, *, load: Callable[..., Any] = load_engine) -> int:
    """Run one command and return its exit status: 1 for a failure, 2 for input to mend."""
    use_utf8()
    try:
        parsed = _parser().parse_args(arguments)
        if parsed.device is not None:
            load = partial(load, device=parsed.device)
        if parsed.generate is not None:
            load = partial(load, generate=_absolute(parsed.generate))
        return int(parsed.run(parsed, load))
    except BrokenPipeError:
        # whoever read the output has gone, and the flush at exit would find that out once more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        say("stopped")
        return STOPPED
    except DocumentError as error:
        say(f"error: {error}")
        return REFUSED
    except (DegError, MemoryError, OSError, RuntimeError) as error:
        message = describe_failure(error)
        if message is None:
            raise
        say(f"error: {message}")
        return FAILED


def _absolute(generate: str) -> str:
    # whoever loads it may stand in another folder
    folder = generator_folder(generate)
    return generate if folder is None else f"{generate.partition(':')[0]}:{folder.resolve()}"


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
        epilog=fill_command.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_fill_arguments(fill)
    fill.set_defaults(run=run_fill)
    batch = commands.add_parser(
        "batch",
        help="fill one schema from every record of a file",
        description="Fill a schema from each record of a JSON Lines file.",
        epilog=batch_command.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_batch_arguments(batch)
    batch.set_defaults(run=run_batch)
    for command in (fill, batch):
        _add_common_arguments(command)
    return parser


def _add_common_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--schema", required=True, type=Path, metavar="SCHEMA.json", help="the schema to fill"
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the request, such as date_order=DMY; may be given again",
    )
    parser.add_argument(
        "--checkpoint", type=Path, metavar="DIR", help="a trained checkpoint to use instead"
    )
    parser.add_argument(
        "--device", metavar="NAME", help="where the model computes: cpu, the default, or cuda"
    )
    parser.add_argument(
        "--generate",
        metavar="self|base|base+lora:DIR",
        help="who writes texts: the checkpoint itself, the default, the frozen base beside it, or "
        "that base with what deg-train generator wrote",
    )
    parser.add_argument(
        "--log-json",
        action="store_true",
        help="log each request as a line of JSON to the standard error",
    )
