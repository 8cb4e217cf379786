"""`deg batch`: one schema filled from every record of a file, to be taken up again at any time."""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from deg_model import DEFAULT_CHECKPOINT, GENERATOR_FACTS, generator_folder
from deg_runtime._version import __version__
from deg_runtime.batch import Answer, FillsMany, LineFiller, in_batches
from deg_runtime.console import FAILED, OK, REFUSED, say
from deg_runtime.documents import DocumentError, check_target, read_options, read_schema
from deg_runtime.json_logs import json_logs
from deg_runtime.jsonl import Line, read_lines, survey
from deg_runtime.problems import find_problems
from deg_runtime.progress import Progress, spell_seconds
from deg_runtime.results import BatchJob, Finished, Results, job_place
from deg_runtime.stopping import Stop
from deg_schema import Options, compile_schema, parse_options

__all__ = ["LoadMany", "add_batch_arguments", "run_batch"]

EXAMPLES = """\
Each line of the input is a JSON text, or {"context": ..., "id": ..., "schema": ...}, of which only
the context must be there. The output has a line for each, in their order:
{"line": 1, "id": ..., "response": {...}} or {"line": 1, "id": ..., "error": {...}}.
After an interruption, run the same command again.

examples:
  deg batch letters.jsonl --schema letter.schema.json --out values.jsonl
  deg batch letters.jsonl --schema letter.schema.json --out values.jsonl --engine ray --workers 8
"""

_FACTS = "deg.json"
_MOST_FAULTS = 20


class LoadMany(Protocol):
    """How an engine is loaded."""

    def __call__(
        self, checkpoint: Path | None = None, *, report: Callable[[str], None] | None = None
    ) -> FillsMany:
        """Return an engine, telling *report* of each step that takes time."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """A batch that is in order."""

    source: Path
    target: Path
    schema: dict[str, Any]
    options: Options
    num_records: int


def add_batch_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes beside what every command does."""
    parser.add_argument("records", type=Path, metavar="IN.jsonl", help="the documents, one a line")
    parser.add_argument(
        "--out", required=True, type=Path, metavar="OUT.jsonl", help="where the answers go"
    )
    parser.add_argument(
        "--batch-size",
        type=_count,
        default=16,
        metavar="N",
        help="how many records are filled together; changes no answer (default: 16)",
    )
    parser.add_argument(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help="ray spreads the work over a cluster, or over processes here (default: local)",
    )
    parser.add_argument(
        "--workers", type=_count, metavar="N", help="with --engine ray: how many load the model"
    )


def run_batch(arguments: argparse.Namespace, load: LoadMany) -> int:
    """Answer every record that has no answer, and say what came of it."""
    if arguments.workers and arguments.engine != "ray":
        raise DocumentError("--workers: goes with --engine ray; leave it out, or add that")
    source, target = arguments.records, arguments.out
    for place in (target, job_place(target)):
        check_target(place, str(source), str(arguments.schema))
    schema, options = read_schema(arguments.schema), read_options(arguments.option)
    problems = [
        *find_problems(lambda: compile_schema(schema), ""),
        *find_problems(lambda: parse_options(options), "--option "),
    ]
    if problems:
        for problem in problems:
            say(str(problem))
        return REFUSED
    found = survey(source)
    plan = _Plan(source, target, schema, parse_options(options), found.num_records)
    folder = arguments.checkpoint or DEFAULT_CHECKPOINT
    job = BatchJob(
        input=found.sha256,
        schema=hashlib.sha256(json.dumps(schema).encode()).hexdigest(),
        options=asdict(plan.options) | _writer_of(arguments.generate),
        checkpoint=_facts_hash(folder / _FACTS, "deg-train fit"),
        version=__version__,
    )
    start = partial(_answers, arguments, load, plan)
    with json_logs(enabled=arguments.log_json), Results(target, job) as results:
        return _answer_all(plan, results, start)


def _answer_all(
    plan: _Plan,
    results: Results,
    start: Callable[[Iterator[Line], int], Iterator[list[Answer]]],
) -> int:
    began = time.monotonic()
    with plan.source.open("rb") as file:
        lines = read_lines(file)
        before = results.resume(lines)
        if before.num_records:
            say(f"going on after {before.num_records:,} of {plan.num_records:,} records")
        left = plan.num_records - before.num_records
        answers = start(lines, left) if left else iter(())
        done, stop = _write_all(plan, results, answers, before)
    status = stop.status
    if done.num_records < plan.num_records:
        say(
            f"stopped after {done.num_records:,} of {plan.num_records:,} records; "
            "run the same command again to go on"
        )
        return status or FAILED
    filled = done.num_records - done.num_failed
    say(
        f"{plan.target}: {done.num_records:,} records, {filled:,} filled, {done.num_failed:,} "
        f"failed, in {spell_seconds(time.monotonic() - began)}"
    )
    return FAILED if done.num_failed else OK


def _write_all(
    plan: _Plan, results: Results, answers: Iterator[list[Answer]], before: Finished
) -> tuple[Finished, Stop]:
    done, failed, num_faults = before.num_records, before.num_failed, 0
    with Stop("batch") as stop, Progress("records") as progress:
        progress.update(done, plan.num_records)
        for batch in answers:
            results.append([answer.text for answer in batch])
            faults = [answer for answer in batch if answer.fault is not None]
            done, failed = done + len(batch), failed + len(faults)
            for answer in faults[: max(_MOST_FAULTS - num_faults, 0)]:
                say(f"{plan.source} line {answer.number}: {answer.fault}")
            num_faults += len(faults)
            progress.update(done, plan.num_records)
            if stop.is_asked():
                break
    if num_faults > _MOST_FAULTS:
        say(f"and {num_faults - _MOST_FAULTS:,} more failures, all in {plan.target}")
    return Finished(done, failed), stop


def _answers(
    arguments: argparse.Namespace, load: LoadMany, plan: _Plan, lines: Iterator[Line], left: int
) -> Iterator[list[Answer]]:
    size = arguments.batch_size
    if arguments.engine == "local":
        engine = load(arguments.checkpoint, report=say)
        filler = LineFiller(engine, plan.schema, plan.options)
        return (filler.fill(batch) for batch in in_batches(lines, size))
    # whoever loads it may stand in another folder
    checkpoint = arguments.checkpoint and arguments.checkpoint.resolve()
    return _ray_answers(
        plan.source,
        lines,
        partial(load, checkpoint),
        plan.schema,
        plan.options,
        num_records=left,
        batch_size=size,
        workers=arguments.workers or 1,
    )


def _ray_answers(*words: Any, **named: Any) -> Iterator[list[Answer]]:
    try:
        # an extra: only who asks for it needs it
        from deg_runtime.batch_ray import fill_with_ray  # noqa: PLC0415
    except ImportError as error:
        message = "--engine ray: Ray is not installed; run pip install 'deg-runtime[ray]'"
        raise DocumentError(message) from error
    return fill_with_ray(*words, **named)


def _facts_hash(path: Path, command: str) -> str:
    # they hold the hashes of the files beside them, and that of the base weights
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise DocumentError(
            f"{path}: cannot be read ({error.strerror}); name a folder that {command} wrote"
        ) from None


def _writer_of(generate: str | None) -> dict[str, str]:
    # outputs from before there was a choice say nothing of it
    if generate in (None, "self"):
        return {}
    folder = generator_folder(generate)
    if folder is None:
        return {"generate": generate}
    return {"generate": _facts_hash(folder / GENERATOR_FACTS, "deg-train generator")}


def _count(word: str) -> int:
    number = int(word)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is not at least 1")
    return number
