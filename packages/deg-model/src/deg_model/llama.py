"""The `llama` family: RMS norm, rotary attention with grouped heads, gated MLP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from deg_model.family import BackboneConfig
from deg_model.functional import rms_norm, rotate
from deg_model.hf_config import rope_theta
from deg_model.stack import Call, Layer, Stack, checked_shapes, fused

# N flat tokens, H hidden, C heads, A attention heads, D head size

__all__ = ["Llama", "config_from_hf", "weight_shapes"]


def config_from_hf(config: Mapping[str, Any]) -> BackboneConfig:
    """Read a transformers `LlamaConfig` as a dict."""
    heads = config["num_attention_heads"]
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
        rope_theta=rope_theta(config, default=10000.0),
        max_positions=config["max_position_embeddings"],
    )


def weight_shapes(config: BackboneConfig) -> dict[str, tuple[int, ...]]:
    """Name every tensor that a stack of these sizes takes, with its shape."""
    hidden, inner = config.hidden_size, config.intermediate_size
    queries, keys = config.num_heads * config.head_size, config.num_kv_heads * config.head_size
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (config.vocab_size, hidden),
        "model.norm.weight": (hidden,),
    }
    for index in range(config.num_layers):
        layer = f"model.layers.{index}"
        shapes |= {
            f"{layer}.input_layernorm.weight": (hidden,),
            f"{layer}.post_attention_layernorm.weight": (hidden,),
            f"{layer}.self_attn.q_proj.weight": (queries, hidden),
            f"{layer}.self_attn.k_proj.weight": (keys, hidden),
            f"{layer}.self_attn.v_proj.weight": (keys, hidden),
            f"{layer}.self_attn.o_proj.weight": (hidden, queries),
            f"{layer}.mlp.gate_proj.weight": (inner, hidden),
            f"{layer}.mlp.up_proj.weight": (inner, hidden),
            f"{layer}.mlp.down_proj.weight": (hidden, inner),
        }
    return shapes


class Llama(Stack[BackboneConfig]):
    """A Llama stack as functions over explicit state.

    Args:
        config: The sizes.
        weights: The tensors under their transformers names (`model.layers.0...`), of one dtype.
    """

    adapted = ("qkv", "o", "gate_up", "down")

    def __init__(self, config: BackboneConfig, weights: Mapping[str, Tensor]) -> None:
        checked_shapes(weights, weight_shapes(config))
        # copies, so that a mapped file is let go once the projections are merged with adapters
        super().__init__(
            config,
            weights["model.embed_tokens.weight"].clone(),
            weights["model.norm.weight"].clone(),
            [_layer(weights, index) for index in range(config.num_layers)],
            rotary_size=config.head_size,
        )

    def published_shapes(self) -> dict[str, tuple[int, ...]]:
        """Name every tensor of these sizes as transformers does, with its shape."""
        return weight_shapes(self.config)

    def published_parts(self, index: int) -> dict[str, list[str]]:
        """Name the published matrices that each projection of layer *index* is made of, in turn."""
        return _parts(index)

    def norm(self, x_NH: Tensor, weight_H: Tensor) -> Tensor:
        """Return *x* normalised as this family does."""
        return rms_norm(x_NH, weight_H, self.config.norm_eps)

    def mix(self, index: int, h_NH: Tensor, call: Call) -> Tensor:
        """Return what the mixer of layer *index* adds to the hidden states [N, H]."""
        heads, groups, size = (
            self.config.num_heads,
            self.config.num_kv_heads,
            self.config.head_size,
        )
        qkv_NCD = self.project(index, "qkv", h_NH, call).view(-1, heads + 2 * groups, size)
        qk_NCD = rotate(qkv_NCD[:, : heads + groups], *call.rotation)
        out_NAD = call.attend(
            index, qk_NCD[:, :heads], qk_NCD[:, heads:], qkv_NCD[:, heads + groups :]
        )
        return self.project(index, "o", out_NAD.reshape(-1, heads * size), call)


def _parts(index: int) -> dict[str, list[str]]:
    attention, mlp = f"model.layers.{index}.self_attn", f"model.layers.{index}.mlp"
    return {
        "qkv": [f"{attention}.{name}_proj" for name in "qkv"],
        "o": [f"{attention}.o_proj"],
        "gate_up": [f"{mlp}.gate_proj", f"{mlp}.up_proj"],
        "down": [f"{mlp}.down_proj"],
    }


def _layer(weights: Mapping[str, Tensor], index: int) -> Layer:
    prefix = f"model.layers.{index}"
    return {
        "mixer_norm": weights[f"{prefix}.input_layernorm.weight"].clone(),
        "mlp_norm": weights[f"{prefix}.post_attention_layernorm.weight"].clone(),
        **{name: fused(weights, parts) for name, parts in _parts(index).items()},
    }
