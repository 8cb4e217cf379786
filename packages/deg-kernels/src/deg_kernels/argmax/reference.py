"""The first largest number, looked for as one would by hand: the truth."""

# R rows, V numbers

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["naive_argmax"]


def naive_argmax(x_RV: Tensor) -> Tensor:
    """Return where each row has its largest number, the first of equals."""
    places_V = torch.arange(x_RV.shape[1], device=x_RV.device)
    is_largest_RV = x_RV == x_RV.amax(-1, keepdim=True)
    return torch.where(is_largest_RV, places_V, x_RV.shape[1]).amin(-1)
