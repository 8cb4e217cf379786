"""`python -m deg_train.generate check`: every fault of the data files, each with its place."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from deg_train.generate.library import ROOT, check_library

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Check the library and return the exit status: 0 clean, 1 faults."""
    parser = argparse.ArgumentParser(prog="python -m deg_train.generate")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="list every fault of templates/ and fields/")
    check.add_argument("domains", nargs="*", help="only the files of these domains")
    check.add_argument("--root", type=Path, default=ROOT)
    options = parser.parse_args(arguments)
    library, faults = check_library(options.root)
    names = set(options.domains)
    if names:
        faults = [fault for fault in faults if Path(fault.file).stem in names]
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    domains = [domain for domain in library.domains.values() if not names or domain.name in names]
    num_templates = sum(len(domain.templates) for domain in domains)
    num_fields = sum(len(domain.fields) for domain in domains)
    sys.stdout.write(
        f"{len(domains)} domains, {num_templates} templates, {num_fields} fields, "
        f"{len(faults)} faults\n"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
