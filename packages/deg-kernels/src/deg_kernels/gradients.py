"""Refuse what would silently lose a gradient."""

from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["check_no_gradient"]


def check_no_gradient(**tensors: Tensor | None) -> None:
    """Raise `ValueError` if one of *tensors* asks for a gradient, for operators that have none."""
    if not torch.is_grad_enabled():
        return
    for name, tensor in tensors.items():
        if tensor is not None and tensor.requires_grad:
            raise ValueError(f"{name}: requires a gradient, and there is none: call under no_grad")
