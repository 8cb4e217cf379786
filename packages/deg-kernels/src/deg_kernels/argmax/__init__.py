"""The place of the largest number of each row."""

# R rows, V numbers

from __future__ import annotations

import torch
from torch import Tensor

from deg_kernels.argmax import cpu
from deg_kernels.argmax.reference import naive_argmax
from deg_kernels.checks import check, check_dtype, check_shape
from deg_kernels.dispatch import by_device

__all__ = ["argmax", "naive_argmax"]

_argmax = by_device(cpu.argmax)


def argmax(x_RV: Tensor) -> Tensor:
    """Return where each row has its largest number, the first of equals, as int64.

    Rows of fp32 or bf16 hold no NaN.

    Raises:
        ValueError: A shape or dtype does not fit; the message names the argument.
    """
    check_dtype((torch.float32, torch.bfloat16), x_RV=x_RV)
    check_shape("x_RV", x_RV, (None, None))
    check(x_RV.shape[1] > 0, "x_RV", "rows have no numbers")
    return _argmax(x_RV)
