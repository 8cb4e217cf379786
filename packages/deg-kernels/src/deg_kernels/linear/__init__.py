"""The linear map, with the same bits for a row alone, in any batch and at any place in it."""

# M rows, K inputs, N outputs

from __future__ import annotations

import torch
from torch import Tensor

from deg_kernels.checks import check, check_dtype, check_shape, check_together
from deg_kernels.dispatch import by_device
from deg_kernels.linear import cpu, packing
from deg_kernels.linear.reference import naive_linear

__all__ = ["linear", "linear_small", "naive_linear", "packed_weight"]

_linear = by_device(cpu.linear)
_linear_small = by_device(cpu.linear_small)
_packed_weight = by_device(packing.packed_weight, lambda weight_NK: weight_NK)


def linear(x: Tensor, weight_NK: Tensor, bias_N: Tensor | None = None) -> Tensor:
    """Return `x @ weight.T + bias`, bit for bit the same for a row in any batch.

    On CUDA fp32 is multiplied in fp32, never in tf32.

    Args:
        x: Rows of K numbers in fp32 or bf16, with any leading dimensions.
        weight_NK: The weight, as `torch.nn.Linear` keeps it or packed, in the dtype of the rows.
        bias_N: Added to every row before the result is rounded.

    Raises:
        ValueError: A shape, dtype or device does not fit; the message names the argument.
    """
    _check(x, weight_NK, bias_N)
    if x.ndim == 2:
        return _linear(x, weight_NK, bias_N)
    y_MN = _linear(x.reshape(-1, x.shape[-1]), weight_NK, bias_N)
    return y_MN.view(*x.shape[:-1], len(weight_NK))


def linear_small(x: Tensor, weight_NK: Tensor, bias_N: Tensor | None = None) -> Tensor:
    """Return the bits of `linear` with a kernel for the few rows of a decode step."""
    _check(x, weight_NK, bias_N)
    y_MN = _linear_small(x.reshape(-1, x.shape[-1]), weight_NK, bias_N)
    return y_MN.view(*x.shape[:-1], len(weight_NK))


def packed_weight(weight_NK: Tensor) -> Tensor:
    """Return a weight that `linear` multiplies faster, for inference alone.

    A packed weight has the shape, dtype and device that it had, but a layout of the library's own:
    nothing but `linear` and `linear_small` can read it, and it has no gradient. Its sums have an
    order of their own, so compare bits with the same weight packed. On CUDA, and where the CPU's
    library has no such layout for the dtype, the weight itself comes back.

    Raises:
        ValueError: The weight is no matrix of fp32 or bf16.
    """
    check_dtype((torch.float32, torch.bfloat16), weight_NK=weight_NK)
    check_shape("weight_NK", weight_NK, (None, None))
    return _packed_weight(weight_NK)


def _check(x: Tensor, weight_NK: Tensor, bias_N: Tensor | None) -> None:
    check_dtype((torch.float32, torch.bfloat16), x=x)
    check(x.ndim > 0, "x", "has no rows")
    check_shape("weight_NK", weight_NK, (None, x.shape[-1]))
    if bias_N is not None:
        check_shape("bias_N", bias_N, (len(weight_NK),))
    check_together(x=x, weight_NK=weight_NK, bias_N=bias_N, same_dtype=True)
    if weight_NK.is_mkldnn and torch.is_grad_enabled():
        check(not x.requires_grad, "x", "asks for a gradient, but a packed weight has none")
