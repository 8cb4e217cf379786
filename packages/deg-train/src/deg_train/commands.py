"""The arguments of each `deg-train` command."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from deg_train.fit import fit
from deg_train.trainer import FitOptions

__all__ = ["add_calibrate", "add_evaluate", "add_fit"]


def add_fit(commands: Any) -> None:
    """Add `fit` to *commands*."""
    defaults = FitOptions()
    parser = commands.add_parser("fit", help="train adapters and heads into a checkpoint")
    parser.add_argument("out", type=Path, help="folder of the run; resumed where it has a state")
    parser.add_argument("--sets", type=Path, help="folder that holds the public data sets")
    parser.add_argument("--model-id", default="deg-smollm2-135m-0.1")
    parser.add_argument("--steps", type=int, default=defaults.steps)
    parser.add_argument("--decay", type=int, default=defaults.decay)
    parser.add_argument("--tokens-per-step", type=int, default=defaults.tokens_per_step)
    parser.add_argument("--learning-rate", type=float, default=defaults.learning_rate)
    parser.add_argument("--rank", type=int, default=defaults.rank)
    parser.add_argument("--seed", type=int, default=defaults.seed)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--save-every", type=int, default=50)
    parser.set_defaults(run=_fit)


def _fit(arguments: argparse.Namespace) -> int:
    options = FitOptions(
        steps=arguments.steps,
        decay=arguments.decay,
        tokens_per_step=arguments.tokens_per_step,
        learning_rate=arguments.learning_rate,
        rank=arguments.rank,
        seed=arguments.seed,
    )
    fit(
        arguments.out,
        options,
        folder=arguments.sets,
        model_id=arguments.model_id,
        threads=arguments.threads,
        save_every=arguments.save_every,
    )
    return 0


def add_calibrate(commands: Any) -> None:
    """Add `calibrate` to *commands*."""


def add_evaluate(commands: Any) -> None:
    """Add `evaluate` to *commands*."""
