"""Training state: frozen backbone, adapters and heads, optimizer; one step, saved and resumed.

A step's batches follow from the seed and the step's number alone, so that a resumed run draws what
an unbroken one would have drawn.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from deg_model import (
    Backbone,
    Base,
    Checkpoint,
    Heads,
    LowRankAdapters,
    TrainingAttention,
    default_taps,
    tap_features,
)
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from deg_train.batches import Batch
from deg_train.losses import Losses, batch_losses

# N flat tokens, B contexts, T tokens, K features

__all__ = ["FitOptions", "StepReport", "Trainer", "run"]


@dataclass(frozen=True, slots=True)
class FitOptions:
    """How a run trains.

    Attributes:
        steps: Optimizer steps in all.
        tokens_per_step: Real tokens drawn for one step.
        tokens_per_batch: Most tokens in one forward pass; a step holds as many as it needs.
        learning_rate: At its height, for adapters and heads alike.
        warmup: Steps of linear rise.
        decay: Steps of linear fall to a twentieth, at the end.
        rank: Of the adapters.
        seed: Of weights and data.
    """

    steps: int = 1200
    tokens_per_step: int = 3000
    tokens_per_batch: int = 2048
    learning_rate: float = 1e-3
    warmup: int = 40
    decay: int = 300
    rank: int = 24
    seed: int = 0


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step measured."""

    step: int
    decide: float
    extract: float
    decide_right: float
    extract_right: float
    tokens: int
    padded: int
    seconds: float
    learning_rate: float


class Trainer:
    """Trains adapters and heads on a frozen backbone."""

    def __init__(self, backbone: Backbone, base: Base, options: FitOptions) -> None:
        torch.manual_seed(options.seed)
        self.backbone, self.base, self.options = backbone, base, options
        config = backbone.config
        self.taps = default_taps(config.num_layers)
        self.heads = Heads(config.hidden_size, config.hidden_size * len(self.taps))
        self.adapters = LowRankAdapters(backbone, options.rank)
        self.step = 0
        self._parameters = dict(nn.ModuleDict({"h": self.heads, "a": self.adapters}).named_parameters())
        self._optimizer = torch.optim.AdamW(
            self._parameters.values(), lr=options.learning_rate, betas=(0.9, 0.98), weight_decay=0.01
        )

    def train_step(self, batches: Sequence[Batch]) -> StepReport:
        """Make one optimizer step on *batches*; each loss is a mean over the whole step."""
        began = time.perf_counter()
        rate = self._set_learning_rate()
        heads = [row.question.fork.head for batch in batches for row in batch.rows]
        num_extract = heads.count("extract")
        num_decide = len(heads) - num_extract
        sums = [0.0, 0.0, 0, 0]
        for batch in batches:
            losses = self.losses(batch)
            loss = losses.decide / max(num_decide, 1) + losses.extract / max(num_extract, 1)
            loss.backward()  # type: ignore[no-untyped-call]
            values = (losses.decide, losses.extract, losses.decide_right, losses.extract_right)
            sums = [total + float(value.detach() if isinstance(value, Tensor) else value) for total, value in zip(sums, values, strict=True)]
        nn.utils.clip_grad_norm_(self._parameters.values(), 1.0)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self.step += 1
        return StepReport(
            step=self.step,
            decide=sums[0] / max(num_decide, 1),
            extract=sums[1] / max(num_extract, 1),
            decide_right=sums[2] / max(num_decide, 1),
            extract_right=sums[3] / max(num_extract, 1),
            tokens=sum(batch.num_real_tokens for batch in batches),
            padded=sum(len(batch.ids_N) for batch in batches),
            seconds=time.perf_counter() - began,
            learning_rate=rate,
        )

    def losses(self, batch: Batch) -> Losses:
        """Run one forward pass and return its losses."""
        config = self.backbone.config
        dtype = self.backbone.dtype
        attention = TrainingAttention(
            batch.context_lengths_B,
            batch.width,
            batch.buckets,
            each=config.num_heads // config.num_kv_heads,
            dtype=dtype,
        )
        tapped = self.backbone.hidden(
            batch.ids_N,
            batch.positions_N,
            attention,
            taps=self.taps,
            adapters=self.adapters.pairs(dtype),
        )
        num = len(batch.context_lengths_B)
        contexts = num * batch.width
        features_BTK = tap_features([tap[:contexts] for tap in tapped]).view(num, batch.width, -1)
        return batch_losses(self.heads, batch, tapped[-1].float(), features_BTK)

    def checkpoint(self, model_id: str) -> Checkpoint:
        """Return what was trained so far as a checkpoint."""
        return Checkpoint(
            model_id=model_id,
            base=self.base,
            taps=self.taps,
            rank=self.options.rank,
            heads=dict(self.heads.state_dict()),
            adapters=self.adapters.named_tensors(),
        )

    def save(self, path: Path) -> None:
        """Write everything that a resumed run needs to *path*, atomically."""
        tensors: dict[str, Tensor] = {}
        for name, parameter in self._parameters.items():
            tensors[f"parameter/{name}"] = parameter.detach()
            for key, value in self._optimizer.state.get(parameter, {}).items():
                tensors[f"{key}/{name}"] = value
        part = path.with_suffix(".part")
        facts = {"step": str(self.step), "options": json.dumps(asdict(self.options))}
        save_file({n: t.contiguous() for n, t in tensors.items()}, part, metadata=facts)
        os.replace(part, path)

    def resume(self, path: Path) -> None:
        """Take up what `save` wrote.

        Raises:
            ValueError: The saved run has other shapes.
        """
        tensors = load_file(path)
        with torch.no_grad():
            for name, parameter in self._parameters.items():
                saved = tensors.get(f"parameter/{name}")
                if saved is None or saved.shape != parameter.shape:
                    raise ValueError(f"{path} is of another run: {name!r} does not fit")
                parameter.copy_(saved)
                keys = ("step", "exp_avg", "exp_avg_sq")
                found = {key: tensors[f"{key}/{name}"] for key in keys if f"{key}/{name}" in tensors}
                if found:
                    self._optimizer.state[parameter] = found
                    self.step = int(found["step"])

    def _set_learning_rate(self) -> float:
        options, step = self.options, self.step
        rise = min(1.0, (step + 1) / max(options.warmup, 1))
        fall = min(1.0, max(0.05, (options.steps - step) / max(options.decay, 1)))
        rate = options.learning_rate * rise * fall
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        return rate


def run(
    trainer: Trainer,
    draw: Callable[[int], Sequence[Batch]],
    *,
    save_to: Path,
    save_every: int,
) -> Iterator[StepReport]:
    """Train to the last step, yield each report, and save every so often and at the end."""
    while trainer.step < trainer.options.steps:
        report = trainer.train_step(draw(trainer.step))
        if trainer.step % save_every == 0 or trainer.step == trainer.options.steps:
            trainer.save(save_to)
        yield report
