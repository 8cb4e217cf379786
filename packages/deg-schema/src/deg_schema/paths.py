"""Paths of schema files: what a shell leaves to us, which is globs and folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from deg_schema.checks import STANDARD_INPUT

__all__ = ["Unmatched", "expand"]


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A name that stands for no file, and why."""

    name: str
    reason: str


def expand(names: Iterable[str]) -> Iterator[str | Unmatched]:
    """Give the path of each file that *names* stand for, and each file once.

    A glob may have `**`, for any number of folders. A folder stands for every `*.json` below it.
    What starts with a dot is only found where it is named.
    """
    seen: set[str] = set()
    for name in names:
        found = _matches(name)
        if isinstance(found, Unmatched):
            yield found
            continue
        for path in found:
            # two names, or a link, may lead to one file
            identity = path if path == STANDARD_INPUT else os.path.realpath(path)
            if identity not in seen:
                seen.add(identity)
                yield path


def _matches(name: str) -> list[str] | Unmatched:
    if os.path.isdir(name):
        found = [os.path.normpath(path) for path in _files_below(name)]
        return found or Unmatched(name, "no *.json file lies in this folder")
    # a file may be named as a glob is spelled; what is no glob is read, or found missing
    if not any(char in name for char in "*?[") or os.path.lexists(name):
        return [name]
    return _files_of(name) or Unmatched(name, "no file matches")


def _files_below(folder: str) -> list[str]:
    # the shell has expanded most names already
    from glob import escape  # noqa: PLC0415

    return _files_of(os.path.join(escape(folder), "**", "*.json"))


def _files_of(pattern: str) -> list[str]:
    from glob import glob  # noqa: PLC0415

    found = (path for path in glob(pattern, recursive=True) if os.path.isfile(path))
    # of a link and the file that it leads to, the nearer one is told
    return sorted(found, key=lambda path: (path.count(os.sep), path))
