"""What torch makes of the functions: the truth; on a CPU not the same bits in another tensor."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["naive_sigmoid", "naive_silu", "naive_softplus"]


def naive_sigmoid(x: Tensor) -> Tensor:
    """Return `1 / (1 + exp(-x))`."""
    return torch.sigmoid(x)


def naive_silu(x: Tensor) -> Tensor:
    """Return `x / (1 + exp(-x))`."""
    return torch.nn.functional.silu(x)


def naive_softplus(x: Tensor) -> Tensor:
    """Return `log(1 + exp(x))`, which is *x* itself above 20."""
    return torch.nn.functional.softplus(x)
