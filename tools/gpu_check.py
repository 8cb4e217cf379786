"""Check deg-kernels on a CUDA device: errors against fp64, equal bits, and times beside ceilings.

    python tools/gpu_check.py [--only NAME ...] > table.md
    python tools/gpu_check.py --dry-run      the same at tiny sizes on the CPU, in seconds
    python tools/gpu_check.py --list         the sections and their budgets

It takes under 8 minutes and needs torch, Triton and deg_kernels, and deg_model where decode graphs
are to be checked; weights are random, of the sizes of Qwen3.5-0.8B. So far it has only run dry, on
no GPU. Each section runs in a process of its own, so that neither a slow kernel nor a broken one
takes the others with it. What a section leaves of its budget goes to those after it; one that is
out of time is ended, and what it has found so far counts.

The exit status is 0 where everything ran and every equality and limit holds, 1 where one fails,
2 where a section could not run to its end.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from multiprocessing.connection import Connection

import torch
from gpu import ragged, rowwise, whole
from gpu.measure import Bench, Ceilings, Line, measure_ceilings

Found = Line | Ceilings

__all__ = ["SECTIONS", "Section", "check", "main", "table"]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the check.

    Attributes:
        seconds: Its budget, beside what the sections before it have left of theirs.
    """

    name: str
    run: Callable[[Bench], Iterator[Found]]
    seconds: float


def _graphs(bench: Bench) -> Iterator[Line]:
    if not find_spec("deg_model"):
        yield Line("deg_model is not installed: its decode graphs are not checked")
        return
    yield from import_module("gpu.graphs").graphs(bench)


SECTIONS = (
    Section("ceilings", measure_ceilings, 20),
    Section("linear", rowwise.linear, 60),
    Section("norms", rowwise.norms, 20),
    Section("heads", rowwise.heads, 25),
    Section("attention", ragged.attention, 75),
    Section("delta_rule", ragged.delta_rule, 40),
    Section("short_conv", ragged.short_conv, 20),
    Section("stack", whole.stack, 55),
    Section("decode", whole.decode, 50),
    Section("forks", whole.forks, 30),
    Section("prefill", whole.prefill, 30),
    Section("kernels", whole.kernels, 25),
    Section("graphs", _graphs, 25),
)
"""What is checked, in order; the budgets add up to 475 seconds."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the sections, print the table and return the exit status."""
    options = _options(arguments)
    if options.list:
        for section in SECTIONS:
            print(f"{section.name:12}{section.seconds:4.0f} s")
        return 0
    # the ceilings stand beside every time
    chosen = [s for s in SECTIONS if s.name == "ceilings" or s.name in (options.only or [s.name])]
    began = time.monotonic()
    lines, status = check(chosen, Bench(options.dry_run))
    held, failed = (sum(line.holds is held for line in lines) for held in (True, False))
    print(f"{held} checks hold, {failed} fail; {time.monotonic() - began:.0f} s\n")
    print(table(lines))
    return status


def check(sections: Iterable[Section], bench: Bench) -> tuple[list[Line], int]:
    """Run each section in its own process; return what they found and the exit status."""
    lines: list[Line] = []
    complete = True
    deadline = time.monotonic()
    for section in sections:
        began = time.monotonic()
        deadline += section.seconds
        for found in _apart(section, bench, deadline):
            if isinstance(found, Ceilings):
                bench = replace(bench, ceilings=found)
                continue
            if isinstance(found, _Unfinished):
                complete, found = False, Line("**DID NOT END**", measured=found.why)
            lines.append(replace(found, section=section.name))
        print(f"{section.name:12}{time.monotonic() - began:6.1f} s", file=sys.stderr)
    if any(line.holds is False for line in lines):
        return lines, 1
    return lines, 0 if complete else 2


def table(lines: Iterable[Line]) -> str:
    """Return the lines as a Markdown table."""
    words = {True: "yes", False: "**NO**", None: ""}
    heads = ("section", "what", "batch", "context", "measured", "against", "share", "holds")
    rows = [heads, ("---",) * len(heads)]
    for line in lines:
        cells = (getattr(line, name) for name in heads[:-1])
        rows.append((*cells, words[line.holds]))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


@dataclass(frozen=True, slots=True)
class _Unfinished:
    why: str


def _apart(section: Section, bench: Bench, deadline: float) -> Iterator[Found | _Unfinished]:
    # a fork has torch imported; CUDA is first touched in the child
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(section, bench, theirs))
    process.start()
    theirs.close()
    try:
        while ours.poll(max(0.0, deadline - time.monotonic())):
            yield ours.recv()
        yield _Unfinished("out of time")
    except EOFError:
        process.join()
        if process.exitcode:
            yield _Unfinished(f"ended with exit code {process.exitcode}")
    finally:
        process.kill()
        process.join()


def _send(section: Section, bench: Bench, pipe: Connection) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    try:
        if not bench.dry and not torch.cuda.is_available():
            raise RuntimeError("no CUDA device: --dry-run checks the logic on the CPU")
        with torch.inference_mode():
            for found in section.run(bench):
                pipe.send(found)
    # whatever goes wrong in a section is a line of the table, and the next one runs
    except Exception as error:
        pipe.send(_Unfinished(f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [section.name for section in SECTIONS]
    parser.add_argument("--list", action="store_true", help="list the sections and stop")
    parser.add_argument("--only", action="append", choices=names, metavar="NAME")
    parser.add_argument("--dry-run", action="store_true", help="tiny sizes, on the CPU")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
