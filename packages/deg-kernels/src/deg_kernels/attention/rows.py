"""Rows of attention: which tokens of a flat pass belong together, and what they continue."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

# P tokens of a prefix, G key/value heads, D head size

__all__ = ["Prefix", "Rows"]


@dataclass(frozen=True, slots=True, eq=False)
class Prefix:
    """Keys and values that rows continue; they are read where they lie.

    Attributes:
        keys_PGD: The keys of its tokens in order, after rotation.
        values_PGD: The values.
    """

    keys_PGD: Tensor
    values_PGD: Tensor

    def __len__(self) -> int:
        return len(self.keys_PGD)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows that lie one after another in a flat pass; what follows the last one is padding.

    Attributes:
        lengths: The tokens of each row.
        prefixes: For each row the index of the prefix that it continues; None starts at nothing.
    """

    lengths: tuple[int, ...]
    prefixes: tuple[int | None, ...]
