"""The `llama` family: RMS norm, rotary attention with grouped heads, gated MLP."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from deg_model.family import Adapters, Attend, BackboneConfig
from deg_model.functional import lora_linear, rms_norm, rotate

# N flat tokens, H hidden, A attention heads, G key/value heads, D head size

__all__ = ["Llama", "config_from_hf"]


def config_from_hf(config: Mapping[str, Any]) -> BackboneConfig:
    """Read a transformers `LlamaConfig` as a dict."""
    heads = config["num_attention_heads"]
    rope = config.get("rope_parameters") or {}
    return BackboneConfig(
        family="llama",
        vocab_size=config["vocab_size"],
        hidden_size=config["hidden_size"],
        intermediate_size=config["intermediate_size"],
        num_layers=config["num_hidden_layers"],
        num_heads=heads,
        num_kv_heads=config.get("num_key_value_heads") or heads,
        head_size=config.get("head_dim") or config["hidden_size"] // heads,
        norm_eps=config["rms_norm_eps"],
        rope_theta=rope.get("rope_theta") or config.get("rope_theta") or 10000.0,
        max_positions=config["max_position_embeddings"],
    )


class Llama:
    """A Llama stack as functions over explicit state.

    Projections that share an input are fused: `qkv` and `gate_up` are one matrix each.

    Args:
        config: The sizes.
        weights: The tensors under their transformers names (`model.layers.0...`), of one dtype.
    """

    def __init__(self, config: BackboneConfig, weights: Mapping[str, Tensor]) -> None:
        self.config = config
        # copies, so that a mapped file is let go once the projections are merged with adapters
        self.embedding_VH = weights["model.embed_tokens.weight"].clone()
        self.norm_H = weights["model.norm.weight"].clone()
        self.layers = [_fuse(weights, f"model.layers.{i}") for i in range(config.num_layers)]
        half = torch.arange(0, config.head_size, 2, dtype=torch.float32) / config.head_size
        self._frequencies = 1.0 / config.rope_theta**half

    @property
    def dtype(self) -> torch.dtype:
        """The dtype of the weights and of the hidden states."""
        return self.embedding_VH.dtype

    def adapter_shapes(self) -> dict[str, tuple[int, int]]:
        """Name every projection that takes an adapter, with its (out, in) sizes."""
        return {
            f"layers.{i}.{name}": (layer[name].shape[0], layer[name].shape[1])
            for i, layer in enumerate(self.layers)
            for name in ("qkv", "o", "gate_up", "down")
        }

    def merged(self, adapters: Adapters) -> Llama:
        """Return this stack with `up @ down` added to each adapted projection."""
        merged = copy(self)
        merged.layers = [dict(layer) for layer in self.layers]
        for key, (down_RI, up_OR) in adapters.items():
            _, index, name = key.split(".")
            layer = merged.layers[int(index)]
            summed_OI = torch.addmm(layer[name].float(), up_OR.float(), down_RI.float())
            layer[name] = summed_OI.to(layer[name].dtype)
        return merged

    def hidden(
        self,
        ids_N: Tensor,
        positions_N: Tensor,
        attend: Attend,
        *,
        taps: tuple[int, ...],
        adapters: Adapters | None = None,
    ) -> list[Tensor]:
        """Return the hidden states [N, H] after each layer of *taps*, the last one final-normed."""
        config = self.config
        rotation = self._rotation(positions_N)
        x_NH = F.embedding(ids_N, self.embedding_VH)
        tapped = []
        for index, layer in enumerate(self.layers):
            h_NH = rms_norm(x_NH, layer["attention_norm"], config.norm_eps)
            x_NH = x_NH + self._attention(index, h_NH, rotation, attend, adapters)
            h_NH = rms_norm(x_NH, layer["mlp_norm"], config.norm_eps)
            x_NH = x_NH + self._mlp(index, h_NH, adapters)
            if index + 1 in taps:
                tapped.append(x_NH)
        if config.num_layers in taps:
            tapped[-1] = rms_norm(tapped[-1], self.norm_H, config.norm_eps)
        return tapped

    def _attention(
        self,
        index: int,
        h_NH: Tensor,
        rotation: tuple[Tensor, Tensor],
        attend: Attend,
        adapters: Adapters | None,
    ) -> Tensor:
        heads, kv_heads, size = (
            self.config.num_heads,
            self.config.num_kv_heads,
            self.config.head_size,
        )
        qkv_NCD = self._project(index, "qkv", h_NH, adapters).view(-1, heads + 2 * kv_heads, size)
        qk_NCD = rotate(qkv_NCD[:, : heads + kv_heads], *rotation)
        out_NAD = attend(
            index, qk_NCD[:, :heads], qk_NCD[:, heads:], qkv_NCD[:, heads + kv_heads :]
        )
        return self._project(index, "o", out_NAD.reshape(-1, heads * size), adapters)

    def _mlp(self, index: int, h_NH: Tensor, adapters: Adapters | None) -> Tensor:
        gate_NI, up_NI = self._project(index, "gate_up", h_NH, adapters).chunk(2, dim=-1)
        # in place where no gradient needs the input
        opened_NI = F.silu(gate_NI, inplace=not torch.is_grad_enabled())
        return self._project(index, "down", opened_NI * up_NI, adapters)

    def _project(self, index: int, name: str, x_NI: Tensor, adapters: Adapters | None) -> Tensor:
        weight_OI = self.layers[index][name]
        if adapters is None:
            return F.linear(x_NI, weight_OI)
        return lora_linear(x_NI, weight_OI, *adapters[f"layers.{index}.{name}"])

    def _rotation(self, positions_N: Tensor) -> tuple[Tensor, Tensor]:
        angle_NC = positions_N[:, None].float() * self._frequencies
        angle_N1D = torch.cat([angle_NC, angle_NC], dim=-1)[:, None]
        return angle_N1D.cos().to(self.dtype), angle_N1D.sin().to(self.dtype)


def _fuse(weights: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    attention, mlp = f"{prefix}.self_attn", f"{prefix}.mlp"
    return {
        "attention_norm": weights[f"{prefix}.input_layernorm.weight"].clone(),
        "mlp_norm": weights[f"{prefix}.post_attention_layernorm.weight"].clone(),
        "qkv": torch.cat([weights[f"{attention}.{name}_proj.weight"] for name in "qkv"]),
        "o": weights[f"{attention}.o_proj.weight"],
        "gate_up": torch.cat([weights[f"{mlp}.{name}_proj.weight"] for name in ("gate", "up")]),
        "down": weights[f"{mlp}.down_proj.weight"],
    }
