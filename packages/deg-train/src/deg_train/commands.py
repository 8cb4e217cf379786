"""The arguments of each `deg-train` command."""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import torch

from deg_model import (
    BASES,
    DEFAULT_BASE,
    DEFAULT_CHECKPOINT,
    Tokenizer,
    load_checkpoint,
    resolve_base,
    save_checkpoint,
)
from deg_runtime import load
from deg_train.averaging import average
from deg_train.calibrate import calibrate
from deg_train.console import say
from deg_train.evaluate import evaluate, evaluate_own
from deg_train.fit import fit
from deg_train.generate import DocumentSource
from deg_train.null_margins import best_margin, result_at, weigh
from deg_train.own import OnFault, RecordFile, read_split, with_own
from deg_train.recipe import default_mixture
from deg_train.report import report
from deg_train.sources import Sampler
from deg_train.suites import SUITES
from deg_train.survey import survey
from deg_train.trainer import FitOptions

if TYPE_CHECKING:
    # the class that `add_subparsers` returns has no public name
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = [
    "add_average",
    "add_calibrate",
    "add_evaluate",
    "add_fit",
    "add_null_margin",
    "add_records",
    "add_report",
]

_MARGINS = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)
# some minutes on from a checkpoint that knows the rest
_OWN = FitOptions(steps=300, learning_rate=4e-4, warmup=20, form_steps=0)


def add_fit(commands: Commands) -> None:
    """Add `fit` to *commands*."""
    defaults = FitOptions()
    parser = commands.add_parser(
        "fit",
        help="train adapters and heads into a checkpoint",
        description="Train adapters and heads on frozen base weights: on the recipe of the "
        "default checkpoint, or, with --records, on from that checkpoint with your own documents. "
        "Run again with the same folder, it goes on where it was stopped.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("out", type=Path, help="folder of the run: log, state and checkpoint")
    _add_sets(parser)
    parser.add_argument(
        "--records",
        type=RecordFile.parse,
        action="append",
        metavar="FILE[:WEIGHT]",
        help="your labelled documents, of which those for training are drawn; may be repeated",
    )
    parser.add_argument(
        "--rehearse",
        type=_share,
        default=0.2,
        help="with --records, the share of draws that are not of them, against forgetting",
    )
    _add_on_fault(parser)
    parser.add_argument(
        "--init",
        type=Path,
        help="checkpoint to start from; with --records the default one unless named",
    )
    parser.add_argument(
        "--model-id",
        default="deg-smollm2-135m-0.1",
        help="the name that the checkpoint gives itself",
    )
    parser.add_argument(
        "--steps",
        type=_count,
        help=f"steps in all; {defaults.steps} unless given, with --records {_OWN.steps}",
    )
    parser.add_argument(
        "--decay",
        type=_count,
        help="last steps, over which the rate falls; three quarters of all unless given",
    )
    parser.add_argument(
        "--tokens-per-step", type=_count, default=defaults.tokens_per_step, help="drawn for a step"
    )
    parser.add_argument(
        "--learning-rate",
        type=_positive,
        help=f"at its height; {defaults.learning_rate} unless given, with --records "
        f"{_OWN.learning_rate}",
    )
    parser.add_argument(
        "--form-steps",
        type=int,
        help=f"first steps, on forms alone; {defaults.form_steps} unless given, with --records 0",
    )
    parser.add_argument("--rank", type=_count, default=defaults.rank, help="rank of the adapters")
    parser.add_argument("--seed", type=int, default=defaults.seed, help="of weights and draws")
    _add_threads(parser, 2)
    parser.add_argument(
        "--save-every", type=_count, default=50, help="steps between two saved states"
    )
    parser.set_defaults(run=_fit)


def add_records(commands: Commands) -> None:
    """Add `records` to *commands*."""
    parser = commands.add_parser(
        "records",
        help="check labelled documents and say what they would train",
        description="Read files of labelled documents, say what each would train and what not and "
        "why, and name every line that cannot be used. Exits with 1 where there is one.",
    )
    parser.add_argument("files", type=Path, nargs="+", help="JSON Lines, a document each")
    parser.set_defaults(run=_records)


def add_average(commands: Commands) -> None:
    """Add `average` to *commands*."""
    parser = commands.add_parser(
        "average",
        help="write the mean of several checkpoints of one run",
        description="Write the mean of checkpoints that stem from one another, which often "
        "generalises better than each of them. Calibrate it afterwards.",
    )
    parser.add_argument("out", type=Path, help="folder of the new checkpoint")
    parser.add_argument("checkpoints", type=Path, nargs="+", help="folders, the latest last")
    parser.set_defaults(run=_average)


def add_calibrate(commands: Commands) -> None:
    """Add `calibrate` to *commands*."""
    parser = commands.add_parser(
        "calibrate",
        help="fit the temperatures of a checkpoint",
        description="Fit one temperature for each head on draws that training never had, and "
        "write them into the checkpoint.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("checkpoint", type=Path, help="folder of the checkpoint")
    _add_sets(parser)
    parser.add_argument("--records", type=_count, default=800, help="how many to fit on")
    parser.add_argument("--seed", type=int, default=0, help="of the records")
    _add_threads(parser, 2)
    parser.set_defaults(run=_calibrate)


def add_null_margin(commands: Commands) -> None:
    """Add `null-margin` to *commands*."""
    parser = commands.add_parser(
        "null-margin",
        help="choose how much likelier than nothing a value must be",
        description="Answer validation records and print what several margins give, the best one "
        "last. A server takes it as --null-margin, a request as the option null_margin.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("checkpoint", type=Path, help="folder of the checkpoint")
    parser.add_argument(
        "--records",
        type=Path,
        metavar="FILE",
        help="your labelled documents, of which those with the split 'val' are answered; "
        "generated ones without it",
    )
    _add_on_fault(parser)
    parser.add_argument("--number", type=_count, default=300, help="of generated records")
    _add_threads(parser, 1)
    parser.set_defaults(run=_null_margin)


def add_evaluate(commands: Commands) -> None:
    """Add `evaluate` to *commands*."""
    parser = commands.add_parser(
        "evaluate",
        help="measure a checkpoint on data that it was never trained on",
        description="Run suites of records through the engine, write the result of each, and "
        "print them all against the floors. Several may run side by side, each with its own "
        "suites, into one folder.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("checkpoint", type=Path, help="folder of the checkpoint")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    _add_sets(parser)
    parser.add_argument(
        "--suite",
        nargs="+",
        choices=tuple(SUITES),
        default=(),
        metavar="NAME",
        help=f"only these, of {', '.join(SUITES)}; all where none is named",
    )
    parser.add_argument(
        "--scale", type=_positive, default=1.0, help="factor on the number of records"
    )
    parser.add_argument(
        "--records",
        type=Path,
        metavar="FILE",
        help="measure on your own labelled documents instead, those with the split 'test'",
    )
    _add_on_fault(parser)
    _add_threads(parser, 1)
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


def _add_sets(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sets", type=Path, help="folder of the public data sets; generated documents without it"
    )


def _add_on_fault(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--on-fault",
        choices=get_args(OnFault),
        default="stop",
        help="what a line of --records that cannot be used does",
    )


def _add_threads(parser: argparse.ArgumentParser, default: int) -> None:
    parser.add_argument("--threads", type=_count, default=default, help="CPU threads")


def _fit(arguments: argparse.Namespace) -> int:
    preset = _OWN if arguments.records else FitOptions()
    steps = arguments.steps or preset.steps
    options = replace(
        preset,
        steps=steps,
        decay=arguments.decay or max(1, steps * 3 // 4),
        tokens_per_step=arguments.tokens_per_step,
        learning_rate=arguments.learning_rate or preset.learning_rate,
        form_steps=preset.form_steps if arguments.form_steps is None else arguments.form_steps,
        rank=arguments.rank,
        seed=arguments.seed,
    )
    source: Sampler = default_mixture(arguments.sets)
    init = arguments.init
    if arguments.records:
        source = with_own(
            arguments.records, source, rehearse=arguments.rehearse, on_fault=arguments.on_fault
        )
        init = init or DEFAULT_CHECKPOINT
    return fit(
        arguments.out,
        options,
        source=source,
        init=init,
        model_id=arguments.model_id,
        threads=arguments.threads,
        save_every=arguments.save_every,
    )


def _records(arguments: argparse.Namespace) -> int:
    files = resolve_base(BASES[DEFAULT_BASE], report=say)
    tokenizer = Tokenizer.load(files.folder, files.family)
    has_faults = False
    for path in arguments.files:
        found = survey(path, tokenizer)
        sys.stdout.write("".join(f"{line}\n" for line in found.lines()))
        has_faults = has_faults or bool(found.faults)
    return 1 if has_faults else 0


def _average(arguments: argparse.Namespace) -> int:
    mean = average([load_checkpoint(folder) for folder in arguments.checkpoints])
    save_checkpoint(mean, arguments.out)
    return 0


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


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _share(text: str) -> float:
    number = float(text)
    if not 0 <= number < 1:
        raise ValueError(text)
    return number


def _positive(text: str) -> float:
    number = float(text)
    if not 0 < number < math.inf:
        raise ValueError(text)
    return number


# argparse names these in its messages: "invalid whole number above 0 value"
_count.__name__ = "whole number above 0"
_share.__name__ = "share from 0 to below 1"
_positive.__name__ = "number above 0"
