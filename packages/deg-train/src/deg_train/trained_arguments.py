"""The words of `deg-train fit` that say what is trained (contract 12.7)."""

from __future__ import annotations

import argparse

from deg_model import BASE_READS, SHARED, AdapterPlan
from deg_train.arguments import count, positive
from deg_train.fit_options import FitOptions

__all__ = ["add_trained", "plan_of"]


def add_trained(parser: argparse.ArgumentParser, defaults: FitOptions) -> None:
    """Add to *parser* what says which weights are trained."""
    parser.add_argument(
        "--adapters",
        metavar="shared|decide,extract",
        help="one adapter for all questions, or one for each kind; shared unless given",
    )
    parser.add_argument(
        "--lora-context",
        metavar="base|NAME",
        help="the adapter that reads documents too, or the base, where texts go on from what was "
        "read; shared unless given, base with --adapters decide,extract",
    )
    parser.add_argument("--rank", type=count, default=defaults.rank, help="rank of the adapters")
    parser.add_argument(
        "--full",
        action="store_true",
        help="train the whole backbone in place of adapters, its token embeddings apart",
    )
    parser.add_argument(
        "--backbone-rate",
        type=positive,
        default=defaults.backbone_rate,
        help="with --full, the learning rate of the backbone at its height",
    )


def plan_of(arguments: argparse.Namespace) -> AdapterPlan:
    """Return which adapters *arguments* ask for, none with `--full`.

    Raises:
        ValueError: There are no such adapters, or `--full` stands beside some.
    """
    if arguments.full:
        if arguments.adapters or arguments.lora_context:
            raise ValueError("--full trains no adapters: leave out --adapters and --lora-context")
        return AdapterPlan((), BASE_READS)
    names = tuple((arguments.adapters or SHARED).split(","))
    return AdapterPlan(names, arguments.lora_context or (SHARED if SHARED in names else BASE_READS))
