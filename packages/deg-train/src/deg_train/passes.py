"""Forward passes over a batch: what the heads read, for training and for calibration.

A batch is read as one flat pass, or its contexts first and their forks from what these left behind.
The second way lets several fork passes, each with adapters of its own, continue one trunk, and lets
the trunk be frozen, read in chunks, or cut off and gone back through once (contract 12.4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from deg_model import (
    Backbone,
    TrainingAttention,
    TrainingRecurrence,
    TrainingState,
    tap_features,
)
from deg_train.batches import Batch

# N flat tokens, M those of the forks, B contexts, T tokens of a context, C those of a chunk
# H hidden, K features, R adapter rank, I in, O out

__all__ = ["TRUNK_CHUNK", "Adapters", "Hidden", "Trunk", "read_batch", "read_forks", "read_trunk"]

Adapters = dict[str, tuple[Tensor, Tensor]]
"""Projection name to its low-rank pair (`down_RI`, `up_OR`)."""

TRUNK_CHUNK = 2048
"""The tokens of a longer context are read so many at a time: attention scores grow with chunk times
context instead of the context's square, and none of them are kept."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """What the heads read of a batch.

    Attributes:
        final_NH: The last hidden state of every flat token, fp32.
        features_BTK: The span features of every token of the padded contexts, fp32.
    """

    final_NH: Tensor
    features_BTK: Tensor


@dataclass(frozen=True, slots=True)
class Trunk:
    """The padded contexts of a batch, read: what heads and forks take from them.

    Attributes:
        tapped: The hidden states [B, T, H] after each tapped layer, the last one final-normed.
        state: What forks continue.
    """

    tapped: tuple[Tensor, ...]
    state: TrainingState

    def mapped(self, change: Callable[[Tensor], Tensor]) -> Trunk:
        """Return this trunk with every tensor changed, such as cut off from its graph."""
        return Trunk(tuple(map(change, self.tapped)), self.state.mapped(change))

    def hidden(self, forks_MH: Tensor) -> Hidden:
        """Return what the heads read of these contexts and of forks that continue them."""
        width = self.tapped[-1].shape[1]
        final_NH = torch.cat([self.tapped[-1].flatten(0, 1), forks_MH])
        features_NK = tap_features([tap_BTH.flatten(0, 1) for tap_BTH in self.tapped])
        return Hidden(final_NH.float(), features_NK.view(-1, width, features_NK.shape[-1]))


def read_batch(
    backbone: Backbone,
    batch: Batch,
    *,
    taps: tuple[int, ...],
    adapters: Adapters | None = None,
    recompute: bool = False,
    chunk: int = TRUNK_CHUNK,
) -> Hidden:
    """Read *batch* in one pass, or one after another where its contexts are longer than a chunk.

    Args:
        backbone: The stack.
        batch: What is read.
        taps: The layers whose hidden states make the features.
        adapters: Low-rank pairs; None where they are merged into the backbone.
        recompute: Keep only the input of each layer and compute the layer again backward.
        chunk: The most tokens of a context that are read at once.
    """
    if batch.width > chunk:
        trunk = read_trunk(backbone, batch, taps=taps, adapters=adapters, chunk=chunk)
        return trunk.hidden(
            read_forks(backbone, trunk, batch, adapters=adapters, recompute=recompute)
        )
    attention = TrainingAttention(
        batch.context_lengths_B,
        batch.width,
        batch.buckets,
        each=_each(backbone),
        dtype=backbone.dtype,
    )
    recurrence = TrainingRecurrence(batch.context_lengths_B, batch.width, batch.buckets)
    tapped = backbone.hidden(
        batch.ids_N,
        batch.positions_N,
        attention,
        recurrence,
        taps=taps,
        adapters=adapters,
        recompute=recompute,
    )
    num = len(batch.context_lengths_B)
    features = tap_features([tap_NH[: batch.num_trunk] for tap_NH in tapped])
    return Hidden(tapped[-1].float(), features.view(num, batch.width, -1))


def read_trunk(
    backbone: Backbone,
    batch: Batch,
    *,
    taps: tuple[int, ...],
    adapters: Adapters | None = None,
    recompute: bool = False,
    chunk: int = TRUNK_CHUNK,
) -> Trunk:
    """Read the contexts of *batch* alone; its forks are not looked at.

    Contexts longer than *chunk* are read chunk by chunk, each layer of each chunk is computed again
    in the backward pass, and only keys, values and recurrent states go from one to the next.

    Args:
        backbone: The stack.
        batch: Whose contexts are read.
        taps: The layers whose hidden states make the features.
        adapters: Low-rank pairs; None where they are merged into the backbone.
        recompute: Keep only the input of each layer and compute the layer again backward.
        chunk: The most tokens of a context that are read at once.
    """
    lengths_B, width = batch.context_lengths_B, batch.width
    ids_BT = batch.ids_N[: batch.num_trunk].view(-1, width)
    positions_BT = batch.positions_N[: batch.num_trunk].view(-1, width)
    state = TrainingState()
    chunks: list[list[Tensor]] = []
    for start in range(0, width, chunk):
        own = slice(start, min(start + chunk, width))
        ids_BC = ids_BT[:, own]
        before, state = state, TrainingState(own.stop)
        tapped = backbone.hidden(
            ids_BC.flatten(),
            positions_BT[:, own].flatten(),
            TrainingAttention(
                lengths_B,
                ids_BC.shape[1],
                (),
                each=_each(backbone),
                dtype=backbone.dtype,
                before=before,
                after=state,
            ),
            TrainingRecurrence(lengths_B, ids_BC.shape[1], (), before=before, after=state),
            taps=taps,
            adapters=adapters,
            recompute=recompute or width > chunk,
        )
        chunks.append([tap_NH.view(*ids_BC.shape, -1) for tap_NH in tapped])
    tapped = [torch.cat(pieces, dim=1) for pieces in zip(*chunks, strict=True)]
    return Trunk(tuple(tapped), state.joined())


def read_forks(
    backbone: Backbone,
    trunk: Trunk,
    batch: Batch,
    *,
    adapters: Adapters | None = None,
    recompute: bool = False,
) -> Tensor:
    """Return the last hidden state [M, H] of each fork token of *batch*, in the backbone's dtype.

    Args:
        backbone: The stack.
        trunk: The contexts of *batch*, or of one that *batch* is a part of.
        batch: Whose forks are read.
        adapters: Low-rank pairs, be they others than the trunk's or not.
        recompute: Keep only the input of each layer and compute the layer again backward.
    """
    lengths_B = batch.context_lengths_B
    attention = TrainingAttention(
        lengths_B,
        0,
        batch.buckets,
        each=_each(backbone),
        dtype=backbone.dtype,
        before=trunk.state,
    )
    recurrence = TrainingRecurrence(lengths_B, 0, batch.buckets, before=trunk.state)
    (final_MH,) = backbone.hidden(
        batch.ids_N[batch.num_trunk :],
        batch.positions_N[batch.num_trunk :],
        attention,
        recurrence,
        taps=(backbone.config.num_layers,),
        adapters=adapters,
        recompute=recompute,
    )
    return final_MH


def _each(backbone: Backbone) -> int:
    return backbone.config.num_heads // backbone.config.num_kv_heads
