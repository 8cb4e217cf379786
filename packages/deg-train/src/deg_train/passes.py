"""One forward pass over a batch: what the heads read, for training and for calibration."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from deg_model import Backbone, TrainingAttention, TrainingRecurrence, tap_features
from deg_train.batches import Batch

# N flat tokens, B contexts, T tokens, H hidden, K features, R adapter rank, I in, O out

__all__ = ["Hidden", "read_batch"]


@dataclass(frozen=True, slots=True)
class Hidden:
    """What the heads read of a batch.

    Attributes:
        final_NH: The last hidden state of every flat token, fp32.
        features_BTK: The span features of every token of the padded contexts, fp32.
    """

    final_NH: Tensor
    features_BTK: Tensor


def read_batch(
    backbone: Backbone,
    batch: Batch,
    *,
    taps: tuple[int, ...],
    adapters: dict[str, tuple[Tensor, Tensor]] | None = None,
) -> Hidden:
    """Read *batch* in one pass; without adapters where they are merged into the backbone."""
    config = backbone.config
    attention = TrainingAttention(
        batch.context_lengths_B,
        batch.width,
        batch.buckets,
        each=config.num_heads // config.num_kv_heads,
        dtype=backbone.dtype,
    )
    recurrence = TrainingRecurrence(batch.context_lengths_B, batch.width, batch.buckets)
    tapped = backbone.hidden(
        batch.ids_N, batch.positions_N, attention, recurrence, taps=taps, adapters=adapters
    )
    num = len(batch.context_lengths_B)
    contexts = num * batch.width
    features = tap_features([tap_NH[:contexts] for tap_NH in tapped])
    return Hidden(tapped[-1].float(), features.view(num, batch.width, -1))
