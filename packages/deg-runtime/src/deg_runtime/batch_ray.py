"""A batch job as a Ray Data pipeline: actors load the engine once, answers come in input order.

Every machine reads the input itself, so all must see it under the same path.
"""

from __future__ import annotations

import logging
import math
import os
import re
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow
import ray
import ray.data
from ray.exceptions import RayError

from deg_runtime.batch import Answer, FillsMany, LineFiller, in_batches
from deg_runtime.jsonl import Line, read_lines
from deg_schema import DegError, Options

__all__ = ["RayFailed", "fill_with_ray"]

# each costs Ray some milliseconds before the work begins
_MOST_PARTS = 10_000
# a record that kills whoever fills it would otherwise be tried for ever
_MOST_ATTEMPTS = 3
_ANSWERS = pyarrow.schema(
    [("number", pyarrow.int64()), ("text", pyarrow.large_binary()), ("fault", pyarrow.string())]
)


class RayFailed(DegError):
    """What Ray ran has failed as a whole; the message is what it said last."""


def fill_with_ray(
    path: Path,
    lines: Iterable[Line],
    load: Callable[[], FillsMany],
    schema: Mapping[str, Any],
    options: Options,
    *,
    num_records: int,
    batch_size: int,
    workers: int,
) -> Iterator[list[Answer]]:
    """Yield the answers to *lines* of *path* in their order, a batch at a time.

    Args:
        path: The input.
        lines: Those that have no answer.
        load: Returns an engine, in each actor.
        schema: Of the records that have none of their own.
        options: Of all.
        num_records: How many *lines* there are.
        batch_size: How many records an actor fills together.
        workers: How many actors there are.

    Raises:
        RayFailed: An actor cannot start, or dies again and again over the same records.
    """
    size = max(batch_size, math.ceil(num_records / _MOST_PARTS))
    parts = [
        {"offset": some[0].offset, "number": some[0].number, "count": len(some)}
        for some in in_batches(lines, size)
    ]
    with _ray() as has_gpus, _pipeline_settings():
        attempts = _start_attempts()
        parts_in_order = ray.data.from_items(parts, override_num_blocks=len(parts))
        answers = parts_in_order.map_batches(
            _Actor,
            batch_size=1,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=workers),
            num_gpus=1 if has_gpus else None,
            fn_constructor_args=(str(path.resolve()), load, schema, options, batch_size, attempts),
        )
        try:
            for table in answers.iter_batches(batch_size=batch_size, batch_format="pyarrow"):
                yield [Answer(**row) for row in table.to_pylist()]
        except RayError as error:
            raise RayFailed(f"ray: {_reason(error)}") from error


class _Actor:
    """Holds an engine, and answers one part of the input after another."""

    def __init__(
        self,
        path: str,
        load: Callable[[], FillsMany],
        schema: Mapping[str, Any],
        options: Options,
        batch_size: int,
        attempts: Any,
    ) -> None:
        self._path, self._batch_size, self._attempts = path, batch_size, attempts
        self._filler = LineFiller(load(), schema, options)

    def __call__(self, parts: pyarrow.Table) -> Iterator[pyarrow.Table]:
        for part in parts.to_pylist():
            if ray.get(self._attempts.begin.remote(part["offset"])) > _MOST_ATTEMPTS:
                raise RayFailed(
                    f"{self._path} line {part['number']}, {part['count']} records: "
                    f"{_MOST_ATTEMPTS} workers died over them, perhaps for want of memory; "
                    "split long documents, or try a smaller --batch-size"
                )
            with Path(self._path).open("rb") as file:
                file.seek(part["offset"])
                lines = islice(read_lines(file, first=part["number"]), part["count"])
                for batch in in_batches(lines, self._batch_size):
                    rows = [asdict(answer) for answer in self._filler.fill(batch)]
                    yield pyarrow.Table.from_pylist(rows, _ANSWERS)


def _start_attempts() -> Any:
    """Start the actor that counts how often each part was begun, on any machine."""

    # in here, the class travels as it is: its process need not import what this module does
    class Attempts:
        def __init__(self) -> None:
            self.counts: dict[int, int] = {}

        def begin(self, offset: int) -> int:
            self.counts[offset] = self.counts.get(offset, 0) + 1
            return self.counts[offset]

    return ray.remote(num_cpus=0)(Attempts).remote()


@contextmanager
def _ray() -> Iterator[bool]:
    """Join the cluster that `RAY_ADDRESS` names, or start one here; say whether it has GPUs."""
    is_ours = not ray.is_initialized()
    if is_ours:
        # what a termination does is for the caller to say, not for Ray
        usual = signal.getsignal(signal.SIGTERM)
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
        # what is filled here is nobody's business
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(log_to_driver=False, logging_level=logging.CRITICAL)
        signal.signal(signal.SIGTERM, usual)
    try:
        yield ray.cluster_resources().get("GPU", 0) > 0
    finally:
        if is_ours:
            ray.shutdown()


@contextmanager
def _pipeline_settings() -> Iterator[None]:
    # a failure is told once, by whoever catches it
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    context = ray.data.DataContext.get_current()
    before = context.execution_options.preserve_order, context.enable_progress_bars
    context.execution_options.preserve_order, context.enable_progress_bars = True, False
    try:
        yield
    finally:
        context.execution_options.preserve_order, context.enable_progress_bars = before


def _reason(error: RayError) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # Ray adds advice after the exception, which stands as a traceback ends: `module.Name: words`
    causes = [found[1] for line in lines if (found := re.match(r"(?:\w+\.)*(\w+: .+)", line))]
    return (causes or lines or [type(error).__name__])[-1].removeprefix("RayFailed: ")
