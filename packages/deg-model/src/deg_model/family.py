"""The protocol between the runtime and one backbone architecture.

A family is a stack of layers over explicit state. Tokens of every row of a pass lie flat, one after
another, so that each projection is one matrix product; only what lets tokens reach each other knows
where rows begin, and it is handed in by the caller: attention (`deg_model.attention`) and, for
layers that remember a state of fixed size, recurrence (`deg_model.recurrence`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

# N flat tokens, H hidden, A attention heads, G key/value heads, D head size, R adapter rank
# V vocabulary, C channels, W taps of a convolution, B key heads and J value heads of the delta rule
# K key size, V value size

__all__ = ["Adapters", "Attend", "Backbone", "BackboneConfig", "Recur"]

Attend = Callable[[int, Tensor, Tensor, Tensor], Tensor]
"""`attend(layer, q_NAD, k_NGD, v_NGD) -> out_NAD`."""

Adapters = Mapping[str, tuple[Tensor, Tensor]]
"""Projection name, such as `layers.3.qkv`, to its low-rank pair (`down_RI`, `up_OR`)."""


class Recur(Protocol):
    """How tokens of a flat pass reach each other in layers that remember a state of fixed size."""

    def short_conv(self, layer: int, x_NC: Tensor, weight_CW: Tensor, *, silu: bool) -> Tensor:
        """Return a causal depthwise convolution [N, C] along each row, through SiLU if asked."""

    def delta_rule(
        self,
        layer: int,
        q_NBK: Tensor,
        k_NBK: Tensor,
        v_NJV: Tensor,
        log_decay_NJ: Tensor,
        beta_NJ: Tensor,
    ) -> Tensor:
        """Return the gated delta rule's output [N, J, V] along each row.

        Queries and keys are divided by their length inside; decay and beta are fp32.
        """


@dataclass(frozen=True, slots=True)
class BackboneConfig:
    """The sizes of a backbone, read from its published configuration.

    Attributes:
        state_layers: The layers that remember a state of fixed size; the others attend.
    """

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
    state_layers: frozenset[int] = frozenset()

    def token_bytes(self, item: int) -> int:
        """Return the memory of one token's keys and values, in a dtype of *item* bytes."""
        num_attending = self.num_layers - len(self.state_layers)
        return num_attending * 2 * self.num_kv_heads * self.head_size * item

    def moment_bytes(self, item: int) -> int:
        """Return the memory of what the state layers remember, in a dtype of *item* bytes."""
        return 0


class Backbone(Protocol):
    """What a family supplies."""

    @property
    def config(self) -> BackboneConfig:
        """The sizes."""

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the weights and of the hidden states."""

    @property
    def embedding_VH(self) -> Tensor:
        """The token embeddings."""

    def hidden(
        self,
        ids_N: Tensor,
        positions_N: Tensor,
        attend: Attend,
        recur: Recur | None = None,
        *,
        taps: tuple[int, ...],
        adapters: Adapters | None = None,
        recompute: bool = False,
    ) -> list[Tensor]:
        """Return the hidden states [N, H] after each layer of *taps*, the last one final-normed.

        With *recompute* the backward pass computes each layer again from its input, which is all
        that is kept of it (Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016).

        Raises:
            ValueError: The stack has state layers and *recur* is not given.
        """

    def adapter_shapes(self) -> dict[str, tuple[int, int]]:
        """Name every projection that takes an adapter, with its (out, in) sizes."""

    def adapter_parts(self) -> dict[str, dict[str, int]]:
        """Name the published matrices in each adapted projection, with the outputs of each."""

    def merged(self, adapters: Adapters) -> Backbone:
        """Return this stack with `up @ down` added to each adapted projection."""

    def weights(self) -> dict[str, Tensor]:
        """Name every weight but the token embeddings, as a checkpoint of a trained stack does."""

    def with_weights(self, weights: Mapping[str, Tensor]) -> Backbone:
        """Return this stack with *weights* for its own, in its dtypes and on its device.

        Raises:
            WeightsError: A name is missing or unknown, or a shape is not this stack's.
        """

    def pack(self) -> None:
        """Bring every projection, in place, into the layout that `linear` multiplies fastest.

        A packed stack takes no more adapters, and its hidden states differ in their last bits from
        those of the stack it was.
        """
