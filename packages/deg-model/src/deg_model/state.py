"""What a backbone remembers of the tokens it has read."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

# P tokens read, G key/value heads, D head size

__all__ = ["State"]


@dataclass(frozen=True, slots=True)
class State:
    """Keys and values of every attention layer for the tokens read so far.

    A fork reads it by reference and never writes to it.
    """

    keys_GPD: tuple[Tensor, ...] = ()
    values_GPD: tuple[Tensor, ...] = ()
    length: int = 0

    @property
    def num_bytes(self) -> int:
        """The memory that the state holds."""
        return sum(t.numel() * t.element_size() for t in (*self.keys_GPD, *self.values_GPD))
