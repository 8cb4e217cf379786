"""The gradient of one micro-batch, in as many passes as planned, and more where memory fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from deg_runtime import is_out_of_memory
from deg_train.batches import Batch
from deg_train.losses import Loss
from deg_train.memory import Unit, smaller
from deg_train.passes import Hidden, Trunk
from deg_train.probes import measuring

__all__ = ["Gradients", "Learner", "gradients"]

_ZERO = torch.zeros(())


class Learner(Protocol):
    """How a micro-batch is read, and what its losses go back to."""

    @property
    def parameters(self) -> Sequence[Tensor]:
        """What is trained."""

    @property
    def device(self) -> torch.device:
        """Where it is computed."""

    def read(self, batch: Batch, *, recompute: bool) -> Hidden:
        """Read contexts and forks of *batch*."""

    def read_trunk(self, batch: Batch, *, recompute: bool) -> Trunk:
        """Read the contexts of *batch*."""

    def read_forks(self, trunk: Trunk, batch: Batch, *, recompute: bool) -> Hidden:
        """Read the forks of *batch*, which continue *trunk*."""

    def losses_of(self, batch: Batch, hidden: Hidden) -> dict[str, Loss]:
        """Return the losses of *batch*, read as *hidden*."""


@dataclass(slots=True)
class Gradients:
    """What some micro-batches gave.

    Attributes:
        grads: The gradient of each parameter, None where nothing reached it.
        done: Each part that was read, with its losses.
        measured: Units that were measured, with the bytes that they kept.
        failed: Units that memory failed at; they were run again in smaller parts.
        lost: Smallest parts that memory failed at: they are in no gradient.
    """

    grads: list[Tensor | None]
    done: list[tuple[Batch, dict[str, Loss]]] = field(default_factory=list)
    measured: list[tuple[Unit, int]] = field(default_factory=list)
    failed: list[Unit] = field(default_factory=list)
    lost: list[Batch] = field(default_factory=list)

    def add(self, other: Gradients) -> None:
        """Take up what *other* has; it is not to be used after."""
        self.grads = _added(self.grads, other.grads)
        self.done += other.done
        self.measured += other.measured
        self.failed += other.failed
        self.lost += other.lost


def gradients(learner: Learner, units: Sequence[Unit], weights: Mapping[str, float]) -> Gradients:
    """Return the gradient of the weighted sum of the losses of *units*.

    A unit that memory fails at is dropped with all that it gave, and read again in smaller parts.

    Args:
        learner: Reads the units.
        units: The micro-batches, one after another.
        weights: What each loss weighs, by its name.
    """
    total = Gradients([None] * len(learner.parameters))
    for unit in units:
        found = _tried(learner, unit, weights)
        if found is None:
            parts = smaller(unit)
            found = gradients(learner, parts, weights)
            found.failed.append(unit)
            if not parts:
                found.lost.append(unit.batch)
        total.add(found)
    return total


def _tried(learner: Learner, unit: Unit, weights: Mapping[str, float]) -> Gradients | None:
    # the error holds on to everything in its frames, so that it may not outlive this one
    try:
        return (_in_parts if unit.num_parts > 1 else _whole)(learner, unit, weights)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        return None


def _whole(learner: Learner, unit: Unit, weights: Mapping[str, float]) -> Gradients:
    watched = measuring(learner.device, learner.parameters) if unit.is_measured else nullcontext()
    with watched as measured:
        hidden = learner.read(unit.batch, recompute=unit.recompute)
        losses = learner.losses_of(unit.batch, hidden)
        loss = _weighted(losses, weights)
    grads = torch.autograd.grad(loss, learner.parameters, allow_unused=True)
    found = Gradients(list(grads), [(unit.batch, _detached(losses))])
    if measured is not None:
        found.measured.append((unit, measured.num_bytes))
    return found


def _in_parts(learner: Learner, unit: Unit, weights: Mapping[str, float]) -> Gradients:
    """Read the contexts once, go back from each part to them, and then once back through them."""
    trunk = learner.read_trunk(unit.batch, recompute=unit.recompute)
    ends: list[Tensor] = []
    leaves: list[Tensor] = []

    def cut(tensor: Tensor) -> Tensor:
        if not tensor.requires_grad:
            return tensor
        ends.append(tensor)
        leaves.append(tensor.detach().requires_grad_())
        return leaves[-1]

    cut_trunk = trunk.mapped(cut)
    found = Gradients([None] * len(learner.parameters))
    from_parts: list[Tensor | None] = [None] * len(leaves)
    for part in unit.parts:
        hidden = learner.read_forks(cut_trunk, part, recompute=unit.recompute)
        losses = learner.losses_of(part, hidden)
        grads = torch.autograd.grad(
            _weighted(losses, weights), [*learner.parameters, *leaves], allow_unused=True
        )
        split = len(learner.parameters)
        found.add(Gradients(list(grads[:split]), [(part, _detached(losses))]))
        from_parts = _added(from_parts, grads[split:])
    reached = [(end, grad) for end, grad in zip(ends, from_parts, strict=True) if grad is not None]
    if reached:
        outputs, grad_outputs = zip(*reached, strict=True)
        through = torch.autograd.grad(outputs, learner.parameters, grad_outputs, allow_unused=True)
        found.add(Gradients(list(through)))
    return found


def _weighted(losses: Mapping[str, Loss], weights: Mapping[str, float]) -> Tensor:
    return sum((weights[name] * each.total for name, each in losses.items()), _ZERO)


def _detached(losses: Mapping[str, Loss]) -> dict[str, Loss]:
    return {name: loss.detached() for name, loss in losses.items()}


def _added(totals: Sequence[Tensor | None], grads: Sequence[Tensor | None]) -> list[Tensor | None]:
    return [_sum(total, grad) for total, grad in zip(totals, grads, strict=True)]


def _sum(total: Tensor | None, grad: Tensor | None) -> Tensor | None:
    if total is None or grad is None:
        return grad if total is None else total
    # not in place: autograd may give one tensor for two inputs
    return total + grad
