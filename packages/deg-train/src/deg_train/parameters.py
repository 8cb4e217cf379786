"""What a run trains beside the heads, and how a batch is read with it (contract 12.7).

Adapters train over a frozen backbone, or the whole backbone does, its token embeddings apart. What
the optimizer steps is fp32 in both cases; what multiplies is in the dtype of the backbone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from deg_model import (
    BASE_READS,
    AdapterPlan,
    Backbone,
    Checkpoint,
    LowRankAdapters,
)
from deg_train.batches import Batch
from deg_train.kinds import read_by_kind
from deg_train.passes import Adapters, Hidden, Trunk, read_batch, read_forks, read_trunk

# R adapter rank, I in, O out

__all__ = ["Group", "Trained", "TrainedAdapters", "TrainedBackbone"]

_UP_FACTOR = 2.0


@dataclass(frozen=True, slots=True)
class Group:
    """Parameters that learn at one rate.

    Attributes:
        parameters: The parameters.
        rate: Of learning, by that of the heads.
    """

    parameters: list[nn.Parameter]
    rate: float


class Trained(ABC):
    """What is trained beside the heads.

    Args:
        backbone: The stack.
        taps: The layers whose hidden states make the features of context tokens.
    """

    def __init__(self, backbone: Backbone, taps: tuple[int, ...]) -> None:
        self.backbone, self.taps = backbone, taps

    @abstractmethod
    def named(self) -> dict[str, nn.Parameter]:
        """Name what the optimizer steps, all of it in fp32."""

    @abstractmethod
    def groups(self) -> list[Group]:
        """Return the same by how fast it learns."""

    @abstractmethod
    def read(self, batch: Batch, *, recompute: bool) -> Hidden:
        """Read contexts and forks of *batch*."""

    @abstractmethod
    def read_trunk(self, batch: Batch, *, recompute: bool) -> Trunk:
        """Read the contexts of *batch*."""

    @abstractmethod
    def read_forks(self, trunk: Trunk, batch: Batch, *, recompute: bool) -> Hidden:
        """Read the forks of *batch*, which continue *trunk*."""

    @abstractmethod
    def read_base(self, batch: Batch) -> Hidden:
        """Read *batch* as the frozen base does, without a gradient."""

    @abstractmethod
    def refresh(self) -> None:
        """Bring what multiplies up to date after the parameters have changed."""

    @abstractmethod
    def parts(self) -> dict[str, Any]:
        """Return what a `Checkpoint` holds of it, by the checkpoint's attributes."""

    @abstractmethod
    def start_from(self, checkpoint: Checkpoint) -> None:
        """Take up what *checkpoint* holds of it.

        Raises:
            ValueError: The checkpoint holds something else.
        """


class TrainedAdapters(Trained):
    """Low-rank adapters over a frozen backbone.

    Where the base reads contexts, no gradient goes through them: they are read without one.

    Args:
        backbone: The frozen stack.
        taps: The layers whose hidden states make the features of context tokens.
        plan: Which adapters there are, and what each of them reads.
        rank: Of each.
    """

    def __init__(
        self, backbone: Backbone, taps: tuple[int, ...], plan: AdapterPlan, rank: int
    ) -> None:
        super().__init__(backbone, taps)
        self.plan = plan
        self.adapters = LowRankAdapters(backbone, rank, plan.names)

    def named(self) -> dict[str, nn.Parameter]:
        """Name what the optimizer steps, all of it in fp32."""
        return {f"a.{name}": each for name, each in self.adapters.named_parameters()}

    def groups(self) -> list[Group]:
        """Return the same by how fast it learns."""
        # LoRA+ (Hayou et al., 2024): the zero-initialised factor learns faster than the other
        named = self.named().items()
        raised = [each for name, each in named if name.endswith("lora_B")]
        others = [each for name, each in named if not name.endswith("lora_B")]
        return [Group(others, 1.0), Group(raised, _UP_FACTOR)]

    def read(self, batch: Batch, *, recompute: bool) -> Hidden:
        """Read contexts and forks of *batch*."""
        if self.plan.is_flat:
            pairs = self._pairs(self.plan.context)
            return read_batch(
                self.backbone, batch, taps=self.taps, adapters=pairs, recompute=recompute
            )
        trunk = self.read_trunk(batch, recompute=recompute)
        return self.read_forks(trunk, batch, recompute=recompute)

    def read_trunk(self, batch: Batch, *, recompute: bool) -> Trunk:
        """Read the contexts of *batch*."""
        pairs = self._pairs(self.plan.context)
        with torch.no_grad() if pairs is None else nullcontext():
            return read_trunk(
                self.backbone, batch, taps=self.taps, adapters=pairs, recompute=recompute
            )

    def read_forks(self, trunk: Trunk, batch: Batch, *, recompute: bool) -> Hidden:
        """Read the forks of *batch*, which continue *trunk*."""

        def read(adapter: str | None, part: Batch) -> Tensor:
            pairs = self._pairs(adapter)
            return read_forks(self.backbone, trunk, part, adapters=pairs, recompute=recompute)

        return trunk.hidden(read_by_kind(batch, self.plan.adapter_of, read))

    @torch.no_grad()
    def read_base(self, batch: Batch) -> Hidden:
        """Read *batch* as the frozen base does, without a gradient."""
        return read_batch(self.backbone, batch, taps=self.taps)

    def refresh(self) -> None:
        """Do nothing: adapters are rounded to the backbone's dtype when a batch is read."""

    def parts(self) -> dict[str, Any]:
        """Return what a `Checkpoint` holds of it, by the checkpoint's attributes."""
        tensors = self.adapters.named_tensors()
        return {"rank": self.adapters.rank, "adapters": tensors, "plan": self.plan}

    def start_from(self, checkpoint: Checkpoint) -> None:
        """Take up the adapters of *checkpoint*.

        Raises:
            ValueError: It has others, or none.
        """
        plan, rank = checkpoint.plan, checkpoint.rank
        if checkpoint.backbone is not None:
            raise ValueError(
                f"{checkpoint.model_id!r} holds a whole backbone and no adapters; say --full"
            )
        if plan != self.plan:
            raise ValueError(
                f"{checkpoint.model_id!r} has other adapters; say --adapters "
                f"{','.join(plan.names)} --lora-context {plan.context}, or start from another one"
            )
        if rank != self.adapters.rank:
            raise ValueError(
                f"{checkpoint.model_id!r} has adapters of rank {rank}; say --rank {rank}"
            )
        self.adapters.load(checkpoint.adapters)

    def _pairs(self, name: str | None) -> Adapters | None:
        if name is None or name == BASE_READS:
            return None
        return self.adapters.pairs(self.backbone.dtype, name)


class TrainedBackbone(Trained):
    """The whole backbone but its token embeddings: fp32 masters, and copies that multiply.

    Args:
        backbone: The stack to start from, whose own weights stay as they are.
        taps: The layers whose hidden states make the features of context tokens.
        rate: How fast it learns, by the heads.
    """

    def __init__(self, backbone: Backbone, taps: tuple[int, ...], rate: float) -> None:
        copies = {name: tensor.detach().clone() for name, tensor in backbone.weights().items()}
        super().__init__(backbone.with_weights(copies), taps)
        self._base, self._copies, self._rate = backbone, copies, rate
        self._masters = {
            name: nn.Parameter(tensor.to(torch.float32, copy=True))
            for name, tensor in copies.items()
        }

    def named(self) -> dict[str, nn.Parameter]:
        """Name what the optimizer steps, all of it in fp32."""
        return {f"b.{name}": master for name, master in self._masters.items()}

    def groups(self) -> list[Group]:
        """Return the same by how fast it learns."""
        return [Group(list(self._masters.values()), self._rate)]

    def read(self, batch: Batch, *, recompute: bool) -> Hidden:
        """Read contexts and forks of *batch*."""
        return read_batch(self._stack(), batch, taps=self.taps, recompute=recompute)

    def read_trunk(self, batch: Batch, *, recompute: bool) -> Trunk:
        """Read the contexts of *batch*."""
        return read_trunk(self._stack(), batch, taps=self.taps, recompute=recompute)

    def read_forks(self, trunk: Trunk, batch: Batch, *, recompute: bool) -> Hidden:
        """Read the forks of *batch*, which continue *trunk*."""
        return trunk.hidden(read_forks(self._stack(), trunk, batch, recompute=recompute))

    @torch.no_grad()
    def read_base(self, batch: Batch) -> Hidden:
        """Read *batch* as the frozen base does, without a gradient."""
        return read_batch(self._base, batch, taps=self.taps)

    @torch.no_grad()
    def refresh(self) -> None:
        """Bring what multiplies up to date after the parameters have changed."""
        for name, master in self._masters.items():
            # as a checkpoint rounds it, also where the backbone keeps a vector in fp32
            self._copies[name].copy_(master.to(self.backbone.dtype))

    def parts(self) -> dict[str, Any]:
        """Return what a `Checkpoint` holds of it, by the checkpoint's attributes."""
        copies = {name: tensor.clone() for name, tensor in self._copies.items()}
        plan = AdapterPlan((), BASE_READS)
        return {"rank": 0, "adapters": {}, "plan": plan, "backbone": copies}

    @torch.no_grad()
    def start_from(self, checkpoint: Checkpoint) -> None:
        """Take up the backbone of *checkpoint*, or its one adapter, merged.

        Raises:
            ValueError: Its adapters do not read all that the backbone does.
        """
        weights = checkpoint.backbone
        if weights is None:
            if checkpoint.plan != AdapterPlan():
                raise ValueError(
                    f"{checkpoint.model_id!r} has adapters that make no whole backbone: take one "
                    "with a shared adapter that reads contexts too, or no --init"
                )
            adapters = LowRankAdapters(self.backbone, checkpoint.rank)
            adapters.load(checkpoint.adapters)
            weights = self.backbone.merged(adapters.pairs(torch.float32)).weights()
        for name, tensor in self.backbone.with_weights(weights).weights().items():
            self._masters[name].copy_(tensor)
        self.refresh()

    def _stack(self) -> Backbone:
        return self.backbone.with_weights(
            {
                name: _standing_in(master, self._copies[name])
                for name, master in self._masters.items()
            }
        )


def _standing_in(master: Tensor, copy: Tensor) -> Tensor:
    """Return *copy*, which multiplies for *master*: its gradient goes there, in fp32."""
    result: Tensor = _StandIn.apply(master, copy)  # type: ignore[no-untyped-call]
    return result


class _StandIn(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, master: Tensor, copy: Tensor) -> Tensor:
        return copy.detach()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return grad.float(), None
