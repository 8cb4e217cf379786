"""Root mean square norms as each family of models defines them, row by row."""

# H size of a row

from __future__ import annotations

import torch
from torch import Tensor

from deg_kernels.checks import check, check_dtype, check_shape, check_together
from deg_kernels.dispatch import by_device
from deg_kernels.rms_norm import cpu
from deg_kernels.rms_norm.reference import (
    naive_rms_norm,
    naive_rms_norm_centred,
    naive_rms_norm_gated,
)

__all__ = [
    "naive_rms_norm",
    "naive_rms_norm_centred",
    "naive_rms_norm_gated",
    "rms_norm",
    "rms_norm_centred",
    "rms_norm_gated",
]

_MOST_NUMBERS = 1 << 14

_rms_norm = by_device(cpu.rms_norm)
_rms_norm_centred = by_device(cpu.rms_norm_centred)
_rms_norm_gated = by_device(cpu.rms_norm_gated)


def rms_norm(x: Tensor, weight_H: Tensor, eps: float) -> Tensor:
    """Return each row over its root mean square, rounded to its dtype, then times the weight.

    Llama and LFM2 define it so. Rows lie in the last dimension.

    Args:
        x: Rows of up to 16,384 numbers in fp32 or bf16, with any leading dimensions.
        weight_H: One factor a column, in the dtype of *x*.
        eps: Added to the mean of the squares.

    Raises:
        ValueError: A shape, dtype or device does not fit; the message names the argument.
    """
    _check(x, weight_H)
    return _rms_norm(x, weight_H, eps)


def rms_norm_centred(x: Tensor, weight_H: Tensor, eps: float) -> Tensor:
    """Return each row over its root mean square times `1 + weight`, in fp32, rounded last.

    Qwen3.5 defines it so. The arguments and errors are those of `rms_norm`.
    """
    _check(x, weight_H)
    return _rms_norm_centred(x, weight_H, eps)


def rms_norm_gated(x: Tensor, weight_H: Tensor, gate: Tensor, eps: float) -> Tensor:
    """Return `rms_norm` times `silu(gate)`, the product in fp32, rounded last.

    The gated delta rule of Qwen3.5 ends so. *gate* has the shape and dtype of *x*; the other
    arguments and the errors are those of `rms_norm`.
    """
    _check(x, weight_H)
    check_shape("gate", gate, x.shape)
    check_together(x=x, gate=gate, same_dtype=True)
    return _rms_norm_gated(x, weight_H, gate, eps)


def _check(x: Tensor, weight_H: Tensor) -> None:
    check_dtype((torch.float32, torch.bfloat16), x=x)
    check(x.ndim > 0, "x", "has no rows")
    size = x.shape[-1]
    check(0 < size <= _MOST_NUMBERS, "x", f"rows have {size} numbers, not 1 to {_MOST_NUMBERS}")
    check_shape("weight_H", weight_H, (size,))
    check_together(x=x, weight_H=weight_H, same_dtype=True)
