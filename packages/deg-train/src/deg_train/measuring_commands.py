"""The commands that tune and measure a checkpoint."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from deg_runtime import load
from deg_train.arguments import (
    DefaultsShown,
    add_on_fault,
    add_sets,
    add_threads,
    count,
    positive,
)
from deg_train.calibrate import calibrate
from deg_train.console import say
from deg_train.evaluate import evaluate, evaluate_own
from deg_train.generate import DocumentSource
from deg_train.null_margins import best_margin, result_at, weigh
from deg_train.own import read_split
from deg_train.report import report
from deg_train.suites import SUITES

if TYPE_CHECKING:
    from deg_train.arguments import Commands

__all__ = ["add_calibrate", "add_evaluate", "add_null_margin", "add_report"]

_MARGINS = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)


def add_calibrate(commands: Commands) -> None:
    """Add `calibrate` to *commands*."""
    parser = commands.add_parser(
        "calibrate",
        help="fit the temperatures of a checkpoint",
        description="Fit one temperature for each head on draws that training never had, and "
        "write them into the checkpoint.",
        formatter_class=DefaultsShown,
    )
    parser.add_argument("checkpoint", type=Path, help="folder of the checkpoint")
    add_sets(parser)
    parser.add_argument("--records", type=count, default=800, help="how many to fit on")
    parser.add_argument("--seed", type=int, default=0, help="of the records")
    add_threads(parser, 2)
    parser.set_defaults(run=_calibrate)


def add_null_margin(commands: Commands) -> None:
    """Add `null-margin` to *commands*."""
    parser = commands.add_parser(
        "null-margin",
        help="choose how much likelier than nothing a value must be",
        description="Answer validation records and print what several margins give, the best one "
        "last. A server takes it as --null-margin, a request as the option null_margin.",
        formatter_class=DefaultsShown,
    )
    parser.add_argument("checkpoint", type=Path, help="folder of the checkpoint")
    parser.add_argument(
        "--records",
        type=Path,
        metavar="FILE",
        help="your labelled documents, of which those with the split 'val' are answered; "
        "generated ones without it",
    )
    add_on_fault(parser)
    parser.add_argument("--number", type=count, default=300, help="of generated records")
    add_threads(parser, 1)
    parser.set_defaults(run=_null_margin)


def add_evaluate(commands: Commands) -> None:
    """Add `evaluate` to *commands*."""
    parser = commands.add_parser(
        "evaluate",
        help="measure a checkpoint on data that it was never trained on",
        description="Run suites of records through the engine, write the result of each, and "
        "print them all against the floors. Several may run side by side, each with its own "
        "suites, into one folder.",
        formatter_class=DefaultsShown,
    )
    parser.add_argument("checkpoint", type=Path, help="folder of the checkpoint")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    add_sets(parser)
    parser.add_argument(
        "--suite",
        nargs="+",
        choices=tuple(SUITES),
        default=(),
        metavar="NAME",
        help=f"only these, of {', '.join(SUITES)}; all where none is named",
    )
    parser.add_argument(
        "--scale", type=positive, default=1.0, help="factor on the number of records"
    )
    parser.add_argument(
        "--records",
        type=Path,
        metavar="FILE",
        help="measure on your own labelled documents instead, those with the split 'test'",
    )
    add_on_fault(parser)
    add_threads(parser, 1)
    parser.set_defaults(run=_evaluate)


def add_report(commands: Commands) -> None:
    """Add `report` to *commands*."""
    parser = commands.add_parser(
        "report",
        help="print the results of an evaluation against the floors",
        description="Merge the results of all suites in a folder into report.json and "
        "report.html, and print them.",
    )
    parser.add_argument("folder", type=Path, help="folder of the results")
    parser.set_defaults(run=lambda arguments: _report(arguments.folder))


def _calibrate(arguments: argparse.Namespace) -> int:
    calibrate(
        arguments.checkpoint,
        sets=arguments.sets,
        num_records=arguments.records,
        seed=arguments.seed,
        threads=arguments.threads,
    )
    return 0


def _null_margin(arguments: argparse.Namespace) -> int:
    if arguments.records:
        records = read_split(arguments.records, "val", on_fault=arguments.on_fault)
    else:
        records = DocumentSource("val").records(arguments.number, 0)
    torch.set_num_threads(arguments.threads)
    weighed = weigh(load(arguments.checkpoint, report=say), records)
    best = best_margin(weighed)
    for result in (*(result_at(margin, weighed) for margin in _MARGINS), best):
        sys.stdout.write(result.line() + "\n")
    return 0


def _evaluate(arguments: argparse.Namespace) -> int:
    if arguments.records:
        records = read_split(arguments.records, "test", on_fault=arguments.on_fault)
        evaluate_own(arguments.checkpoint, arguments.out, records, threads=arguments.threads)
        return _report(arguments.out)
    evaluate(
        arguments.checkpoint,
        arguments.out,
        sets=arguments.sets,
        names=arguments.suite,
        scale=arguments.scale,
        threads=arguments.threads,
    )
    return _report(arguments.out)


def _report(folder: Path) -> int:
    sys.stdout.write(report(folder) + "\n")
    return 0
