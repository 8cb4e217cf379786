"""What every family shares: an embedding, residual blocks of a mixer and a gated MLP, a norm."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from deg_kernels import packed_weight, silu
from deg_model.errors import WeightsError
from deg_model.family import Adapters, Attend, BackboneConfig, Recur
from deg_model.functional import added, linear, lora_linear, multiplied

# N flat tokens, H hidden, I inner size of the MLP, V vocabulary, D rotated size of a head
# O and I output and input features of a projection, R adapter rank

__all__ = ["Call", "Layer", "Stack", "checked_shapes", "fused"]

Layer = dict[str, Tensor]
"""One layer's tensors by their short names; projections that share an input are one matrix."""

ConfigT = TypeVar("ConfigT", bound=BackboneConfig)


@dataclass(frozen=True, slots=True)
class Call:
    """What one pass hands to every layer beside the hidden states."""

    rotation: tuple[Tensor, Tensor]
    attend: Attend
    recur: Recur | None
    adapters: Adapters | None


class Stack(ABC, Generic[ConfigT]):
    """A backbone as functions over explicit state.

    Args:
        config: The sizes.
        embedding_VH: The token embeddings.
        norm_H: The weight of the final norm.
        layers: The layers' tensors, those of the MLP named `mlp_norm`, `gate_up` and `down`, the
            norm before the mixer `mixer_norm`.
        rotary_size: How many leading values of each head are rotated.
    """

    adapted: tuple[str, ...]

    def __init__(
        self,
        config: ConfigT,
        embedding_VH: Tensor,
        norm_H: Tensor,
        layers: list[Layer],
        *,
        rotary_size: int,
    ) -> None:
        self.config = config
        self.embedding_VH, self.norm_H, self.layers = embedding_VH, norm_H, layers
        half = torch.arange(0, rotary_size, 2, dtype=torch.float32) / rotary_size
        self._frequencies = (1.0 / config.rope_theta**half).to(embedding_VH.device)

    @abstractmethod
    def mix(self, index: int, h_NH: Tensor, call: Call) -> Tensor:
        """Return what the mixer of layer *index* adds to the hidden states [N, H]."""

    @abstractmethod
    def norm(self, x_NH: Tensor, weight_H: Tensor) -> Tensor:
        """Return *x* normalised as this family does."""

    @abstractmethod
    def published_shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Name every tensor of these sizes as transformers does, with its shape."""

    @abstractmethod
    def published_parts(self, index: int) -> Mapping[str, Sequence[str]]:
        """Name the published matrices that each projection of layer *index* is made of, in turn."""

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the weights and of the hidden states."""
        return self.embedding_VH.dtype

    def adapter_shapes(self) -> dict[str, tuple[int, int]]:
        """Name every projection that takes an adapter, with its (out, in) sizes."""
        return {
            f"layers.{index}.{name}": (layer[name].shape[0], layer[name].shape[1])
            for index, layer in enumerate(self.layers)
            for name in self.adapted
            if name in layer
        }

    def adapter_parts(self) -> dict[str, dict[str, int]]:
        """Name the published matrices in each adapted projection, with the outputs of each."""
        shapes = self.published_shapes()
        return {
            f"layers.{index}.{name}": {part: shapes[f"{part}.weight"][0] for part in parts}
            for index in range(len(self.layers))
            for name, parts in self.published_parts(index).items()
        }

    def merged(self, adapters: Adapters) -> Self:
        """Return this stack with `up @ down` added to each adapted projection."""
        merged = copy(self)
        merged.layers = [dict(layer) for layer in self.layers]
        for key, (down_RI, up_OR) in adapters.items():
            _, index, name = key.split(".")
            layer = merged.layers[int(index)]
            summed_OI = torch.addmm(layer[name].float(), up_OR.float(), down_RI.float())
            layer[name] = summed_OI.to(layer[name].dtype)
        return merged

    def weights(self) -> dict[str, Tensor]:
        """Name every weight but the token embeddings: `norm`, `layers.0.qkv` and so on."""
        layers = {
            f"layers.{index}.{name}": tensor
            for index, layer in enumerate(self.layers)
            for name, tensor in layer.items()
        }
        return {"norm": self.norm_H, **layers}

    def with_weights(self, weights: Mapping[str, Tensor]) -> Self:
        """Return this stack with *weights* for its own, in its dtypes and on its device.

        Raises:
            WeightsError: A name is missing or unknown, or a shape is not this stack's.
        """
        own = self.weights()
        if odd := own.keys() ^ weights.keys():
            raise WeightsError(f"{min(odd)!r} is missing, or no weight of this stack")
        checked_shapes(weights, {name: tuple(tensor.shape) for name, tensor in own.items()})
        placed = {name: weights[name].to(own[name].device, own[name].dtype) for name in own}
        replaced = copy(self)
        replaced.norm_H = placed["norm"]
        replaced.layers = [
            {name: placed[f"layers.{index}.{name}"] for name in layer}
            for index, layer in enumerate(self.layers)
        ]
        return replaced

    def pack(self) -> None:
        """Bring every projection, in place, into the layout that `linear` multiplies fastest.

        A packed stack takes no more adapters, and its hidden states differ in their last bits from
        those of the stack it was.
        """
        for layer in self.layers:
            for name in self.adapted:
                if name in layer:
                    layer[name] = packed_weight(layer[name])

    def hidden(
        self,
        ids_N: Tensor,
        positions_N: Tensor,
        attend: Attend,
        recur: Recur | None = None,
        *,
        taps: tuple[int, ...],
        adapters: Adapters | None = None,
        recompute: bool = False,
    ) -> list[Tensor]:
        """Return the hidden states [N, H] after each layer of *taps*, the last one final-normed.

        With *recompute* the backward pass computes each layer again from its input, which is all
        that is kept of it (Chen et al., Training Deep Nets with Sublinear Memory Cost, 2016).

        Raises:
            ValueError: The stack has state layers and *recur* is not given.
        """
        if self.config.state_layers and recur is None:
            raise ValueError(f"a {self.config.family!r} stack has state layers: recur is needed")
        call = Call(self._rotation(positions_N), attend, recur, adapters)
        x_NH = F.embedding(ids_N, self.embedding_VH)
        tapped = []
        recomputes = recompute and torch.is_grad_enabled()
        for index in range(len(self.layers)):
            if recomputes:
                x_NH = checkpoint(
                    self._block, index, x_NH, call, use_reentrant=False, preserve_rng_state=False
                )
            else:
                x_NH = self._block(index, x_NH, call)
            if index + 1 in taps:
                tapped.append(x_NH)
        if len(self.layers) in taps:
            tapped[-1] = self.norm(tapped[-1], self.norm_H)
        return tapped

    def project(self, index: int, name: str, x_NI: Tensor, call: Call) -> Tensor:
        """Return projection *name* of layer *index*, with its adapter where the pass has one."""
        weight_OI = self.layers[index][name]
        if call.adapters is None:
            return linear(x_NI, weight_OI)
        return lora_linear(x_NI, weight_OI, *call.adapters[f"layers.{index}.{name}"])

    def _block(self, index: int, x_NH: Tensor, call: Call) -> Tensor:
        layer = self.layers[index]
        x_NH = added(self.mix(index, self.norm(x_NH, layer["mixer_norm"]), call), x_NH)
        return added(self._mlp(index, self.norm(x_NH, layer["mlp_norm"]), call), x_NH)

    def _mlp(self, index: int, h_NH: Tensor, call: Call) -> Tensor:
        gate_NI, up_NI = self.project(index, "gate_up", h_NH, call).chunk(2, dim=-1)
        return self.project(index, "down", multiplied(silu(gate_NI), up_NI), call)

    def _rotation(self, positions_N: Tensor) -> tuple[Tensor, Tensor]:
        angle_NC = positions_N[:, None].float() * self._frequencies
        angle_N1D = torch.cat([angle_NC, angle_NC], dim=-1)[:, None]
        return angle_N1D.cos().to(self.dtype), angle_N1D.sin().to(self.dtype)


def fused(weights: Mapping[str, Tensor], names: Sequence[str]) -> Tensor:
    """Return the matrices of *names* as one, their outputs one after another."""
    matrices = [weights[f"{name}.weight"] for name in names]
    return torch.cat(matrices) if len(matrices) > 1 else matrices[0]


def checked_shapes(
    weights: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]]
) -> Mapping[str, Tensor]:
    """Return *weights* if every tensor of *shapes* is there in that shape.

    Raises:
        KeyError: One is missing.
        WeightsError: One has another shape.
    """
    for name, shape in shapes.items():
        if tuple(weights[name].shape) != shape:
            raise WeightsError(f"{name} is {list(weights[name].shape)}, expected {list(shape)}")
    return weights
