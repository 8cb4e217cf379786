"""The mean of several checkpoints of one run, which often generalises better than each of them.

Source: Izmailov et al., Averaging Weights Leads to Wider Optima and Better Generalization, 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from deg_model import Checkpoint

__all__ = ["average"]


def average(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    """Return the last of *checkpoints* with the mean of all in place of what was trained.

    They must stem from one another: the mean of runs that began apart is of no use. It has the
    temperatures of the last one, and is to be calibrated anew.

    Raises:
        ValueError: Two have other bases, adapters or tensors.
    """
    last = checkpoints[-1]
    for other in checkpoints:
        if (other.base, other.taps, other.rank) != (last.base, last.taps, last.rank):
            raise ValueError("the checkpoints have another base or another rank")
        if other.plan != last.plan:
            raise ValueError("the checkpoints have other adapters, or only some have a backbone")
        if other.heads.keys() != last.heads.keys() or other.arrays != last.arrays:
            raise ValueError("not all of the checkpoints were trained on arrays")
    heads = _mean([checkpoint.heads for checkpoint in checkpoints])
    heads["temperatures"] = last.heads["temperatures"]
    adapters = _mean([checkpoint.adapters for checkpoint in checkpoints])
    backbones = [checkpoint.backbone for checkpoint in checkpoints if checkpoint.backbone]
    return replace(
        last, heads=heads, adapters=adapters, backbone=_mean(backbones) if backbones else None
    )


def _mean(tensors: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {
        name: torch.stack([each[name].float() for each in tensors]).mean(0) for name in tensors[0]
    }
