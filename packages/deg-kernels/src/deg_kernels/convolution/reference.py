"""The short convolution as torch computes it: the reference, one row at a time."""

# N flat tokens, C channels, W taps, L = W - 1 inputs of a tail, S places in the pool, R rows

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from deg_kernels.state_rows import NOWHERE, StateRows

__all__ = ["naive_short_conv"]


def naive_short_conv(
    x_NC: Tensor,
    weight_CW: Tensor,
    tails_SCL: Tensor | None,
    rows: StateRows,
    *,
    activation: Literal["silu"] | None = None,
) -> tuple[Tensor, Tensor]:
    """Return what `short_conv` returns, in any dtype and with gradients."""
    num_channels, width = weight_CW.shape
    out_NC = torch.zeros_like(x_NC)
    tails_RCL = x_NC.new_zeros(len(rows), num_channels, width - 1)
    for row, (offset, length, start, _) in enumerate(rows.entries()):
        tail_CL = x_NC.new_zeros(num_channels, width - 1)
        if tails_SCL is not None and start != NOWHERE:
            tail_CL = tails_SCL[start]
        inputs_C = torch.cat([tail_CL, x_NC[offset : offset + length].T], 1)
        if length:
            mixed_C = F.conv1d(inputs_C[None], weight_CW[:, None], groups=num_channels)[0]
            out_NC[offset : offset + length] = (F.silu(mixed_C) if activation else mixed_C).T
        tails_RCL[row] = inputs_C[:, length:]
    return out_NC, tails_RCL
