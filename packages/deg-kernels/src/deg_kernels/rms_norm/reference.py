"""The norms as one would write them down: the truth."""

# H size of a row

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["naive_rms_norm", "naive_rms_norm_centred", "naive_rms_norm_gated"]


def naive_rms_norm(x: Tensor, weight_H: Tensor, eps: float) -> Tensor:
    """Return each row over its root mean square, rounded to its dtype, then times the weight."""
    return weight_H * _normed(x, eps).to(x.dtype)


def naive_rms_norm_centred(x: Tensor, weight_H: Tensor, eps: float) -> Tensor:
    """Return each row over its root mean square times `1 + weight`, in fp32, rounded last."""
    return (_normed(x, eps) * (1 + weight_H.float())).to(x.dtype)


def naive_rms_norm_gated(x: Tensor, weight_H: Tensor, gate: Tensor, eps: float) -> Tensor:
    """Return `naive_rms_norm` times `silu(gate)`, the product in fp32, rounded last."""
    normed = naive_rms_norm(x, weight_H, eps)
    return (normed * torch.nn.functional.silu(gate.float())).to(x.dtype)


def _normed(x: Tensor, eps: float) -> Tensor:
    wide = x.float()
    return wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
