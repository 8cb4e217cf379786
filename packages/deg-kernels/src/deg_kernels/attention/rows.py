"""Rows of attention: which tokens of a flat pass belong together, and what they continue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

# P tokens of a prefix, G key/value heads, D head size, R rows of one token

__all__ = ["DecodeRows", "Prefix", "Rows"]


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


@dataclass(frozen=True, slots=True, eq=False)
class DecodeRows:
    """Rows of one token each, known to the device alone, so that a graph of launches may repeat.

    Attributes:
        table_R5: For each row 1, or 0 if it is padding; which token is its own; how many come
            before; and twice, for keys and values, where in their pools these begin, in numbers.
    """

    table_R5: Tensor

    @classmethod
    def padding(cls, num_rows: int, device: torch.device) -> Self:
        """Make a table of nothing but padding."""
        return cls(torch.zeros(num_rows, 5, dtype=torch.int64, device=device))

    @property
    def before_R(self) -> Tensor:
        """How many tokens each row continues, which is the position of its own."""
        return self.table_R5[:, 2]

    def first(self, num_rows: int) -> DecodeRows:
        """Return the first rows, in the same memory."""
        return DecodeRows(self.table_R5[:num_rows])

    def tell(self, befores: Sequence[int], stride: int) -> None:
        """Say how many tokens each of the first rows continues; the others become padding.

        Args:
            befores: The tokens of each row.
            stride: Numbers of a pool from one row's tokens to the next one's.
        """
        num_rows = len(self.table_R5)
        # padding shares what lies behind the last row
        table = [(0, row, 0, num_rows * stride, num_rows * stride) for row in range(num_rows)]
        for row, before in enumerate(befores):
            table[row] = (1, row, before, row * stride, row * stride)
        self.table_R5.copy_(torch.tensor(table, dtype=torch.int64))

    def places_R(self, token_size: int) -> Tensor:
        """Return which token of a pool follows those that each row continues.

        Args:
            token_size: Numbers of a token in a pool.
        """
        return self.table_R5[:, 3] // token_size + self.table_R5[:, 2]

    def advance(self) -> None:
        """Count each row's own token among those that it continues."""
        self.table_R5[:, 2] += self.table_R5[:, 0]
