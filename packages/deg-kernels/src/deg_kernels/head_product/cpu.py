"""Products in fp32 on a CPU, in tiles that the library treats alike."""

# R rows, O others, D inner size

from __future__ import annotations

import torch
from torch import Tensor

from deg_kernels.memory import dense

__all__ = ["head_product"]

_TILE = 16


def head_product(a_RD: Tensor, b_OD: Tensor) -> Tensor:
    """Return `a @ b.T`; both sides are padded to whole tiles, so each pair is summed alike."""
    product_RO = torch.nn.functional.linear(_whole_tiles(a_RD), _whole_tiles(b_OD))
    return product_RO[: len(a_RD), : len(b_OD)]


def _whole_tiles(x_RD: Tensor) -> Tensor:
    missing = -len(x_RD) % _TILE
    return torch.nn.functional.pad(x_RD, (0, 0, 0, missing)) if missing else dense(x_RD)
