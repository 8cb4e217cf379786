"""Log-probabilities by their definition, in fp64: the truth."""

# R rows, V outcomes

from __future__ import annotations

from torch import Tensor

__all__ = ["naive_log_softmax"]


def naive_log_softmax(x_RV: Tensor) -> Tensor:
    """Return `x - log(sum(exp(x)))` of each row, rounded to fp32 at the end."""
    wide_RV = x_RV.double()
    return (wide_RV - wide_RV.logsumexp(-1, keepdim=True)).float()
