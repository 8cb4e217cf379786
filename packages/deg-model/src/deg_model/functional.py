"""The building blocks of every family: the invariant operators, and what training needs beside.

Without gradients they are those of `deg_kernels`. The written backward saves one activation where
autograd would save three, and adds the low-rank term in place: on a CPU, where memory traffic
bounds everything but the large products, that is what training speed comes down to. A weight gets
a gradient where it asks for one, as in full fine-tuning.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

import deg_kernels

# N flat tokens, H hidden, I input and O output features, R adapter rank, C heads, D head size
# P rotated values of a head

__all__ = [
    "added",
    "linear",
    "lora_linear",
    "multiplied",
    "rms_norm",
    "rms_norm_centred",
    "rms_norm_gated",
    "rotate",
]


def rms_norm(x_NH: Tensor, weight_H: Tensor, eps: float) -> Tensor:
    """Divide each row by its root mean square, computed in fp32, and multiply by the weight."""
    if not torch.is_grad_enabled():
        return deg_kernels.rms_norm(x_NH, weight_H, eps)
    result: Tensor = _RMSNorm.apply(x_NH, weight_H, eps)  # type: ignore[no-untyped-call]
    return result


def rms_norm_centred(x_NH: Tensor, weight_H: Tensor, eps: float) -> Tensor:
    """Divide each row by its root mean square and multiply by 1 + weight, all in fp32."""
    if not torch.is_grad_enabled():
        return deg_kernels.rms_norm_centred(x_NH, weight_H, eps)
    return deg_kernels.naive_rms_norm_centred(x_NH, weight_H, eps)


def rms_norm_gated(x_NH: Tensor, weight_H: Tensor, gate_NH: Tensor, eps: float) -> Tensor:
    """Normalise as `rms_norm` does, then multiply by SiLU of the gate in fp32."""
    if not torch.is_grad_enabled():
        return deg_kernels.rms_norm_gated(x_NH, weight_H, gate_NH, eps)
    return deg_kernels.naive_rms_norm_gated(x_NH, weight_H, gate_NH, eps)


def added(own_NH: Tensor, other_NH: Tensor) -> Tensor:
    """Return the sum, without gradients in the memory of *own*, which is the caller's to lose."""
    return own_NH + other_NH if torch.is_grad_enabled() else own_NH.add_(other_NH)


def multiplied(own_NI: Tensor, other_NI: Tensor) -> Tensor:
    """Return the product, without gradients in the memory of *own*, as in `added`."""
    return own_NI * other_NI if torch.is_grad_enabled() else own_NI.mul_(other_NI)


def linear(x_NI: Tensor, weight_OI: Tensor) -> Tensor:
    """Return `x @ weight.T`, with a gradient for both if one of them asks for it."""
    if torch.is_grad_enabled() and (x_NI.requires_grad or weight_OI.requires_grad):
        return F.linear(x_NI, weight_OI)
    return deg_kernels.linear(x_NI, weight_OI)


def lora_linear(x_NI: Tensor, weight_OI: Tensor, down_RI: Tensor, up_OR: Tensor) -> Tensor:
    """Return `x @ weight.T + x @ down.T @ up.T`; the weight is frozen."""
    result: Tensor = _LoraLinear.apply(x_NI, weight_OI, down_RI, up_OR)  # type: ignore[no-untyped-call]
    return result


def rotate(x_NCD: Tensor, cos_N1P: Tensor, sin_N1P: Tensor) -> Tensor:
    """Apply rotary position embedding in the half-split layout (Su et al., 2021).

    The leading P values of each head are rotated, the others pass.
    """
    size = cos_N1P.shape[-1]
    if size < x_NCD.shape[-1]:
        turned_NCP = rotate(x_NCD[..., :size], cos_N1P, sin_N1P)
        return torch.cat([turned_NCP, x_NCD[..., size:]], dim=-1)
    half = size // 2
    turned_NCD = torch.cat([-x_NCD[..., half:], x_NCD[..., :half]], dim=-1)
    if torch.is_grad_enabled():
        return x_NCD * cos_N1P + turned_NCD * sin_N1P
    return turned_NCD.mul_(sin_N1P).add_(x_NCD * cos_N1P)


def _normed(x_NH: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    wide_NH = x_NH.float()
    # a norm reads the row once, where the mean of squares would write them first
    length_N1 = torch.linalg.vector_norm(wide_NH, dim=-1, keepdim=True)
    scale_N1 = torch.rsqrt(length_N1 * length_N1 / x_NH.shape[-1] + eps)
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
        # the product with the weight is ours to overwrite
        grad_x = grad_normed.addcmul_(normed, inner, value=-1).mul_(scale).to(grad.dtype)
        if not ctx.needs_input_grad[1]:
            return grad_x, None, None
        grad_weight = (grad.float() * normed).flatten(0, -2).sum(0)
        return grad_x, grad_weight.to(weight.dtype), None


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
