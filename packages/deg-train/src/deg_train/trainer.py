"""Training state: frozen backbone, adapters and heads, optimizer; one step, saved and resumed.

A step's batches follow from the seed and the step's number alone, so that a resumed run draws what
an unbroken one would have drawn.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from deg_model import (
    ArrayMode,
    Backbone,
    Base,
    Checkpoint,
    Heads,
    LowRankAdapters,
    default_taps,
    load_heads,
)
from deg_train.batches import Batch
from deg_train.logits import DECIDE_HEADS
from deg_train.losses import LOSSES, Loss, batch_losses
from deg_train.passes import read_batch

__all__ = ["FitOptions", "StepReport", "Trainer", "run"]


_UP_FACTOR = 2.0
_ZERO = torch.zeros(())


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
        form_steps: First steps, which draw nothing but forms with made-up labels.
        rank: Of the adapters.
        seed: Of weights and data.
    """

    steps: int = 1200
    tokens_per_step: int = 1500
    tokens_per_batch: int = 800
    learning_rate: float = 1e-3
    warmup: int = 40
    decay: int = 900
    form_steps: int = 60
    rank: int = 24
    seed: int = 0


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step measured.

    Attributes:
        losses: The mean of each loss; one that the step had no question for is missing.
        right: The share of right answers beside each.
        skipped: Arrays of its documents that could not be taught.
    """

    step: int
    losses: dict[str, float]
    right: dict[str, float]
    tokens: int
    padded: int
    seconds: float
    learning_rate: float
    skipped: int


class Trainer:
    """Trains adapters and heads on a frozen backbone.

    Args:
        backbone: The frozen stack.
        base: What it was made from, for checkpoints to name.
        options: How to train.
        threads: How many batches are read side by side, each by one thread: whole batches share
            two cores better than two threads share one small product.
    """

    def __init__(
        self, backbone: Backbone, base: Base, options: FitOptions, *, threads: int = 1
    ) -> None:
        torch.manual_seed(options.seed)
        self.backbone, self.base, self.options = backbone, base, options
        config = backbone.config
        self.taps = default_taps(config.num_layers)
        self.heads = Heads(config.hidden_size, config.hidden_size * len(self.taps))
        self.adapters = LowRankAdapters(backbone, options.rank)
        self.step = 0
        self._threads = threads
        self._pool = ThreadPoolExecutor(
            threads, initializer=torch.set_num_threads, initargs=(1,), thread_name_prefix="batch"
        )
        trained = nn.ModuleDict({"h": self.heads, "a": self.adapters})
        self._parameters = dict(trained.named_parameters())
        # LoRA+ (Hayou et al., 2024): the zero-initialised factor learns faster than the other
        raised = [p for name, p in self._parameters.items() if name.endswith("lora_B")]
        others = [p for name, p in self._parameters.items() if not name.endswith("lora_B")]
        self._optimizer = torch.optim.AdamW(
            [{"params": others, "factor": 1.0}, {"params": raised, "factor": _UP_FACTOR}],
            lr=options.learning_rate,
            betas=(0.9, 0.98),
            weight_decay=0.01,
        )

    def train_step(self, batches: Sequence[Batch]) -> StepReport:
        """Make one optimizer step on *batches*; each loss is a mean over the whole step."""
        began = time.perf_counter()
        rate = self._set_learning_rate()
        num_questions = _num_questions(batches)
        # the questions of a context to a decide head share one vote
        num_terms = num_questions | {"decide": sum(_num_votes(batch) for batch in batches)}
        weights = {name: LOSSES[name] / max(num, 1) for name, num in num_terms.items()}
        shares = _shares(batches, self._threads)
        work = partial(self._accumulate, weights=weights)
        parts = list(self._pool.map(work, shares))
        for index, parameter in enumerate(self._parameters.values()):
            found = [grad for _, grads in parts if (grad := grads[index]) is not None]
            parameter.grad = sum(found[1:], start=found[0]) if found else None
        done = [losses for part, _ in parts for losses in part]
        total = {
            name: [losses[name] for losses in done if name in losses]
            for name, num in num_questions.items()
            if num
        }
        nn.utils.clip_grad_norm_(self._parameters.values(), 1.0)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self.step += 1
        return StepReport(
            step=self.step,
            losses={
                name: sum(float(loss.total) for loss in each) / num_terms[name]
                for name, each in total.items()
            },
            right={
                name: sum(loss.num_right for loss in each) / num_questions[name]
                for name, each in total.items()
            },
            tokens=sum(batch.num_real_tokens for batch in batches),
            padded=sum(len(batch.ids_N) for batch in batches),
            seconds=time.perf_counter() - began,
            learning_rate=rate,
            skipped=sum(batch.num_skipped for batch in batches),
        )

    def _accumulate(
        self, batches: Sequence[Batch], *, weights: dict[str, float]
    ) -> tuple[list[dict[str, Loss]], list[Tensor | None]]:
        """Return the losses of *batches* and the gradient of their weighted sum."""
        parameters = list(self._parameters.values())
        total: list[Tensor | None] = [None] * len(parameters)
        done = []
        for batch in batches:
            losses = self.losses(batch)
            loss = sum((weights[name] * each.total for name, each in losses.items()), _ZERO)
            grads = torch.autograd.grad(loss, parameters, allow_unused=True)
            total = [_add(before, grad) for before, grad in zip(total, grads, strict=True)]
            done.append({name: each.detached() for name, each in losses.items()})
        return done, total

    def losses(self, batch: Batch) -> dict[str, Loss]:
        """Run one forward pass and return its losses."""
        adapters = self.adapters.pairs(self.backbone.dtype)
        hidden = read_batch(self.backbone, batch, taps=self.taps, adapters=adapters)
        return batch_losses(self.heads, batch, hidden)

    def checkpoint(self, model_id: str) -> Checkpoint:
        """Return what was trained so far as a checkpoint."""
        return Checkpoint(
            model_id=model_id,
            base=self.base,
            taps=self.taps,
            rank=self.options.rank,
            heads=dict(self.heads.state_dict()),
            adapters=self.adapters.named_tensors(),
            arrays=ArrayMode("anchor"),
        )

    def start_from(self, checkpoint: Checkpoint) -> None:
        """Take up the heads and adapters of *checkpoint*; the optimizer begins afresh.

        Raises:
            ValueError: It was trained on another base or has another rank.
        """
        if checkpoint.base.sha256 != self.base.sha256 or checkpoint.taps != self.taps:
            raise ValueError(f"{checkpoint.model_id!r} was trained on another base")
        if checkpoint.rank != self.options.rank:
            raise ValueError(
                f"{checkpoint.model_id!r} has adapters of rank {checkpoint.rank}; "
                f"say --rank {checkpoint.rank}"
            )
        load_heads(self.heads, checkpoint.heads)
        self.adapters.load(checkpoint.adapters)

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
            ValueError: The file is damaged, or the saved run has other shapes.
        """
        try:
            with safe_open(path, framework="pt") as saved:
                step = int(saved.metadata()["step"])
                tensors = {name: saved.get_tensor(name) for name in saved.keys()}  # noqa: SIM118
        except (OSError, SafetensorError, KeyError, TypeError) as error:
            raise ValueError(f"{path} is damaged ({error}): delete it to begin anew") from error
        targets = {f"parameter/{name}": each for name, each in self._parameters.items()}
        for name, target in targets.items():
            if name not in tensors or tensors[name].shape != target.shape:
                raise ValueError(f"{path} is of another run: {name!r} does not fit")
        with torch.no_grad():
            for name, target in targets.items():
                target.copy_(tensors[name])
        for name, parameter in self._parameters.items():
            keys = ("step", "exp_avg", "exp_avg_sq")
            moments = {key: tensors[f"{key}/{name}"] for key in keys if f"{key}/{name}" in tensors}
            # a head that no question has reached yet has none
            if moments:
                self._optimizer.state[parameter] = moments
        self.step = step

    def _set_learning_rate(self) -> float:
        options, step = self.options, self.step
        rise = min(1.0, (step + 1) / max(options.warmup, 1))
        fall = min(1.0, max(0.05, (options.steps - step) / max(options.decay, 1)))
        rate = options.learning_rate * rise * fall
        for group in self._optimizer.param_groups:
            group["lr"] = rate * group["factor"]
        return rate


def _num_votes(batch: Batch) -> int:
    asked = {(row.context, row.question.fork.head) for row in batch.rows}
    return sum(head in DECIDE_HEADS for _, head in asked)


def _num_questions(batches: Sequence[Batch]) -> dict[str, int]:
    heads = [row.question.fork.head for batch in batches for row in batch.rows]
    return {
        name: sum(head == name or (name == "decide" and head in DECIDE_HEADS) for head in heads)
        for name in LOSSES
    }


def _shares(batches: Sequence[Batch], num: int) -> list[list[Batch]]:
    """Deal *batches* out evenly, the largest first."""
    shares: list[list[Batch]] = [[] for _ in range(num)]
    sizes = [0] * num
    for batch in sorted(batches, key=lambda each: -len(each.ids_N)):
        least = sizes.index(min(sizes))
        shares[least].append(batch)
        sizes[least] += len(batch.ids_N)
    return [share for share in shares if share]


def _add(total: Tensor | None, grad: Tensor | None) -> Tensor | None:
    if total is None or grad is None:
        return grad if total is None else total
    return total.add_(grad)


def run(
    trainer: Trainer,
    draw: Callable[[int], Sequence[Batch]],
    *,
    save_to: Path,
    save_every: int,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[StepReport]:
    """Train to the last step, yield each report, and save every so often and at the end.

    Args:
        trainer: What to train.
        draw: Gives a step's batches by its number.
        save_to: The file that a resumed run takes up.
        save_every: Steps between two saves.
        should_stop: Asked after each step; a yes ends the run early, saved.
    """
    while trainer.step < trainer.options.steps:
        report = trainer.train_step(draw(trainer.step))
        is_last = trainer.step == trainer.options.steps or should_stop()
        if is_last or trainer.step % save_every == 0:
            trainer.save(save_to)
        yield report
        if is_last:
            return
