"""The norms on CUDA: a program a row, a configuration that the row's size alone decides."""

# N rows, H size of a row
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators

import triton
import triton.language as tl
from torch import Tensor

from deg_kernels.memory import dense

__all__ = ["rms_norm", "rms_norm_centred", "rms_norm_gated"]

_NUMBERS_A_WARP = 512
_MOST_WARPS = 8


def rms_norm(x: Tensor, weight_H: Tensor, eps: float) -> Tensor:
    """Return each row over its root mean square, rounded to its dtype, then times the weight."""
    return _launch(x, weight_H, None, eps, centred=False)


def rms_norm_centred(x: Tensor, weight_H: Tensor, eps: float) -> Tensor:
    """Return each row over its root mean square times `1 + weight`, in fp32, rounded last."""
    return _launch(x, weight_H, None, eps, centred=True)


def rms_norm_gated(x: Tensor, weight_H: Tensor, gate: Tensor, eps: float) -> Tensor:
    """Return `rms_norm` times `silu(gate)`, the product in fp32, rounded last."""
    return _launch(x, weight_H, gate, eps, centred=False)


def _launch(
    x: Tensor, weight_H: Tensor, gate: Tensor | None, eps: float, *, centred: bool
) -> Tensor:
    x = dense(x)
    normed = x.new_empty(x.shape)
    size = x.shape[-1]
    if normed.numel():
        block = triton.next_power_of_2(size)
        _kernel[(normed.numel() // size,)](
            x,
            dense(weight_H),
            None if gate is None else dense(gate),
            normed,
            eps,
            SIZE=size,
            BLOCK=block,
            CENTRED=centred,
            num_warps=min(max(block // _NUMBERS_A_WARP, 1), _MOST_WARPS),
            num_stages=1,
            enable_fp_fusion=False,
        )
    return normed


@triton.jit
def _kernel(
    x,
    weight,
    gate,
    normed,
    eps,
    SIZE: tl.constexpr,
    BLOCK: tl.constexpr,
    CENTRED: tl.constexpr,
):
    start = tl.program_id(0).to(tl.int64) * SIZE
    column_H = tl.arange(0, BLOCK)
    mask_H = column_H < SIZE
    dtype = normed.dtype.element_ty
    x_H = tl.load(x + start + column_H, mask=mask_H, other=0.0).to(tl.float32)
    weight_H = tl.load(weight + column_H, mask=mask_H, other=0.0).to(tl.float32)
    x_H = x_H * tl.rsqrt(tl.sum(x_H * x_H, 0) / SIZE + eps)
    if CENTRED:
        y_H = x_H * (1 + weight_H)
    else:
        y_H = (x_H.to(dtype).to(tl.float32) * weight_H).to(dtype).to(tl.float32)
    if gate is not None:
        gate_H = tl.load(gate + start + column_H, mask=mask_H, other=0.0).to(tl.float32)
        y_H = y_H * (gate_H / (1 + tl.exp(-gate_H)))
    tl.store(normed + start + column_H, y_H.to(dtype), mask=mask_H)
