"""Reading a user's own download of a public data set, with errors that say what is missing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["MissingFile", "UnreadableFile", "as_published", "read_csv", "read_json", "read_text"]


class MissingFile(FileNotFoundError):
    """A data set's file is not where its folder was said to be."""


class UnreadableFile(ValueError):
    """A data set's file is there and is not what was published."""


@contextmanager
def as_published(folder: Path) -> Iterator[None]:
    """Read a data set's rows inside, so that a row of another shape is told with its folder.

    Raises:
        UnreadableFile: A row lacks a part, or has it in another shape.
    """
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise UnreadableFile(
            f"{folder} does not hold the data set as it was published: {error!r}"
        ) from error


def read_text(folder: Path, name: str) -> str:
    """Read a file as UTF-8, a stray byte of an older encoding as the character it was meant to be.

    Raises:
        MissingFile: The folder holds no such file.
    """
    path = Path(folder) / name
    try:
        content = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise MissingFile(
            f"{path} is missing: download the data set and pass the folder that holds {name!r}"
        ) from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def read_json(folder: Path, name: str) -> Any:
    """Read a JSON file.

    Raises:
        MissingFile: The folder holds no such file.
        UnreadableFile: It is not JSON.
    """
    try:
        return json.loads(read_text(folder, name))
    except json.JSONDecodeError as error:
        raise UnreadableFile(f"{Path(folder) / name} is not JSON: {error}") from error


def read_csv(folder: Path, name: str) -> list[dict[str, str]]:
    """Read a CSV file with a header row.

    Raises:
        MissingFile: The folder holds no such file.
    """
    return list(csv.DictReader(io.StringIO(read_text(folder, name), newline="")))
