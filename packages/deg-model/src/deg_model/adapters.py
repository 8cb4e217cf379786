"""Low-rank adapters (LoRA, Hu et al., 2021) over a frozen backbone."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from deg_model.family import Backbone

__all__ = ["LowRankAdapters"]


class LowRankAdapters(nn.Module):
    """One low-rank pair for every adapted projection, stored as `<projection>.lora_A` and `lora_B`.

    The scale alpha / rank is 1. `lora_B` starts at zero, so that a fresh adapter changes nothing.

    Args:
        backbone: Names the projections and their sizes.
        rank: The rank of each pair.
    """

    def __init__(self, backbone: Backbone, rank: int) -> None:
        super().__init__()
        self.rank = rank
        self._shapes = backbone.adapter_shapes()
        for name, (num_out, num_in) in self._shapes.items():
            pair = nn.Module()
            pair.lora_A = nn.Parameter(torch.empty(rank, num_in))
            pair.lora_B = nn.Parameter(torch.zeros(num_out, rank))
            nn.init.uniform_(pair.lora_A, -1 / math.sqrt(num_in), 1 / math.sqrt(num_in))
            self.add_module(name.replace(".", "/"), pair)

    def pairs(self, dtype: torch.dtype) -> dict[str, tuple[Tensor, Tensor]]:
        """Return `(down, up)` of each projection in *dtype*, as a family takes them."""
        return {
            name: (pair.lora_A.to(dtype), pair.lora_B.to(dtype))
            for name, pair in ((n, getattr(self, n.replace(".", "/"))) for n in self._shapes)
        }

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
