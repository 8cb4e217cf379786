"""Arguments that several `deg-train` commands take, and the numbers that they may be."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from deg_train.own import OnFault, RecordFile

if TYPE_CHECKING:
    # the class that `add_subparsers` returns has no public name
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = [
    "DefaultsShown",
    "add_on_fault",
    "add_sets",
    "add_threads",
    "count",
    "positive",
    "record_file",
    "share",
    "weight",
]


class DefaultsShown(argparse.ArgumentDefaultsHelpFormatter):
    """Help that names the default of each argument, but of those that do nothing by default."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.default is None or action.default is False:
            return action.help
        return super()._get_help_string(action)


def add_sets(parser: argparse.ArgumentParser) -> None:
    """Add the folder of the public data sets to *parser*."""
    parser.add_argument(
        "--sets", type=Path, help="folder of the public data sets; generated documents without it"
    )


def add_on_fault(parser: argparse.ArgumentParser) -> None:
    """Add what a faulty line of labelled documents does to *parser*."""
    parser.add_argument(
        "--on-fault",
        choices=get_args(OnFault),
        default="stop",
        help="what a line of --records that cannot be used does",
    )


def add_threads(parser: argparse.ArgumentParser, default: int) -> None:
    """Add the number of CPU threads to *parser*."""
    parser.add_argument("--threads", type=count, default=default, help="CPU threads")


def count(text: str) -> int:
    """Read a whole number above 0."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def record_file(text: str) -> RecordFile:
    """Read a file of labelled documents with its weight."""
    try:
        return RecordFile.parse(text)
    except ValueError as error:
        # of any other error the parser would print the argument alone
        raise argparse.ArgumentTypeError(f"{text}: {error}") from error


def share(text: str) -> float:
    """Read a share from 0 to below 1."""
    number = float(text)
    if not 0 <= number < 1:
        raise ValueError(text)
    return number


def weight(text: str) -> float:
    """Read a finite number of 0 or more."""
    number = float(text)
    if not 0 <= number < math.inf:
        raise ValueError(text)
    return number


def positive(text: str) -> float:
    """Read a finite number above 0."""
    number = float(text)
    if not 0 < number < math.inf:
        raise ValueError(text)
    return number


# argparse names these in its messages: "invalid whole number above 0 value"


count.__name__ = "whole number above 0"
share.__name__ = "share from 0 to below 1"
weight.__name__ = "number of 0 or more"
positive.__name__ = "number above 0"
