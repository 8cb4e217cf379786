"""The short causal convolution of state layers: each channel mixes its last few inputs."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from deg_kernels.checks import check, check_dtype, check_shape, check_together
from deg_kernels.convolution import cpu
from deg_kernels.convolution.reference import naive_short_conv
from deg_kernels.dispatch import by_device
from deg_kernels.gradients import check_no_gradient
from deg_kernels.state_rows import StateRows

# N flat tokens, C channels, W taps, L = W - 1 inputs of a tail, S places in the pool, R rows

__all__ = ["WIDTHS", "naive_short_conv", "short_conv"]

WIDTHS = (3, 4)
"""The numbers of taps that are supported."""

_operator = by_device(cpu.short_conv)


def short_conv(
    x_NC: Tensor,
    weight_CW: Tensor,
    tails_SCL: Tensor | None,
    rows: StateRows,
    *,
    activation: Literal["silu"] | None = None,
) -> tuple[Tensor, Tensor]:
    """Return each token's mix of its row's last W inputs, and the inputs that the row ends with.

    Sums are fp32 from the oldest tap to the newest, rounded once to the dtype of the inputs, again
    after the activation. A row cut anywhere into passes gives the bits of one pass.

    Args:
        x_NC: Inputs, fp32 or bf16.
        weight_CW: Taps, the newest last, in the dtype of the inputs.
        tails_SCL: The pool of inputs that rows continue, oldest first, in the dtype of the inputs;
            None where every row starts from zeros.
        rows: The tokens of each row and its start in the pool; its writes are not used.
        activation: What follows the sum.

    Returns:
        The outputs [N, C], zeros where no row has a token, and the new tails [R, C, L].

    Raises:
        ValueError: An argument has the wrong dtype, shape or device or requires a gradient, or a
            start is not in the pool.
    """
    check_dtype((torch.float32, torch.bfloat16), x_NC=x_NC)
    check_together(True, x_NC=x_NC, weight_CW=weight_CW, tails_SCL=tails_SCL)
    check_no_gradient(x_NC=x_NC, weight_CW=weight_CW, tails_SCL=tails_SCL)
    check_shape("x_NC", x_NC, (None, None))
    num_tokens, num_channels = x_NC.shape
    check_shape("weight_CW", weight_CW, (num_channels, None))
    width = weight_CW.shape[1]
    check(width in WIDTHS, "weight_CW", f"{width} taps are not one of {WIDTHS}")
    if tails_SCL is not None:
        check_shape("tails_SCL", tails_SCL, (None, num_channels, width - 1))
    check(activation in (None, "silu"), "activation", f"{activation!r} is not 'silu' or None")
    reach = rows.num_tokens
    check(reach <= num_tokens, "rows", f"reach to token {reach} of {num_tokens}")
    rows.check_starts(tails_SCL)
    return _operator(x_NC, weight_CW, tails_SCL, rows, activation)
