"""The functions on a CPU, in whole vectors.

torch computes them by vectors of 32 or 64 numbers, and what is left over at the end of a thread's
share one by one with another `exp`. So nothing is left over: the tensor is padded to vectors, and
cut into parts too small for torch to share out if there is more than one thread.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from deg_kernels.elementwise.reference import naive_sigmoid, naive_silu, naive_softplus

__all__ = ["sigmoid", "silu", "softplus"]

_VECTOR = 64
# torch shares out tensors of 32,768 numbers and more
_PART = 1 << 14


def sigmoid(x: Tensor) -> Tensor:
    """Return `1 / (1 + exp(-x))`."""
    return _in_vectors(naive_sigmoid, x)


def silu(x: Tensor) -> Tensor:
    """Return `x / (1 + exp(-x))`."""
    return _in_vectors(naive_silu, x)


def softplus(x: Tensor) -> Tensor:
    """Return `log(1 + exp(x))`, which is *x* itself above 20."""
    return _in_vectors(naive_softplus, x)


def _in_vectors(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    if _has_whole_rows(x):
        return _in_parts(function, x, max(1, _PART // x.shape[1]))
    flat_N = x.reshape(-1)
    padding = -len(flat_N) % _VECTOR
    if padding:
        flat_N = torch.nn.functional.pad(flat_N, (0, padding))
    return _in_parts(function, flat_N, _PART)[: x.numel()].view(x.shape)


def _has_whole_rows(x: Tensor) -> bool:
    """Whether *x* has rows of whole vectors, so that it may be a part of wider rows as it is."""
    if x.ndim != 2 or x.stride(1) != 1:
        return False
    return x.shape[1] % _VECTOR == 0 and 0 < x.shape[1] <= _PART


def _in_parts(function: Callable[[Tensor], Tensor], x: Tensor, length: int) -> Tensor:
    if len(x) <= length or torch.get_num_threads() == 1:
        return function(x)
    return torch.cat([function(part) for part in torch.split(x, length)])
