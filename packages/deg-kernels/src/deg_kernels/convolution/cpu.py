"""The short convolution on a CPU: one product and sum a tap, over rows of one length together."""

# N flat tokens, C channels, W taps, L = W - 1 inputs of a tail, S places in the pool, R rows
# I pieces of T tokens, each a row or a part of one; P = L + T inputs of a piece

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Literal

import torch
from torch import Tensor

from deg_kernels.elementwise import silu
from deg_kernels.state_rows import NOWHERE, StateRows

__all__ = ["short_conv"]

_BLOCK_NUMBERS = 1 << 17

Piece = tuple[slice, Tensor]


@torch.no_grad()
def short_conv(
    x_NC: Tensor,
    weight_CW: Tensor,
    tails_SCL: Tensor | None,
    rows: StateRows,
    activation: Literal["silu"] | None,
) -> tuple[Tensor, Tensor]:
    """Return each token's mix of its row's last W inputs; see `deg_kernels.short_conv`."""
    num_channels, width = weight_CW.shape
    num_before = width - 1
    taps_WC = weight_CW.float().T.contiguous()
    out_NC = torch.zeros_like(x_NC, memory_format=torch.contiguous_format)
    zeros_LC = x_NC.new_zeros(num_before, num_channels)
    pieces: list[Piece] = []
    ends: list[Tensor] = []
    size = max(num_before, _BLOCK_NUMBERS // num_channels)
    for offset, length, start, _ in rows.entries():
        tail_LC = zeros_LC if tails_SCL is None or start == NOWHERE else tails_SCL[start].T
        for first in range(offset, offset + length, size):
            before_LC = tail_LC if first == offset else x_NC[first - num_before : first]
            pieces.append((slice(first, min(first + size, offset + length)), before_LC))
        own = min(length, num_before)
        ends += [tail_LC[own:], x_NC[offset + length - own : offset + length]]
    for same in _of_one_length(pieces, size):
        parts = [part for tokens, before_LC in same for part in (before_LC, x_NC[tokens])]
        inputs_IPC = torch.cat(parts).view(len(same), -1, num_channels)
        for (tokens, _), mixed_TC in zip(same, _mix(inputs_IPC, taps_WC, activation), strict=True):
            out_NC[tokens] = mixed_TC
    tails_RLC = torch.cat(ends or [zeros_LC[:0]]).view(len(rows), num_before, num_channels)
    return out_NC, tails_RLC.transpose(1, 2)


def _of_one_length(pieces: list[Piece], size: int) -> Iterator[list[Piece]]:
    """Gather pieces of one length, about *size* tokens at a time."""

    def length(piece: Piece) -> int:
        return int(piece[0].stop - piece[0].start)

    for num_tokens, same in groupby(sorted(pieces, key=length), key=length):
        together, step = list(same), max(1, size // num_tokens)
        for first in range(0, len(together), step):
            yield together[first : first + step]


def _mix(inputs_IPC: Tensor, taps_WC: Tensor, activation: Literal["silu"] | None) -> Tensor:
    num_tokens = inputs_IPC.shape[1] - len(taps_WC) + 1
    wide_IPC = inputs_IPC.float()
    mixed_ITC = wide_IPC[:, :num_tokens] * taps_WC[0]
    for lag, tap_C in enumerate(taps_WC[1:], 1):
        mixed_ITC.addcmul_(wide_IPC[:, lag : lag + num_tokens], tap_C)
    mixed_ITC = mixed_ITC.to(inputs_IPC.dtype)
    return silu(mixed_ITC) if activation == "silu" else mixed_ITC
