"""The losses of contract 12.4, summed over a batch."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from deg_model import Heads
from deg_train.batches import Batch
from deg_train.logits import decide_logits, extract_logits
from deg_train.passes import Hidden

__all__ = ["Losses", "batch_losses"]


@dataclass(frozen=True, slots=True)
class Losses:
    """Sums of one batch: decide losses by vote, extract losses, questions and right answers."""

    decide: Tensor
    extract: Tensor
    num_decide: int
    num_extract: int
    decide_right: int
    extract_right: int


def batch_losses(heads: Heads, batch: Batch, hidden: Hidden) -> Losses:
    """Return the losses of *batch*, whose tokens were read as *hidden*."""
    decide = extract = hidden.final_NH.new_zeros(())
    num_decide = decide_right = num_extract = extract_right = 0
    for logits in decide_logits(heads, batch, hidden).values():
        decide = decide + (logits.vote_R * logits.losses()).sum()
        num_decide += len(logits.outcome_R)
        decide_right += int(logits.right().sum())
    spans = extract_logits(heads, batch, hidden)
    if spans is not None:
        extract = spans.losses().sum()
        num_extract = len(spans.start_RT)
        extract_right = int(spans.right().sum())
    return Losses(decide, extract, num_decide, num_extract, decide_right, extract_right)
