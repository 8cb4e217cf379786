"""The protocol between the runtime and one backbone architecture.

A family is a stack of layers over explicit state. Tokens of every row of a pass lie flat, one after
another, so that each projection is one matrix product; only attention knows where rows begin, and
it is handed in by the caller (`deg_model.attention`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

# N flat tokens, H hidden, A attention heads, G key/value heads, D head size, R adapter rank

__all__ = ["Adapters", "Attend", "Backbone", "BackboneConfig"]

Attend = Callable[[int, Tensor, Tensor, Tensor], Tensor]
"""`attend(layer, q_NAD, k_NGD, v_NGD) -> out_NAD`."""

Adapters = Mapping[str, tuple[Tensor, Tensor]]
"""Projection name, such as `layers.3.qkv`, to its low-rank pair (`down_RI`, `up_OR`)."""


@dataclass(frozen=True, slots=True)
class BackboneConfig:
    """The sizes of a backbone, read from its published configuration."""

    family: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_size: int
    norm_eps: float
    rope_theta: float
    max_positions: int


class Backbone(Protocol):
    """What a family supplies."""

    config: BackboneConfig

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the weights and of the hidden states."""

    def hidden(
        self,
        ids_N: Tensor,
        positions_N: Tensor,
        attend: Attend,
        *,
        taps: tuple[int, ...],
        adapters: Adapters | None = None,
    ) -> list[Tensor]:
        """Return the hidden states [N, H] after each layer of *taps*, the last one final-normed."""

    def adapter_shapes(self) -> dict[str, tuple[int, int]]:
        """Name every projection that takes an adapter, with its (out, in) sizes."""

    def merged(self, adapters: Adapters) -> Backbone:
        """Return this stack with `up @ down` added to each adapted projection."""
