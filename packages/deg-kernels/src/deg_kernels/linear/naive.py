"""The linear map as torch computes it: the reference, not batch-invariant."""

# M rows, K inputs, N outputs

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["naive_linear"]


def naive_linear(x_MK: Tensor, weight_NK: Tensor, bias_N: Tensor | None = None) -> Tensor:
    """Return `x @ weight.T + bias`, summed in the order that the library picks."""
    return torch.nn.functional.linear(x_MK, weight_NK, bias_N)
