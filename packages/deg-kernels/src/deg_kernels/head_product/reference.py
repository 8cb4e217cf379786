"""The product as torch computes it: the truth, not batch-invariant."""

# R rows, O others, D inner size

from __future__ import annotations

from torch import Tensor

__all__ = ["naive_head_product"]


def naive_head_product(a_RD: Tensor, b_OD: Tensor) -> Tensor:
    """Return `a @ b.T`, summed in the order that the library picks."""
    return a_RD @ b_OD.T
