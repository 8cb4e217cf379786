"""The batch-invariant linear map on a CPU.

A matrix library picks its algorithm by the number of rows, and with it the order of the sums, so
the same row gets different bits in another batch. It treats whole tiles of 16 rows alike.
"""

# M rows, K inputs, N outputs

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["ROW_TILE", "linear"]

ROW_TILE = 16
"""Rows are padded to a multiple of this many."""


def linear(x: Tensor, weight_NK: Tensor, bias_N: Tensor | None = None) -> Tensor:
    """Return `x @ weight.T + bias`, bit for bit the same for a row in any batch.

    Args:
        x: Rows of K numbers, with any leading dimensions.
        weight_NK: The weight, as `torch.nn.Linear` keeps it.
        bias_N: Added to every row.
    """
    x_MK = x.reshape(-1, x.shape[-1])
    y_MN = torch.nn.functional.linear(_pad_rows(x_MK), weight_NK, bias_N)[: len(x_MK)]
    return y_MN.reshape(*x.shape[:-1], len(weight_NK))


def _pad_rows(x_MK: Tensor) -> Tensor:
    missing = -len(x_MK) % ROW_TILE
    # a strided view could take another path through the library than its copy
    return torch.nn.functional.pad(x_MK, (0, 0, 0, missing)) if missing else x_MK.contiguous()
