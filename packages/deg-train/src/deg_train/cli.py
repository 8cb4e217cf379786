"""The `deg-train` command: fit, calibrate, evaluate."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from deg_train.commands import add_calibrate, add_evaluate, add_fit

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(prog="deg-train", description="Train and measure deg.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (add_fit, add_calibrate, add_evaluate):
        add(commands)
    parsed = parser.parse_args(arguments)
    try:
        return int(parsed.run(parsed))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"deg-train: {error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
