"""The commands that make a checkpoint or a generator: `records`, `fit`, `generator`, `average`."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from deg_model import (
    BASES,
    DEFAULT_BASE,
    DEFAULT_CHECKPOINT,
    Tokenizer,
    load_checkpoint,
    resolve_base,
    save_checkpoint,
)
from deg_train.arguments import (
    DefaultsShown,
    add_on_fault,
    add_sets,
    add_threads,
    count,
    positive,
    record_file,
    share,
    weight,
)
from deg_train.averaging import average
from deg_train.console import say
from deg_train.fit import fit
from deg_train.fit_options import FitOptions
from deg_train.labels import read_labels
from deg_train.own import kept
from deg_train.own_source import OwnSource
from deg_train.recipe import default_mixture
from deg_train.sources import Sampler, StepSampler
from deg_train.survey import survey
from deg_train.text_training import TextRun, fit_generator
from deg_train.trained_arguments import add_trained, plan_of

if TYPE_CHECKING:
    from deg_train.arguments import Commands

__all__ = ["add_average", "add_fit", "add_generator", "add_records"]

# some minutes on from a checkpoint that knows the rest
_OWN = FitOptions(steps=200, learning_rate=4e-4, warmup=20, form_steps=0)
_WEIGHTS = {
    "anchor_weight": "where items start",
    "anchor_count_weight": "how many items start",
    "lm_weight": "texts, which train with --full alone,",
    "lm_kl_base": "how far texts get from those of the frozen base, with --full alone,",
}
_TEXTS = FitOptions(steps=200, learning_rate=2e-4, warmup=20, form_steps=0, rank=16)


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


def add_fit(commands: Commands) -> None:
    """Add `fit` to *commands*."""
    defaults = FitOptions()
    parser = commands.add_parser(
        "fit",
        help="train adapters and heads into a checkpoint",
        description="Train heads and adapters on frozen base weights, or with --full the weights "
        "themselves: on the recipe of the default checkpoint, or, with --records, on from that "
        "checkpoint with your own documents. Run again with the same folder, it goes on where it "
        "was stopped.",
        formatter_class=DefaultsShown,
    )
    parser.add_argument("out", type=Path, help="folder of the run: log, state and checkpoint")
    add_sets(parser)
    parser.add_argument(
        "--records",
        type=record_file,
        action="append",
        metavar="FILE[:WEIGHT]",
        help="your labelled documents, of which those for training are drawn; may be repeated",
    )
    parser.add_argument(
        "--rehearse",
        type=share,
        default=0.2,
        help="with --records, the share of draws that are not of them, against forgetting",
    )
    parser.add_argument(
        "--source-min-train",
        type=count,
        default=1,
        help="with how many documents for training a file of --records takes part",
    )
    parser.add_argument(
        "--reload-every",
        type=count,
        help="steps between two readings of --records, for files that grow; once unless given",
    )
    parser.add_argument(
        "--filler",
        type=share,
        default=0.0,
        help="share of the documents of --records that are put into unrelated text",
    )
    add_on_fault(parser)
    parser.add_argument(
        "--init",
        type=Path,
        help="checkpoint to start from; with --records the default one unless named",
    )
    parser.add_argument(
        "--model-id",
        help="the name that the checkpoint gives itself; that of the folder unless given",
    )
    parser.add_argument(
        "--steps",
        type=count,
        help=f"steps in all; {defaults.steps} unless given, with --records {_OWN.steps}",
    )
    parser.add_argument(
        "--decay",
        type=count,
        help="last steps, over which the rate falls; three quarters of all unless given",
    )
    parser.add_argument(
        "--tokens-per-step", type=count, default=defaults.tokens_per_step, help="drawn for a step"
    )
    parser.add_argument(
        "--tokens-per-example",
        type=count,
        default=defaults.tokens_per_example,
        help="of a document and its questions; of longer documents a window is drawn",
    )
    parser.add_argument(
        "--learning-rate",
        type=positive,
        help=f"at its height; {defaults.learning_rate} unless given, with --records "
        f"{_OWN.learning_rate}",
    )
    parser.add_argument(
        "--form-steps",
        type=int,
        help=f"first steps, on forms alone; {defaults.form_steps} unless given, with --records 0",
    )
    add_trained(parser, defaults)
    for name, what in _WEIGHTS.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=weight,
            default=getattr(defaults, name),
            help=f"what the loss of {what} weighs",
        )
    parser.add_argument(
        "--memory",
        type=positive,
        metavar="GB",
        help="what the passes of a step may take; half of what is free unless given",
    )
    parser.add_argument("--seed", type=int, default=defaults.seed, help="of weights and draws")
    add_threads(parser, 2)
    parser.add_argument(
        "--save-every",
        type=count,
        default=50,
        help="steps between two saved states and checkpoints",
    )
    parser.add_argument(
        "--tensorboard", action="store_true", help="write events/ for TensorBoard too"
    )
    parser.set_defaults(run=_fit)


def add_generator(commands: Commands) -> None:
    """Add `generator` to *commands*."""
    how = TextRun()
    parser = commands.add_parser(
        "generator",
        help="train an adapter that writes x-generate texts",
        description="Train an adapter that writes the texts of x-generate fields as your labelled "
        "documents have them, beside any checkpoint and changing nothing that it decides or "
        "copies: --generate base+lora:OUT/generator. Records with the split 'val' choose its best "
        "step. Run again with the same folder, it goes on where it was stopped.",
        formatter_class=DefaultsShown,
    )
    parser.add_argument("out", type=Path, help="folder of the run: log, state and generator")
    parser.add_argument(
        "--records",
        type=Path,
        action="append",
        required=True,
        metavar="FILE",
        help="your labelled documents; may be repeated",
    )
    add_on_fault(parser)
    parser.add_argument("--steps", type=count, default=_TEXTS.steps, help="steps at most")
    parser.add_argument(
        "--every", type=count, default=how.every, help="steps between two measurements"
    )
    parser.add_argument(
        "--patience",
        type=count,
        default=how.patience,
        help="measurements in a row without a better one that end the run",
    )
    parser.add_argument("--rank", type=count, default=_TEXTS.rank, help="rank of the adapter")
    parser.add_argument(
        "--learning-rate", type=positive, default=_TEXTS.learning_rate, help="at its height"
    )
    parser.add_argument(
        "--kl-base",
        type=weight,
        default=0.0,
        help="what the loss of how far texts get from those of the base weighs",
    )
    parser.add_argument("--seed", type=int, default=_TEXTS.seed, help="of weights and draws")
    add_threads(parser, 2)
    parser.set_defaults(run=_generator)


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


def _records(arguments: argparse.Namespace) -> int:
    files = resolve_base(BASES[DEFAULT_BASE], report=say)
    tokenizer = Tokenizer.load(files.folder, files.family)
    has_faults = False
    for path in arguments.files:
        found = survey(path, tokenizer)
        sys.stdout.write("".join(f"{line}\n" for line in found.lines()))
        has_faults = has_faults or bool(found.faults)
    return 1 if has_faults else 0


def _fit(arguments: argparse.Namespace) -> int:
    preset = _OWN if arguments.records else FitOptions()
    steps = arguments.steps or preset.steps
    options = replace(
        preset,
        steps=steps,
        decay=arguments.decay or max(1, steps * 3 // 4),
        tokens_per_step=arguments.tokens_per_step,
        tokens_per_example=arguments.tokens_per_example,
        learning_rate=arguments.learning_rate or preset.learning_rate,
        form_steps=preset.form_steps if arguments.form_steps is None else arguments.form_steps,
        rank=arguments.rank,
        plan=plan_of(arguments),
        backbone_rate=arguments.backbone_rate,
        seed=arguments.seed,
        **{name: getattr(arguments, name) for name in _WEIGHTS},
        memory=None if arguments.memory is None else int(arguments.memory * 1e9),
    )
    if options.lm_kl_base and options.plan.names:
        raise ValueError("--lm-kl-base holds what --full trains to the base: add --full")
    others = default_mixture(arguments.sets)
    source: Sampler | StepSampler = others
    init = arguments.init
    if arguments.records:
        source = OwnSource(
            arguments.records,
            others,
            rehearse=arguments.rehearse,
            on_fault=arguments.on_fault,
            min_train=arguments.source_min_train,
            reload_every=arguments.reload_every,
            filler=arguments.filler,
            notes=arguments.out / "readings.jsonl",
        )
        init = init or DEFAULT_CHECKPOINT
    return fit(
        arguments.out,
        options,
        source=source,
        init=init,
        model_id=arguments.model_id or arguments.out.resolve().name,
        threads=arguments.threads,
        save_every=arguments.save_every,
        tensorboard=arguments.tensorboard,
    )


def _generator(arguments: argparse.Namespace) -> int:
    options = replace(
        _TEXTS,
        steps=arguments.steps,
        decay=max(1, arguments.steps * 3 // 4),
        learning_rate=arguments.learning_rate,
        rank=arguments.rank,
        lm_kl_base=arguments.kl_base,
        seed=arguments.seed,
    )
    labelled = [
        each
        for path in arguments.records
        for each in kept(path, read_labels(path), on_fault=arguments.on_fault)
    ]
    return fit_generator(
        arguments.out,
        options,
        TextRun(arguments.every, arguments.patience),
        records=[each.record for each in labelled if each.split == "train"],
        validation=[each.record for each in labelled if each.split == "val"],
        threads=arguments.threads,
    )


def _average(arguments: argparse.Namespace) -> int:
    mean = average([load_checkpoint(folder) for folder in arguments.checkpoints])
    save_checkpoint(mean, arguments.out)
    return 0
