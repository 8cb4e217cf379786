"""The norms on a CPU: torch sums rows that lie one after the other in memory all alike.

What a norm costs is memory traffic, so without gradients a copy that is ours is overwritten.
"""

# H size of a row

from __future__ import annotations

import torch
from torch import Tensor

from deg_kernels.elementwise import silu
from deg_kernels.memory import dense

__all__ = ["rms_norm", "rms_norm_centred", "rms_norm_gated"]


def rms_norm(x: Tensor, weight_H: Tensor, eps: float) -> Tensor:
    """Return each row over its root mean square, rounded to its dtype, then times the weight."""
    return _times(_normed(x, eps).to(x.dtype), weight_H)


def rms_norm_centred(x: Tensor, weight_H: Tensor, eps: float) -> Tensor:
    """Return each row over its root mean square times `1 + weight`, in fp32, rounded last."""
    return _times(_normed(x, eps), 1 + weight_H.float()).to(x.dtype)


def rms_norm_gated(x: Tensor, weight_H: Tensor, gate: Tensor, eps: float) -> Tensor:
    """Return `rms_norm` times `silu(gate)`, the product in fp32, rounded last."""
    return (rms_norm(x, weight_H, eps) * silu(gate.float())).to(x.dtype)


def _normed(x: Tensor, eps: float) -> Tensor:
    """Return each row over its root mean square, in fp32 and in memory of its own."""
    wide = dense(x).float()
    length = torch.linalg.vector_norm(wide, dim=-1, keepdim=True)
    scale = torch.rsqrt(length * length / x.shape[-1] + eps)
    # what is fp32 already is not a copy
    return wide * scale if x.dtype == torch.float32 else _times(wide, scale)


def _times(own: Tensor, factor: Tensor) -> Tensor:
    return own * factor if torch.is_grad_enabled() else own.mul_(factor)
