"""What the heads read: hidden states after several layers, each normalised, side by side."""

from __future__ import annotations

import torch
from torch import Tensor

# N tokens, H hidden, K = number of taps x H

__all__ = ["default_taps", "tap_features"]


def default_taps(num_layers: int) -> tuple[int, ...]:
    """Return the layers after which the span keys read: a third, two thirds and all of them."""
    return tuple(sorted({max(1, num_layers // 3), max(1, 2 * num_layers // 3), num_layers}))


def tap_features(tapped: list[Tensor]) -> Tensor:
    """Return features [N, K] in fp32; each tap [N, H] is divided by its root mean square."""
    normed = []
    for tap_NH in tapped:
        wide_NH = tap_NH.float()
        normed.append(wide_NH * torch.rsqrt((wide_NH * wide_NH).mean(-1, keepdim=True) + 1e-6))
    return torch.cat(normed, dim=-1)
