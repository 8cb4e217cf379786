"""Functions of one number whose bits do not depend on where in a tensor the number stands."""

from __future__ import annotations

import torch
from torch import Tensor

from deg_kernels.checks import check_dtype
from deg_kernels.dispatch import by_device
from deg_kernels.elementwise import cpu
from deg_kernels.elementwise.reference import naive_sigmoid, naive_silu, naive_softplus

__all__ = ["naive_sigmoid", "naive_silu", "naive_softplus", "sigmoid", "silu", "softplus"]

# a GPU computes each number by the same instructions
_sigmoid = by_device(cpu.sigmoid, naive_sigmoid)
_silu = by_device(cpu.silu, naive_silu)
_softplus = by_device(cpu.softplus, naive_softplus)


def sigmoid(x: Tensor) -> Tensor:
    """Return `1 / (1 + exp(-x))` for fp32 or bf16; it has a gradient.

    Raises:
        ValueError: *x* has another dtype or lies on another kind of device.
    """
    _check(x)
    return _sigmoid(x)


def silu(x: Tensor) -> Tensor:
    """Return `x / (1 + exp(-x))`; otherwise like `sigmoid`."""
    _check(x)
    return _silu(x)


def softplus(x: Tensor) -> Tensor:
    """Return `log(1 + exp(x))`, which is *x* itself above 20; otherwise like `sigmoid`."""
    _check(x)
    return _softplus(x)


def _check(x: Tensor) -> None:
    check_dtype((torch.float32, torch.bfloat16), x=x)
