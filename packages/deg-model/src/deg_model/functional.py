"""The differentiable building blocks of every family, with the backward pass written out.

The written backward saves one activation where autograd would save three, and adds the low-rank
term in place: on a CPU, where memory traffic bounds everything but the large products, that is
what training speed comes down to.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

# N flat tokens, H hidden, I input and O output features, R adapter rank, C heads, D head size

__all__ = ["lora_linear", "rms_norm", "rotate"]


def rms_norm(x_NH: Tensor, weight_H: Tensor, eps: float) -> Tensor:
    """Normalise each row by its root mean square, computed in fp32; the weight takes no gradient."""
    result: Tensor = _RMSNorm.apply(x_NH, weight_H, eps)  # type: ignore[no-untyped-call]
    return result


def lora_linear(x_NI: Tensor, weight_OI: Tensor, down_RI: Tensor, up_OR: Tensor) -> Tensor:
    """Return `x @ weight.T + x @ down.T @ up.T`; the weight is frozen."""
    result: Tensor = _LoraLinear.apply(x_NI, weight_OI, down_RI, up_OR)  # type: ignore[no-untyped-call]
    return result


def rotate(x_NCD: Tensor, cos_N1D: Tensor, sin_N1D: Tensor) -> Tensor:
    """Apply rotary position embedding in the half-split layout (Su et al., 2021)."""
    half = x_NCD.shape[-1] // 2
    turned_NCD = torch.cat([-x_NCD[..., half:], x_NCD[..., :half]], dim=-1)
    return x_NCD * cos_N1D + turned_NCD * sin_N1D


class _RMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        wide = x.float()
        scale = torch.rsqrt((wide * wide).mean(-1, keepdim=True) + eps)
        normed = wide.mul_(scale).to(x.dtype) if wide is not x else (wide * scale)
        ctx.save_for_backward(normed, scale, weight)
        return normed * weight

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        normed, scale, weight = ctx.saved_tensors
        grad_normed = (grad * weight).float()
        normed = normed.float()
        inner = (grad_normed * normed).mean(-1, keepdim=True)
        return ((grad_normed - normed * inner) * scale).to(grad.dtype), None, None


class _LoraLinear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, down: Tensor, up: Tensor) -> Tensor:
        low = x @ down.T
        ctx.save_for_backward(x, weight, down, up, low)
        return (x @ weight.T).addmm_(low, up.T)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, down, up, low = ctx.saved_tensors
        grad_low = grad @ up
        grad_x = (grad @ weight).addmm_(grad_low, down)
        return grad_x, None, grad_low.T @ x, grad.T @ low
