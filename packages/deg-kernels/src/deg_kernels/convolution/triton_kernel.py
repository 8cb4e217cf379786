"""The short convolution on CUDA: each program mixes some tokens of one row in some channels."""

# N flat tokens, C channels, W taps, L = W - 1 inputs of a tail, S places in the pool, R rows
# T tokens of a program
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators

from typing import Literal

import torch
import triton
import triton.language as tl
from torch import Tensor

from deg_kernels.memory import dense
from deg_kernels.state_rows import StateRows

__all__ = ["short_conv"]

_TOKENS = 16
_CHANNELS = 128


def short_conv(
    x_NC: Tensor,
    weight_CW: Tensor,
    tails_SCL: Tensor | None,
    rows: StateRows,
    activation: Literal["silu"] | None,
) -> tuple[Tensor, Tensor]:
    """Return each token's mix of its row's last W inputs; see `deg_kernels.short_conv`."""
    num_channels, width = weight_CW.shape
    out_NC = torch.zeros_like(x_NC, memory_format=torch.contiguous_format)
    tails_RLC = x_NC.new_empty(len(rows), width - 1, num_channels)
    x_NC = dense(x_NC)
    # a pool that is not there is never addressed, but has a type
    tails_SLC = x_NC if tails_SCL is None else dense(tails_SCL.transpose(1, 2))
    num_blocks = triton.cdiv(max(rows.lengths, default=0), _TOKENS)
    if len(rows) and num_channels:
        # a row without tokens still has a tail to pass on
        _short_conv_kernel[(len(rows), triton.cdiv(num_channels, _CHANNELS), max(1, num_blocks))](
            x_NC,
            dense(weight_CW.T),
            tails_SLC,
            rows.table_R4(x_NC.device),
            out_NC,
            tails_RLC,
            num_channels,
            WIDTH=width,
            SILU=activation == "silu",
            TOKENS=_TOKENS,
            CHANNELS=_CHANNELS,
            num_warps=4,
            num_stages=1,
            enable_fp_fusion=False,
        )
    return out_NC, tails_RLC.transpose(1, 2)


@triton.jit
def _inputs(
    x, tails, offset, start, place_T, length, channel_C, num_channels, BEFORE: tl.constexpr
):
    """Load the inputs of a row at *place_T*, which is negative in the tail that it continues."""
    wanted_TC = (place_T[:, None] < length) & (channel_C[None, :] < num_channels)
    own_TC = place_T[:, None] >= 0
    own_N = (offset + place_T[:, None]) * num_channels + channel_C[None, :]
    before_SLC = (start * BEFORE + BEFORE + place_T[:, None]) * num_channels + channel_C[None, :]
    own = tl.load(x + own_N, mask=wanted_TC & own_TC, other=0.0)
    kept_TC = wanted_TC & ~own_TC & (place_T[:, None] >= -BEFORE) & (start >= 0)
    before = tl.load(tails + before_SLC, mask=kept_TC, other=0.0)
    return tl.where(own_TC, own, before)


@triton.jit
def _short_conv_kernel(
    x,
    taps,
    tails,
    table,
    out,
    new_tails,
    num_channels,
    WIDTH: tl.constexpr,
    SILU: tl.constexpr,
    TOKENS: tl.constexpr,
    CHANNELS: tl.constexpr,
):
    row = tl.program_id(0)
    channel_C = tl.program_id(1) * CHANNELS + tl.arange(0, CHANNELS)
    offset = tl.load(table + row * 4).to(tl.int64)
    length = tl.load(table + row * 4 + 1)
    start = tl.load(table + row * 4 + 2).to(tl.int64)
    inside_C = channel_C < num_channels

    place_T = tl.program_id(2) * TOKENS + tl.arange(0, TOKENS)
    mixed_TC = tl.zeros((TOKENS, CHANNELS), tl.float32)
    for tap in tl.static_range(WIDTH):
        weight_C = tl.load(taps + tap * num_channels + channel_C, mask=inside_C, other=0.0)
        past_T = place_T - (WIDTH - 1 - tap)
        input_TC = _inputs(
            x, tails, offset, start, past_T, length, channel_C, num_channels, WIDTH - 1
        )
        mixed_TC += input_TC.to(tl.float32) * weight_C.to(tl.float32)[None, :]
    mixed_TC = mixed_TC.to(out.dtype.element_ty)
    if SILU:
        wide_TC = mixed_TC.to(tl.float32)
        mixed_TC = (wide_TC / (1.0 + tl.exp(-wide_TC))).to(out.dtype.element_ty)
    out_TC = out + (offset + place_T[:, None]) * num_channels + channel_C[None, :]
    tl.store(out_TC, mixed_TC, mask=(place_T[:, None] < length) & inside_C[None, :])

    if tl.program_id(2) == 0:
        # tl.arange counts powers of two: the tail is the end of as many inputs as there are taps
        last_T = tl.arange(0, 4)
        kept_TC = _inputs(
            x, tails, offset, start, length - 4 + last_T, length, channel_C, num_channels, WIDTH - 1
        )
        slot_T = last_T - (4 - (WIDTH - 1))
        tail_TC = (
            tl.cast(row, tl.int64) * (WIDTH - 1) + slot_T[:, None]
        ) * num_channels + channel_C[None, :]
        tl.store(new_tails + tail_TC, kept_TC, mask=(slot_T[:, None] >= 0) & inside_C[None, :])
