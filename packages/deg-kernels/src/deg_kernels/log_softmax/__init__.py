"""Logarithms of the probabilities that a row of logits stands for."""

# R rows, V outcomes

from __future__ import annotations

import torch
from torch import Tensor

from deg_kernels.checks import check, check_dtype, check_shape
from deg_kernels.dispatch import by_device
from deg_kernels.log_softmax import cpu
from deg_kernels.log_softmax.reference import naive_log_softmax

__all__ = ["log_softmax", "naive_log_softmax"]

_log_softmax = by_device(cpu.log_softmax)


def log_softmax(x_RV: Tensor) -> Tensor:
    """Return `x - log(sum(exp(x)))` of each row, in fp32.

    Rows of fp32 or bf16 have a finite largest number; `-inf` stands for an outcome that cannot be.

    Raises:
        ValueError: A shape or dtype does not fit; the message names the argument.
    """
    check_dtype((torch.float32, torch.bfloat16), x_RV=x_RV)
    check_shape("x_RV", x_RV, (None, None))
    check(x_RV.shape[1] > 0, "x_RV", "rows have no numbers")
    return _log_softmax(x_RV)
