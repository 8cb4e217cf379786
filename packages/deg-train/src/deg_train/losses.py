"""The losses of contract 12.4, summed over a batch."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from deg_model import Heads
from deg_train.batches import Batch
from deg_train.logits import anchor_logits, count_logits, decide_logits, extract_logits
from deg_train.passes import Hidden

__all__ = ["LOSSES", "Loss", "batch_losses"]

LOSSES = {"decide": 1.0, "extract": 1.0, "count": 0.5, "anchor": 1.0}
"""What each loss weighs in the total."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One loss of one batch, as sums.

    Attributes:
        total: Over the questions; those of a decide head share a vote in each context.
        num_right: Questions that were answered right.
    """

    total: Tensor
    num_right: int

    def detached(self) -> Loss:
        """Return this loss without what its gradient needs."""
        return Loss(self.total.detach(), self.num_right)


def batch_losses(heads: Heads, batch: Batch, hidden: Hidden) -> dict[str, Loss]:
    """Return each loss that *batch*, whose tokens were read as *hidden*, has questions for."""
    losses = {}
    decided = decide_logits(heads, batch, hidden).values()
    if decided:
        votes = [(logits.vote_R * logits.losses()).sum() for logits in decided]
        num_right = sum(int(logits.right().sum()) for logits in decided)
        losses["decide"] = Loss(torch.stack(votes).sum(), num_right)
    others = {
        "extract": extract_logits(heads, batch, hidden),
        "count": count_logits(heads, batch, hidden),
        "anchor": anchor_logits(heads, batch, hidden),
    }
    for name, logits in others.items():
        if logits is not None:
            losses[name] = Loss(logits.losses().sum(), int(logits.right().sum()))
    return losses
