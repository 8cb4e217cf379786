"""Weights in the layout that the CPU's matrix library reads fastest.

oneDNN multiplies a plain weight only after it has brought it into its own layout, every time, and
torch gives it fp32 only in that layout; MKL, which gets fp32 otherwise, is slow on some CPUs.
"""

# M rows, K inputs, N outputs

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["multiply", "packed_weight"]

_USUAL_NUM_ROWS = 256


def packed_weight(weight_NK: Tensor) -> Tensor:
    """Return the weight in oneDNN's layout, or as it is where oneDNN would not take it."""
    if not _can_pack(weight_NK):
        return weight_NK
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(
        weight_NK.detach().contiguous(), _USUAL_NUM_ROWS
    )
    return packed


def multiply(x_MK: Tensor, weight_NK: Tensor, bias_N: Tensor | None) -> Tensor:
    """Return `x @ weight.T + bias` as the library does it, for a packed weight or a plain one."""
    if not weight_NK.is_mkldnn:
        return torch.nn.functional.linear(x_MK, weight_NK, bias_N)
    y_MN: Tensor = torch.ops.mkldnn._linear_pointwise(x_MK, weight_NK, bias_N, "none", [], "")
    return y_MN


def _can_pack(weight_NK: Tensor) -> bool:
    has_library: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    if weight_NK.is_mkldnn or not weight_NK.numel() or not has_library:
        return False
    if weight_NK.dtype == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return weight_NK.dtype == torch.float32
