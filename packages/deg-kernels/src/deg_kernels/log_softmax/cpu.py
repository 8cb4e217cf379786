"""Log-probabilities on a CPU: torch goes through each row alone."""

# R rows, V outcomes

from __future__ import annotations

import torch
from torch import Tensor

from deg_kernels.memory import dense

__all__ = ["log_softmax"]


def log_softmax(x_RV: Tensor) -> Tensor:
    """Return `x - log(sum(exp(x)))` of each row, in fp32."""
    return torch.log_softmax(dense(x_RV.float()), -1)
