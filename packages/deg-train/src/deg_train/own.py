"""A user's own labelled documents: files of them, their records, and what a faulty line does."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deg_train.console import say
from deg_train.labels import Fault, Labelled, Split, read_labels
from deg_train.records import Record

__all__ = ["OnFault", "OwnRecords", "RecordFile", "kept", "read_split"]

OnFault = Literal["stop", "skip"]


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A file of labelled documents, and how often it is drawn from beside others."""

    path: Path
    weight: float = 1.0

    @classmethod
    def parse(cls, text: str) -> RecordFile:
        """Read `PATH` or `PATH:WEIGHT`.

        Raises:
            ValueError: The weight is not above 0.
        """
        path, colon, weight = text.rpartition(":")
        try:
            number = float(weight) if colon else 1.0
        except ValueError:
            return cls(Path(text))
        if not 0 < number < float("inf"):
            raise ValueError(f"a weight of {weight} draws nothing: take one above 0")
        return cls(Path(path if colon else text), number)


class OwnRecords:
    """Draws from a list of records, each as likely as the next."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records

    def sample(self, rng: random.Random) -> Record:
        """Draw one record."""
        return rng.choice(self._records)


def read_split(path: Path, split: Split, *, on_fault: OnFault) -> list[Record]:
    """Return the records of *path* that are for *split*.

    Args:
        path: A file as `deg_train.labels` reads it.
        split: What they are for.
        on_fault: Whether a line that cannot be used ends it all, or is told of and passed over.

    Raises:
        ValueError: A line cannot be used, or none is for *split*.
    """
    found = [
        each.record
        for each in kept(path, read_labels(path), on_fault=on_fault)
        if each.split == split
    ]
    if not found:
        raise ValueError(
            f"{path} has no records with the split {split!r}: give some of its lines one"
        )
    return found


def kept(path: Path, lines: Iterable[Labelled | Fault], *, on_fault: OnFault) -> Iterator[Labelled]:
    """Yield the *lines* of *path* that can be used.

    Raises:
        ValueError: One cannot, and ends it all.
    """
    for each in lines:
        if not isinstance(each, Fault):
            yield each
        elif on_fault == "skip":
            say(f"{path}: {each}: passed over")
        else:
            raise ValueError(
                f"{path}: {each}: mend it, or pass over such lines with --on-fault skip"
            )
