"""Low-rank adapters (LoRA, Hu et al., 2021) over a frozen backbone (contract 12.7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from deg_model.family import Backbone

__all__ = ["BASE_READS", "DECIDE_HEADS", "FORK_HEADS", "SHARED", "AdapterPlan", "LowRankAdapters"]

BASE_READS = "base"
"""What `AdapterPlan.context` says where no adapter reads contexts."""

SHARED = "shared"
"""The adapter that reads every fork, where there is but one."""

DECIDE_HEADS = ("choice", "score", "noul")
"""The heads that choose among outcomes."""

FORK_HEADS = (*DECIDE_HEADS, "extract", "count", "anchor")
"""The heads that answer forks."""

_BY_KIND = ("decide", "extract")


@dataclass(frozen=True, slots=True)
class AdapterPlan:
    """Which adapters there are, and what each of them reads.

    Attributes:
        names: `shared`, or `decide` and `extract` for forks by their kind; none where the backbone
            itself was trained.
        context: The adapter that reads contexts too, or `base` where the weights alone do and every
            fork continues that.

    Raises:
        ValueError: There are no such adapters, or none of them is to read contexts.
    """

    names: tuple[str, ...] = (SHARED,)
    context: str = SHARED

    def __post_init__(self) -> None:
        if self.names not in ((), (SHARED,), _BY_KIND):
            raise ValueError(f"no adapters {','.join(self.names)!r}: say shared or decide,extract")
        if self.context not in (BASE_READS, *self.names):
            known = ", ".join(map(repr, (BASE_READS, *self.names)))
            raise ValueError(f"no adapter {self.context!r} to read contexts: take one of {known}")

    @property
    def is_flat(self) -> bool:
        """Whether contexts and forks are read by the same weights."""
        return self.names in ((), (self.context,))

    def adapter_of(self, head: str) -> str | None:
        """Return the adapter that reads the forks of *head*; None where there are none."""
        if self.names == _BY_KIND:
            return "decide" if head in DECIDE_HEADS else "extract"
        return self.names[0] if self.names else None


class LowRankAdapters(nn.Module):
    """One low-rank pair for every adapted projection of each adapter.

    Pairs are stored as `<adapter>.<projection>.lora_A` and `lora_B`, those of the adapter `shared`
    without its name. The scale alpha / rank is 1. `lora_B` starts at zero, so that a fresh adapter
    changes nothing.

    Args:
        backbone: Names the projections and their sizes.
        rank: The rank of each pair.
        names: The adapters.
    """

    def __init__(self, backbone: Backbone, rank: int, names: Sequence[str] = (SHARED,)) -> None:
        super().__init__()
        self.rank, self.names = rank, tuple(names)
        self._shapes = backbone.adapter_shapes()
        for adapter in self.names:
            for name, (num_out, num_in) in self._shapes.items():
                pair = nn.Module()
                pair.lora_A = nn.Parameter(torch.empty(rank, num_in))
                pair.lora_B = nn.Parameter(torch.zeros(num_out, rank))
                nn.init.uniform_(pair.lora_A, -1 / math.sqrt(num_in), 1 / math.sqrt(num_in))
                self.add_module(_module_name(adapter, name), pair)

    def pairs(self, dtype: torch.dtype, name: str = SHARED) -> dict[str, tuple[Tensor, Tensor]]:
        """Return `(down, up)` of each projection in *dtype*, as a family takes them.

        Args:
            dtype: Of the backbone.
            name: The adapter.
        """
        modules = ((each, getattr(self, _module_name(name, each))) for each in self._shapes)
        return {each: (pair.lora_A.to(dtype), pair.lora_B.to(dtype)) for each, pair in modules}

    def named_tensors(self) -> dict[str, Tensor]:
        """Return every tensor under the name that a checkpoint stores it by."""
        return {name.replace("/", "."): tensor for name, tensor in self.state_dict().items()}

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Take the tensors of a checkpoint.

        Raises:
            RuntimeError: A name is missing or unknown, or a shape is not this backbone's.
        """
        named = {name: name.rsplit(".", 1) for name in tensors}
        self.load_state_dict(
            {f"{head.replace('.', '/')}.{leaf}": tensors[n] for n, (head, leaf) in named.items()}
        )


def _module_name(adapter: str, projection: str) -> str:
    name = projection if adapter == SHARED else f"{adapter}.{projection}"
    return name.replace(".", "/")
