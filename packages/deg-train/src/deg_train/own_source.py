"""A user's own files as what training draws from, though they may grow while it runs.

What a step draws from follows from its number and from how much of each file there was when it was
last read. That is noted beside the run, so a resumed run reads as much again and draws the same.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from deg_train.console import say
from deg_train.generate import DocumentSource, WiderSource
from deg_train.labels import label_lines
from deg_train.own import OnFault, OwnRecords, RecordFile, kept
from deg_train.records import Record
from deg_train.sources import Mixture, Sampler

__all__ = ["OwnSource", "with_filler"]

_NEGATIVES = 0.25


class OwnSource:
    """The training records of files, with a share of others among them.

    A file takes part once it has *min_train* records for training. Of several, each is drawn from
    as often as its weight says.

    Args:
        files: The files, each with its weight.
        others: What else is drawn from.
        rehearse: The share of draws from the others.
        on_fault: What a line that cannot be used does.
        min_train: With how many records a file takes part.
        reload_every: Steps between two readings of the files, which must only grow; an unfinished
            last line waits for the next one. Without it they are read once.
        filler: The share of drawn documents that are put into unrelated text.
        notes: Where what was read is noted; without it a resumed run reads what is there.

    Raises:
        ValueError: A share leaves nothing to one side.
    """

    def __init__(
        self,
        files: Sequence[RecordFile],
        others: Sampler,
        *,
        rehearse: float,
        on_fault: OnFault,
        min_train: int = 1,
        reload_every: int | None = None,
        filler: float = 0.0,
        notes: Path | None = None,
    ) -> None:
        if not 0 <= rehearse < 1:
            raise ValueError(f"a share of {rehearse} leaves nothing of your own: take one below 1")
        self._files = [_File(file, on_fault) for file in files]
        self._others, self._rehearse, self._filler = others, rehearse, filler
        self._min_train, self._every = min_train, reload_every
        self._notes = _Notes(notes)
        self._last: tuple[int, Sampler] | None = None

    def at(self, step: int) -> Sampler:
        """Return what is drawn from at *step*; the first step of all begins a new run.

        Raises:
            ValueError: A file is not what the run read before, a line of it cannot be used, or no
                file has enough records.
        """
        if step == 0 and self._last is None:
            self._notes.clear()
        reading = step - step % self._every if self._every else 0
        if self._last is None or self._last[0] != reading:
            self._last = reading, self._read(reading)
        return self._last[1]

    def _read(self, step: int) -> Sampler:
        noted = self._notes.at(step)
        extents: dict[str, _Extent] = {}
        for file in self._files:
            before = noted.get(file.name)
            if noted and before is None:
                say(f"{file.name} is new to this run, which from here on is another one")
            num_bytes = file.size(is_growing=bool(self._every)) if before is None else None
            extents[file.name] = file.read(num_bytes, before)
        self._notes.add(step, extents)
        return self._mixed()

    def _mixed(self) -> Sampler:
        ready = [file for file in self._files if len(file.records) >= self._min_train]
        waiting = [
            f"{file.name} has {len(file.records)} records for training, and {self._min_train} let "
            "it take part"
            for file in self._files
            if file not in ready
        ]
        if not ready:
            raise ValueError(f"{'; '.join(waiting)}: label more, or lower --source-min-train")
        for each in waiting:
            say(each)
        share = (1 - self._rehearse) / sum(file.weight for file in ready)
        sources = [
            (with_filler(OwnRecords(file.records), self._filler), share * file.weight)
            for file in ready
        ]
        return Mixture([*sources, (self._others, self._rehearse)] if self._rehearse else sources)


def with_filler(source: Sampler, filler: float) -> Sampler:
    """Put a share of the documents of *source* into unrelated text (contract 12.4, "Filler").

    A quarter of these are left out of it: their lists, if they may be empty, then have no item.
    """
    if not filler:
        return source
    shares = {
        "hidden in other text": (1 - _NEGATIVES) * filler,
        "other text without it": _NEGATIVES * filler,
    }
    return WiderSource(source, shares, others=DocumentSource("train"))


class _Extent(TypedDict):
    """How much of a file was read, and the hash of that much."""

    bytes: int
    sha256: str


class _File:
    """A file, and its records for training as far as it was read."""

    def __init__(self, file: RecordFile, on_fault: OnFault) -> None:
        self.name, self.weight = str(file.path.resolve()), file.weight
        self.records: list[Record] = []
        self._path, self._on_fault = file.path, on_fault
        self._num_bytes, self._num_lines, self._hash = 0, 0, hashlib.sha256()

    def size(self, *, is_growing: bool) -> int:
        """Return how much there is to read now: of a growing file its whole lines."""
        text = self._path.read_bytes()
        return text.rfind(b"\n") + 1 if is_growing else len(text)

    def read(self, num_bytes: int | None, noted: _Extent | None) -> _Extent:
        """Read on up to *num_bytes*, or as far as was noted.

        Raises:
            ValueError: There is less, or something else, than was read before.
        """
        end = noted["bytes"] if noted is not None else num_bytes
        assert end is not None
        with self._path.open("rb") as lines:
            lines.seek(self._num_bytes)
            text = lines.read(max(0, end - self._num_bytes))
        self._hash.update(text)
        read = _Extent(bytes=self._num_bytes + len(text), sha256=self._hash.hexdigest())
        if read["bytes"] != end or (noted is not None and read != noted):
            raise ValueError(
                f"{self._path} is no longer what this run read: put it back as it was, lines at "
                "its end aside, or begin a new run in another folder"
            )
        self.records += [
            each.record
            for each in kept(
                self._path,
                label_lines(io.BytesIO(text), self._num_lines + 1),
                on_fault=self._on_fault,
            )
            if each.split == "train"
        ]
        self._num_bytes, self._num_lines = end, self._num_lines + text.count(b"\n")
        return read


class _Notes:
    """What was read at which step, a line of JSON each."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._read: dict[int, dict[str, _Extent]] = {}
        if path is not None and path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    note = json.loads(line)
                    self._read[note["step"]] = note["files"]
                except (ValueError, TypeError, KeyError) as error:
                    raise ValueError(
                        f"{path} is damaged ({error}): begin a new run in another folder"
                    ) from error

    def clear(self) -> None:
        """Forget the notes of a run that begins anew."""
        self._read.clear()
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def at(self, step: int) -> Mapping[str, _Extent]:
        """Return what was read at *step*, nothing where it was not reached yet."""
        return self._read.get(step, {})

    def add(self, step: int, extents: dict[str, _Extent]) -> None:
        """Note what was read at *step*."""
        if self._read.get(step) == extents:
            return
        self._read[step] = extents
        if self._path is not None:
            lines = [json.dumps({"step": at, "files": each}) for at, each in self._read.items()]
            part = self._path.with_suffix(".part")
            part.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            part.replace(self._path)
