"""Seeded inputs for state layers, and rows that continue, share and leave states."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["DeltaInputs", "DeltaSizes", "delta_inputs", "spans"]


@dataclass(frozen=True, slots=True)
class DeltaSizes:
    """Heads and sizes of a gated delta rule."""

    key_heads: int
    heads: int
    key_size: int
    value_size: int

    def pool(self, num_places: int, seed: int = 7) -> Tensor:
        """Return random states."""
        generator = torch.Generator().manual_seed(seed)
        shape = (num_places, self.heads, self.key_size, self.value_size)
        return torch.randn(shape, generator=generator)


@dataclass(frozen=True, slots=True)
class DeltaInputs:
    """What each token brings: queries, keys, values, log decay and amount."""

    tokens: tuple[Tensor, Tensor, Tensor, Tensor, Tensor]

    def __getitem__(self, where: slice | Tensor) -> tuple[Tensor, ...]:
        return tuple(x[where] for x in self.tokens)


def delta_inputs(
    num_tokens: int, sizes: DeltaSizes, dtype: torch.dtype, seed: int = 3
) -> DeltaInputs:
    """Return inputs as a Qwen3.5 layer computes them, from random numbers."""
    generator = torch.Generator().manual_seed(seed)

    def random(*shape: int) -> Tensor:
        return torch.randn(num_tokens, *shape, generator=generator)

    return DeltaInputs(
        (
            random(sizes.key_heads, sizes.key_size).to(dtype),
            random(sizes.key_heads, sizes.key_size).to(dtype),
            random(sizes.heads, sizes.value_size).to(dtype),
            -torch.nn.functional.softplus(random(sizes.heads)),
            torch.sigmoid(random(sizes.heads)).to(dtype),
        )
    )


def spans(lengths: list[int]) -> list[slice]:
    """Return where each row's tokens lie if one row follows another."""
    ends = torch.tensor(lengths).cumsum(0).tolist()
    return [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]
