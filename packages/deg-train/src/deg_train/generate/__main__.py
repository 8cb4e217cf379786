"""`python -m deg_train.generate`: the faults of the data files, and what is made from them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from deg_train.generate.coverage import page
from deg_train.generate.library import ROOT, check_library
from deg_train.recipe import default_mixture

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Check the library, or count, and return the exit status: 0 clean, 1 faults."""
    parser = argparse.ArgumentParser(prog="python -m deg_train.generate")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="list every fault of templates/ and fields/")
    check.add_argument("domains", nargs="*", help="only the files of these domains")
    check.add_argument("--root", type=Path, default=ROOT)
    counted = commands.add_parser("coverage", help="count what is generated")
    counted.add_argument("--records", type=int, default=2000, help="how many to draw")
    options = parser.parse_args(arguments)
    if options.command == "coverage":
        sys.stdout.write(page(default_mixture(None), options.records))
        return 0
    return _check(options)


def _check(options: argparse.Namespace) -> int:
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
