"""What the heads read: hidden states after several layers, each normalised, side by side."""

from __future__ import annotations

import torch
from torch import Tensor

# N tokens, T taps, H hidden, K = T x H

__all__ = ["TapFeatures", "default_taps", "tap_features"]


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


class TapFeatures:
    """Features of tokens, computed when they are asked for from the hidden states that are kept.

    Hidden states in bf16 take half the memory of features in fp32, and a token's features have the
    same bits whatever others are asked for with it.

    Args:
        taps_NTH: The hidden states of each token after each tapped layer.
    """

    def __init__(self, taps_NTH: Tensor) -> None:
        self.taps_NTH = taps_NTH

    def __len__(self) -> int:
        return len(self.taps_NTH)

    def __getitem__(self, tokens: slice | Tensor) -> Tensor:
        """Return features [N, K] of some tokens in fp32."""
        return tap_features(list(self.taps_NTH[tokens].unbind(1)))
