"""How a run trains: what it is told, and the learning rate that follows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from deg_model import AdapterPlan
from deg_train.losses import LOSSES

__all__ = ["FitOptions", "learning_rate"]

_LAST = 0.1


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How a run trains.

    Attributes:
        steps: Optimizer steps in all.
        tokens_per_step: Real tokens drawn for one step.
        tokens_per_batch: Most tokens in one forward pass; a step holds as many as it needs.
        tokens_per_example: What a document and its questions may have: of longer ones a window, or
            a part, is drawn.
        learning_rate: At its height, for adapters and heads alike.
        backbone_rate: At its height, for the backbone where the whole of it trains.
        warmup: Steps of linear rise.
        decay: Last steps, over which the rate falls to a tenth along a cosine.
        form_steps: First steps, which draw nothing but forms with made-up labels.
        rank: Of the adapters.
        plan: Which adapters train, and what each of them reads; without any the whole backbone
            does.
        seed: Of weights and data.
        anchor_weight: What the loss of anchors weighs in the total.
        anchor_count_weight: What the loss of the counts of arrays with anchors weighs.
        lm_weight: What the loss of texts weighs.
        lm_kl_base: What weighs how far texts are from those of the frozen base.
        memory: The bytes that the micro-batches which are read side by side may take together;
            half of what is free when the run starts unless given.
    """

    steps: int = 1200
    tokens_per_step: int = 1500
    tokens_per_batch: int = 800
    tokens_per_example: int = 1600
    learning_rate: float = 1e-3
    backbone_rate: float = 2e-5
    warmup: int = 40
    decay: int = 900
    form_steps: int = 60
    rank: int = 24
    plan: AdapterPlan = AdapterPlan()
    seed: int = 0
    anchor_weight: float = LOSSES["anchor"]
    anchor_count_weight: float = LOSSES["anchor_count"]
    lm_weight: float = LOSSES["lm"]
    lm_kl_base: float = LOSSES["lm_kl"]
    memory: int | None = None

    @property
    def loss_weights(self) -> dict[str, float]:
        """What each loss weighs in the total (contract 12.4)."""
        return LOSSES | {
            "anchor": self.anchor_weight,
            "anchor_count": self.anchor_count_weight,
            "lm": self.lm_weight,
            "lm_kl": self.lm_kl_base,
        }


def learning_rate(options: FitOptions, step: int) -> float:
    """Return the rate of *step*, from 0: it rises, stays, and falls to a tenth (contract 12.4)."""
    rise = min(1.0, (step + 1) / max(options.warmup, 1))
    fallen = max(0.0, 1 - (options.steps - step - 1) / max(options.decay, 1))
    fall = _LAST + (1 - _LAST) * (1 + math.cos(math.pi * fallen)) / 2
    return options.learning_rate * rise * fall
