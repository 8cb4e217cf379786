"""The losses of contract 12.4, summed over a batch."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from deg_model import Heads
from deg_train.batches import Batch
from deg_train.logits import anchor_logits, count_logits, decide_logits, extract_logits
from deg_train.passes import Hidden
from deg_train.text_loss import text_divergences, text_losses

__all__ = ["LOSSES", "Loss", "batch_losses", "texts_of"]

LOSSES = {
    "decide": 1.0,
    "extract": 1.0,
    "count": 0.5,
    "anchor": 1.0,
    "anchor_count": 1.0,
    "lm": 1.0,
    "lm_kl": 0.0,
}
"""What each loss weighs unless a run says so; `anchor_count` is of arrays with anchors, `lm_kl` how
far texts are from those of the frozen base."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One loss of one batch, as sums.

    Attributes:
        total: Over the questions; those of a decide head by their share of the votes.
        num_right: Questions that were answered right.
    """

    total: Tensor
    num_right: int

    def detached(self) -> Loss:
        """Return this loss without what its gradient needs."""
        return Loss(self.total.detach(), self.num_right)


def batch_losses(
    heads: Heads,
    batch: Batch,
    hidden: Hidden,
    *,
    head_VH: Tensor | None = None,
    base_NH: Tensor | None = None,
) -> dict[str, Loss]:
    """Return each loss that *batch* has questions for.

    Args:
        heads: What answers.
        batch: The questions.
        hidden: Its tokens as they were read.
        head_VH: The frozen head over the vocabulary, for a batch that has texts.
        base_NH: The last hidden states of the frozen base, where texts are held to it.
    """
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
        "anchor_count": count_logits(heads, batch, hidden, is_anchored=True),
    }
    for name, logits in others.items():
        if logits is not None:
            losses[name] = Loss(logits.losses().sum(), int(logits.right().sum()))
    texts = texts_of(batch)
    if texts:
        assert head_VH is not None
        answers, targets = zip(*texts, strict=True)
        losses_R, num_right = text_losses(hidden.final_NH, head_VH, answers, targets)
        losses["lm"] = Loss(losses_R.sum(), num_right)
        if base_NH is not None:
            far_R = text_divergences(hidden.final_NH, base_NH, head_VH, answers, targets)
            losses["lm_kl"] = Loss(far_R.sum(), num_right)
    return losses


def texts_of(batch: Batch) -> list[tuple[int, tuple[int, ...]]]:
    """Return the place of the last token of each text in *batch*, and what its targets are."""
    return [(r.answer, r.question.targets) for r in batch.rows if r.question.fork.head == "lm"]
