"""Which tokens each row of a pass owns, and which states it starts from and leaves behind."""

# R rows, N flat tokens

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

import torch
from torch import Tensor

from deg_kernels.checks import check

__all__ = ["NOWHERE", "StateRows"]

NOWHERE = -1
"""As a start: begin from zeros. As a write: leave nothing behind."""


@dataclass(frozen=True, slots=True)
class StateRows:
    """The rows of one pass over state layers; built once, shared by all layers of the pass.

    Tokens of all rows lie flat along N. Tokens between rows belong to nobody: what an operator
    returns for them is zero, and nothing else depends on them.

    Attributes:
        offsets: Where each row's tokens begin in N.
        lengths: How many tokens each row has; a row without tokens keeps its state.
        starts: Each row's place in the pool of states that it starts from, or `NOWHERE`.
        writes: Each row's place in the pool that final states are written to, or `NOWHERE`.
    """

    offsets: tuple[int, ...]
    lengths: tuple[int, ...]
    starts: tuple[int, ...]
    writes: tuple[int, ...]
    _tables: dict[torch.device, Tensor] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(
        cls,
        lengths: Sequence[int],
        *,
        starts: Sequence[int] | None = None,
        writes: Sequence[int] | None = None,
        offsets: Sequence[int] | None = None,
    ) -> StateRows:
        """Check and keep the rows of a pass.

        Args:
            lengths: How many tokens each row has.
            starts: From zeros unless given.
            writes: Nothing is left behind unless given.
            offsets: One row's tokens behind another's unless given.

        Raises:
            ValueError: The sequences differ in length, a number is negative (save `NOWHERE`), two
                rows share tokens, or two rows write to one place.
        """
        nowhere = (NOWHERE,) * len(lengths)
        rows = cls(
            tuple(accumulate(lengths, initial=0))[:-1] if offsets is None else tuple(offsets),
            tuple(lengths),
            nowhere if starts is None else tuple(starts),
            nowhere if writes is None else tuple(writes),
        )
        rows._check()
        return rows

    def __len__(self) -> int:
        return len(self.lengths)

    def entries(self) -> Iterator[tuple[int, int, int, int]]:
        """Give each row's offset, length, start and write."""
        return zip(self.offsets, self.lengths, self.starts, self.writes, strict=True)

    @property
    def num_tokens(self) -> int:
        """The least N that holds every row."""
        return max(map(sum, zip(self.offsets, self.lengths, strict=True)), default=0)

    @property
    def keeps(self) -> bool:
        """Whether any row leaves its final state behind."""
        return any(write != NOWHERE for write in self.writes)

    def table_R4(self, device: torch.device) -> Tensor:
        """Return offset, length, start and write of each row, int32, uploaded once a device."""
        if device not in self._tables:
            table = torch.tensor([self.offsets, self.lengths, self.starts, self.writes])
            self._tables[device] = table.T.to(device, torch.int32).contiguous()
        return self._tables[device]

    def check_starts(self, pool: Tensor | None) -> None:
        """Raise `ValueError` unless every row starts from a place in *pool*, or from zeros."""
        _check_places("starts", self.starts, pool)

    def check_writes(self, pool: Tensor | None, starts: Tensor | None) -> None:
        """Raise `ValueError` unless every row writes to a place in *pool*, which nobody else reads.

        Args:
            pool: The pool that is written.
            starts: The pool that is read; it may be the same one.
        """
        _check_places("writes", self.writes, pool)
        if starts is None or pool is None or not _share_memory(starts, pool):
            return
        same = starts.data_ptr() == pool.data_ptr()
        check(same, "writes", "their pool overlaps the one that is read, but is not the same")
        readers = list(zip(self.starts, self.writes, strict=True))
        for place in {write for _, write in readers if write != NOWHERE}:
            alone = all(start != place or write == place for start, write in readers)
            check(alone, "writes", f"another row starts from place {place} of the same pool")

    def _check(self) -> None:
        for name in ("offsets", "starts", "writes"):
            given = len(getattr(self, name))
            check(given == len(self), name, f"has {given} entries for {len(self)} rows")
        for name, least in (
            ("offsets", 0),
            ("lengths", 0),
            ("starts", NOWHERE),
            ("writes", NOWHERE),
        ):
            lowest = min(getattr(self, name), default=0)
            check(lowest >= least, name, f"{lowest} is below {least}")
        spans = sorted(
            (offset, offset + length)
            for offset, length in zip(self.offsets, self.lengths, strict=True)
            if length
        )
        apart = all(end <= begin for (_, end), (begin, _) in pairwise(spans))
        check(apart, "offsets", "two rows share tokens")
        kept = [write for write in self.writes if write != NOWHERE]
        check(len(kept) == len(set(kept)), "writes", "two rows write to one place")


def _check_places(name: str, places: Sequence[int], pool: Tensor | None) -> None:
    highest, size = max(places, default=NOWHERE), 0 if pool is None else len(pool)
    check(highest < size, name, f"place {highest} is not in a pool of {size}")


def _share_memory(one: Tensor, other: Tensor) -> bool:
    return one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
