"""`python -m deg_serve`: the `deg-serve` command."""

from __future__ import annotations

import sys

from deg_serve.cli import main

if __name__ == "__main__":
    sys.exit(main())
