"""The `deg-train` command and what it can be told to do."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from deg_model import ModelError
from deg_schema import DegSchemaError
from deg_train.console import say
from deg_train.measuring_commands import (
    add_calibrate,
    add_evaluate,
    add_null_margin,
    add_report,
)
from deg_train.training_commands import add_average, add_fit, add_generator, add_records

__all__ = ["main"]

_COMMANDS = (
    add_fit,
    add_records,
    add_generator,
    add_average,
    add_calibrate,
    add_null_margin,
    add_evaluate,
    add_report,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(prog="deg-train", description="Train and measure deg.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in _COMMANDS:
        add(commands)
    parsed = parser.parse_args(arguments)
    try:
        return int(parsed.run(parsed))
    except (ModelError, DegSchemaError, OSError, ValueError) as error:
        say(f"deg-train: {' '.join(str(error).split())}")
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
