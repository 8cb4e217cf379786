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
    """Divide each row by its root mean square, computed in fp32; the weight takes no gradient."""
    if not torch.is_grad_enabled():
        return _normed(x_NH, eps)[0].mul_(weight_H)
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


def _normed(x_NH: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    wide_NH = x_NH.float()
    scale_N1 = torch.rsqrt((wide_NH * wide_NH).mean(-1, keepdim=True) + eps)
    # a copy in fp32 is ours to overwrite, the input itself is not
    normed_NH = wide_NH * scale_N1 if wide_NH is x_NH else wide_NH.mul_(scale_N1)
    return normed_NH.to(x_NH.dtype), scale_N1


class _RMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, eps: float) -> Tensor:
        normed, scale = _normed(x, eps)
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
