"""Training state: heads and what is trained beside them, optimizer; one step, saved and resumed.

A step's batches follow from the seed and the step's number alone, so that a resumed run draws what
an unbroken one would have drawn.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from deg_model import (
    ArrayMode,
    Backbone,
    Base,
    Checkpoint,
    Heads,
    default_taps,
    load_heads,
)
from deg_runtime import free_bytes
from deg_train.batches import Batch
from deg_train.fit_options import FitOptions, learning_rate
from deg_train.gradients import Gradients, gradients
from deg_train.losses import LOSSES, Loss, batch_losses, texts_of
from deg_train.memory import Planner, Unit
from deg_train.parameters import Group, Trained, TrainedAdapters, TrainedBackbone
from deg_train.passes import Hidden, Trunk
from deg_train.probes import costs_of
from deg_train.run_state import RunState

__all__ = ["StepReport", "Trainer", "run"]


# the rest is for what passes take and let go again, and for other processes
_MEMORY_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step measured.

    Attributes:
        losses: The mean of each loss; one that the step had no question for is missing.
        right: The share of right answers beside each.
        skipped: Arrays of its documents that could not be taught.
        rerun: Micro-batches that memory failed at, and that were read again in smaller parts.
        lost: Questions in no gradient, as memory failed at each of them alone.
    """

    step: int
    losses: dict[str, float]
    right: dict[str, float]
    tokens: int
    padded: int
    seconds: float
    learning_rate: float
    skipped: int
    rerun: int = 0
    lost: int = 0


class Trainer:
    """Trains the heads, and adapters on a frozen backbone or the backbone itself.

    Args:
        backbone: The stack.
        base: What it was made from, for checkpoints to name.
        options: How to train.
        threads: How many batches are read side by side, each by one thread: whole batches share
            two cores better than two threads share one small product.
    """

    def __init__(
        self, backbone: Backbone, base: Base, options: FitOptions, *, threads: int = 1
    ) -> None:
        torch.manual_seed(options.seed)
        self.base, self.options = base, options
        config = backbone.config
        self.taps = default_taps(config.num_layers)
        self.heads = Heads(config.hidden_size, config.hidden_size * len(self.taps))
        self.trained = _trained(backbone, self.taps, options)
        self.backbone = self.trained.backbone
        self.step = 0
        self._planned: Planner | None = None
        self._threads = threads
        self._pool = ThreadPoolExecutor(
            threads, initializer=torch.set_num_threads, initargs=(1,), thread_name_prefix="batch"
        )
        named = {f"h.{name}": each for name, each in self.heads.named_parameters()}
        self._parameters = named | self.trained.named()
        groups = [Group(list(named.values()), 1.0), *self.trained.groups()]
        self._optimizer = torch.optim.AdamW(
            [{"params": group.parameters, "factor": group.rate} for group in groups],
            lr=options.learning_rate,
            betas=(0.9, 0.98),
            weight_decay=0.01,
        )

    def train_step(self, batches: Sequence[Batch]) -> StepReport:
        """Make one optimizer step on *batches*; each loss is a mean over the whole step.

        Raises:
            ValueError: The gradient is infinite or no number; nothing was changed.
        """
        began = time.perf_counter()
        rate = self._set_learning_rate()
        num_terms = _num_terms(batches)
        weights = {
            name: weight / max(num_terms[name], 1)
            for name, weight in self.options.loss_weights.items()
        }
        units = [unit for batch in batches for unit in self.planner.plan(batch)]
        work = partial(gradients, self, weights=weights)
        found = Gradients([None] * len(self.parameters))
        for part in self._pool.map(work, _shares(units, self._threads)):
            found.add(part)
        self._planned = self.planner.corrected(found.measured).shrunk(found.failed)
        for parameter, grad in zip(self.parameters, found.grads, strict=True):
            parameter.grad = grad
        read = [batch for batch, _ in found.done]
        num_terms, num_questions = _num_terms(read), _num_questions(read)
        total = {
            name: [losses[name] for _, losses in found.done if name in losses]
            for name, num in num_questions.items()
            if num and any(name in losses for _, losses in found.done)
        }
        if not nn.utils.clip_grad_norm_(self._parameters.values(), 1.0).isfinite():
            raise ValueError(
                f"step {self.step + 1}: the gradient is infinite or no number. What was saved is "
                "of an earlier step; run again with a smaller --learning-rate"
            )
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self.trained.refresh()
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
            padded=sum(len(unit.batch.ids_N) for unit in units),
            seconds=time.perf_counter() - began,
            learning_rate=rate,
            skipped=sum(batch.num_skipped for batch in batches),
            rerun=len(found.failed) - len(found.lost),
            lost=sum(len(batch.rows) for batch in found.lost),
        )

    def losses(self, batch: Batch) -> dict[str, Loss]:
        """Run one forward pass and return its losses."""
        return self.losses_of(batch, self.read(batch))

    @property
    def parameters(self) -> Sequence[nn.Parameter]:
        """What is trained."""
        return list(self._parameters.values())

    @property
    def planner(self) -> Planner:
        """What cuts batches so that they fit memory; measured when first asked for."""
        if self._planned is None:
            self._planned = Planner.of(
                costs_of(self._loss, self.device, self.parameters),
                self.backbone.config,
                num_taps=len(self.taps),
                item=self.backbone.dtype.itemsize,
                budget=self._budget(),
            )
        return self._planned

    @property
    def device(self) -> torch.device:
        """Where passes are computed."""
        return self.backbone.embedding_VH.device

    def read(self, batch: Batch, *, recompute: bool = False) -> Hidden:
        """Read contexts and forks of *batch*."""
        return self.trained.read(batch, recompute=recompute)

    def read_trunk(self, batch: Batch, *, recompute: bool = False) -> Trunk:
        """Read the contexts of *batch*."""
        return self.trained.read_trunk(batch, recompute=recompute)

    def read_forks(self, trunk: Trunk, batch: Batch, *, recompute: bool = False) -> Hidden:
        """Read the forks of *batch*, which continue *trunk*."""
        return self.trained.read_forks(trunk, batch, recompute=recompute)

    def losses_of(self, batch: Batch, hidden: Hidden) -> dict[str, Loss]:
        """Return the losses of *batch*, read as *hidden*."""
        base_NH = None
        if self.options.lm_kl_base and texts_of(batch):
            base_NH = self.trained.read_base(batch).final_NH
        head_VH = self.backbone.embedding_VH
        return batch_losses(self.heads, batch, hidden, head_VH=head_VH, base_NH=base_NH)

    def _budget(self) -> int:
        memory = self.options.memory
        if memory is None:
            # two moments and the gradient of all that is trained, and what each thread adds to it
            later = (3 + self._threads) * sum(each.nbytes for each in self.parameters)
            memory = int(_MEMORY_SHARE * max(0, free_bytes(self.device) - later))
        return memory // self._threads

    def _loss(self, batch: Batch, recompute: bool) -> Tensor:
        losses = self.losses_of(batch, self.read(batch, recompute=recompute))
        return torch.stack([loss.total for loss in losses.values()]).sum()

    def checkpoint(self, model_id: str) -> Checkpoint:
        """Return what was trained so far as a checkpoint."""
        return Checkpoint(
            model_id=model_id,
            base=self.base,
            taps=self.taps,
            heads=dict(self.heads.state_dict()),
            arrays=ArrayMode("anchor"),
            **self.trained.parts(),
        )

    def start_from(self, checkpoint: Checkpoint) -> None:
        """Take up what *checkpoint* was trained to; the optimizer begins afresh.

        Raises:
            ValueError: It was trained on another base or holds another kind of weights.
        """
        name = checkpoint.model_id
        if checkpoint.base.sha256 != self.base.sha256 or checkpoint.taps != self.taps:
            raise ValueError(
                f"{name!r} was trained on another base, {checkpoint.base.name!r}, or reads other "
                f"layers of it: start from a checkpoint on {self.base.name!r}"
            )
        try:
            self.trained.start_from(checkpoint)
            load_heads(self.heads, checkpoint.heads)
        except RuntimeError as error:
            raise ValueError(f"{name!r} is no checkpoint to start from: {error}") from error

    def save(self, path: Path) -> None:
        """Write everything that a resumed run needs to *path*, atomically."""
        planner = None if self._planned is None else self._planned.to_json()
        state = RunState.of(self.step, self.options, planner, self._parameters, self._optimizer)
        state.write(path)

    def resume(self, path: Path) -> list[str]:
        """Take up what `save` wrote.

        Returns:
            The options that the saved run had otherwise: with none it goes on as if unbroken.

        Raises:
            ValueError: The file is damaged, or the saved run has other shapes.
        """
        state = RunState.read(path)
        if state.plan != self.options.plan:
            raise ValueError(
                f"{path} is of another run: it trains other weights; say --full, --adapters and "
                "--lora-context as that run did, or name another folder"
            )
        try:
            state.restore(self._parameters, self._optimizer)
        except KeyError as error:
            raise ValueError(
                f"{path} is of another run: {error} does not fit; say --rank as that run did, or "
                "name another folder"
            ) from error
        self.trained.refresh()
        if state.planner is not None:
            self._planned = Planner.from_json(state.planner)
            if (memory := self.options.memory) is not None:
                budget = self._budget()
                if memory == state.options.get("memory"):
                    # what failures took off stays off, as in an unbroken run
                    budget = min(budget, self._planned.budget)
                self._planned = replace(self._planned, budget=budget)
        self.step = state.step
        return state.changed(self.options)

    def _set_learning_rate(self) -> float:
        rate = learning_rate(self.options, self.step)
        for group in self._optimizer.param_groups:
            group["lr"] = rate * group["factor"]
        return rate


def _trained(backbone: Backbone, taps: tuple[int, ...], options: FitOptions) -> Trained:
    if options.plan.names:
        return TrainedAdapters(backbone, taps, options.plan, options.rank)
    return TrainedBackbone(backbone, taps, options.backbone_rate / options.learning_rate)


def _num_terms(batches: Sequence[Batch]) -> dict[str, float]:
    """Return what each loss is a sum over: questions, but the votes of decide heads."""
    # many questions of a context to a decide head have less than a vote each
    shares = [r.share for b in batches for r in b.rows if r.question.loss == "decide"]
    return _num_questions(batches) | {"decide": math.fsum(shares)}


def _num_questions(batches: Sequence[Batch]) -> dict[str, int]:
    asked = Counter(row.question.loss for batch in batches for row in batch.rows)
    # a mean over the same texts
    asked["lm_kl"] = asked["lm"]
    return {name: asked[name] for name in LOSSES}


def _shares(units: Sequence[Unit], num: int) -> list[list[Unit]]:
    """Deal *units* out evenly, the largest first."""
    shares: list[list[Unit]] = [[] for _ in range(num)]
    sizes = [0] * num
    for unit in sorted(units, key=lambda each: -len(each.batch.ids_N)):
        least = sizes.index(min(sizes))
        shares[least].append(unit)
        sizes[least] += len(unit.batch.ids_N)
    return [share for share in shares if share]


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
