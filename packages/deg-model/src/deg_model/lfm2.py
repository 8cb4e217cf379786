"""The `lfm2` family: gated short convolutions, and here and there grouped attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from deg_model.family import BackboneConfig
from deg_model.functional import rms_norm, rotate
from deg_model.hf_config import layers_of_type, refuse_unless, rope_theta
from deg_model.stack import Call, Layer, Stack, checked_shapes, fused

# N flat tokens, H hidden, A attention heads, G key/value heads, D head size, W taps

__all__ = ["Lfm2", "Lfm2Config", "config_from_hf", "weight_shapes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lfm2Config(BackboneConfig):
    """The sizes of an LFM2 stack.

    Attributes:
        conv_width: W, the convolution's taps.
    """

    conv_width: int

    def moment_bytes(self, item: int) -> int:
        """Return the memory of what the state layers remember, in a dtype of *item* bytes."""
        return len(self.state_layers) * item * self.hidden_size * (self.conv_width - 1)


def config_from_hf(config: Mapping[str, Any]) -> Lfm2Config:
    """Read a transformers `Lfm2Config` as a dict.

    Raises:
        WeightsError: It asks for something that no published LFM2 has.
    """
    refuse_unless(config, "conv_bias", False)
    heads = config["num_attention_heads"]
    return Lfm2Config(
        family="lfm2",
        vocab_size=config["vocab_size"],
        hidden_size=config["hidden_size"],
        intermediate_size=_inner_size(config),
        num_layers=config["num_hidden_layers"],
        num_heads=heads,
        num_kv_heads=config["num_key_value_heads"],
        head_size=config.get("head_dim") or config["hidden_size"] // heads,
        norm_eps=config["norm_eps"],
        rope_theta=rope_theta(config, default=1000000.0),
        max_positions=config["max_position_embeddings"],
        state_layers=layers_of_type({**config, "layer_types": _layer_types(config)}, "conv"),
        conv_width=config["conv_L_cache"],
    )


def weight_shapes(config: Lfm2Config) -> dict[str, tuple[int, ...]]:
    """Name every tensor that a stack of these sizes takes, with its shape."""
    hidden, inner = config.hidden_size, config.intermediate_size
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (config.vocab_size, hidden),
        "model.embedding_norm.weight": (hidden,),
    }
    for index in range(config.num_layers):
        layer = f"model.layers.{index}"
        mixer = _conv_shapes if index in config.state_layers else _attention_shapes
        shapes |= {f"{layer}.{name}": shape for name, shape in mixer(config).items()}
        shapes |= {
            f"{layer}.operator_norm.weight": (hidden,),
            f"{layer}.ffn_norm.weight": (hidden,),
            f"{layer}.feed_forward.w1.weight": (inner, hidden),
            f"{layer}.feed_forward.w3.weight": (inner, hidden),
            f"{layer}.feed_forward.w2.weight": (hidden, inner),
        }
    return shapes


class Lfm2(Stack[Lfm2Config]):
    """An LFM2 stack as functions over explicit state.

    Args:
        config: The sizes.
        weights: The tensors under their transformers names (`model.layers.0...`), of one dtype.
    """

    adapted = ("in", "qkv", "o", "gate_up", "down")

    def __init__(self, config: Lfm2Config, weights: Mapping[str, Tensor]) -> None:
        checked_shapes(weights, weight_shapes(config))
        super().__init__(
            config,
            weights["model.embed_tokens.weight"].clone(),
            weights["model.embedding_norm.weight"].clone(),
            [_layer(config, weights, index) for index in range(config.num_layers)],
            rotary_size=config.head_size,
        )

    def published_shapes(self) -> dict[str, tuple[int, ...]]:
        """Name every tensor of these sizes as transformers does, with its shape."""
        return weight_shapes(self.config)

    def published_parts(self, index: int) -> dict[str, list[str]]:
        """Name the published matrices that each projection of layer *index* is made of, in turn."""
        return _parts(self.config, index)

    def norm(self, x_NH: Tensor, weight_H: Tensor) -> Tensor:
        """Return *x* normalised as this family does."""
        return rms_norm(x_NH, weight_H, self.config.norm_eps)

    def mix(self, index: int, h_NH: Tensor, call: Call) -> Tensor:
        """Return what the mixer of layer *index* adds to the hidden states [N, H]."""
        mixer = self._conv if index in self.config.state_layers else self._attention
        return mixer(index, h_NH, call)

    def _attention(self, index: int, h_NH: Tensor, call: Call) -> Tensor:
        config, layer = self.config, self.layers[index]
        heads, groups, size = config.num_heads, config.num_kv_heads, config.head_size
        q_NC, k_NC, v_NC = torch.split(
            self.project(index, "qkv", h_NH, call),
            [heads * size, groups * size, groups * size],
            dim=-1,
        )
        q_NAD = self.norm(q_NC.reshape(-1, heads, size).contiguous(), layer["q_norm"])
        k_NGD = self.norm(k_NC.reshape(-1, groups, size).contiguous(), layer["k_norm"])
        out_NAD = call.attend(
            index,
            rotate(q_NAD, *call.rotation),
            rotate(k_NGD, *call.rotation),
            v_NC.view(-1, groups, size),
        )
        return self.project(index, "o", out_NAD.reshape(-1, heads * size), call)

    def _conv(self, index: int, h_NH: Tensor, call: Call) -> Tensor:
        assert call.recur is not None
        before_NH, after_NH, x_NH = self.project(index, "in", h_NH, call).chunk(3, dim=-1)
        y_NH = call.recur.short_conv(
            index, before_NH * x_NH, self.layers[index]["conv"], silu=False
        )
        return self.project(index, "o", after_NH * y_NH, call)


def _parts(config: Lfm2Config, index: int) -> dict[str, list[str]]:
    prefix = f"model.layers.{index}"
    if index in config.state_layers:
        conv = f"{prefix}.conv"
        mixer = {"in": [f"{conv}.in_proj"], "o": [f"{conv}.out_proj"]}
    else:
        attention = f"{prefix}.self_attn"
        mixer = {
            "qkv": [f"{attention}.{name}_proj" for name in "qkv"],
            "o": [f"{attention}.out_proj"],
        }
    return {
        **mixer,
        "gate_up": [f"{prefix}.feed_forward.w1", f"{prefix}.feed_forward.w3"],
        "down": [f"{prefix}.feed_forward.w2"],
    }


def _layer(config: Lfm2Config, weights: Mapping[str, Tensor], index: int) -> Layer:
    prefix = f"model.layers.{index}"
    others = _conv_weight if index in config.state_layers else _attention_norms
    return {
        "mixer_norm": weights[f"{prefix}.operator_norm.weight"].clone(),
        "mlp_norm": weights[f"{prefix}.ffn_norm.weight"].clone(),
        **others(weights, prefix),
        **{name: fused(weights, parts) for name, parts in _parts(config, index).items()},
    }


def _attention_norms(weights: Mapping[str, Tensor], prefix: str) -> Layer:
    attention = f"{prefix}.self_attn"
    return {
        "q_norm": weights[f"{attention}.q_layernorm.weight"].clone(),
        "k_norm": weights[f"{attention}.k_layernorm.weight"].clone(),
    }


def _conv_weight(weights: Mapping[str, Tensor], prefix: str) -> Layer:
    return {"conv": weights[f"{prefix}.conv.conv.weight"][:, 0].clone()}


def _attention_shapes(config: Lfm2Config) -> dict[str, tuple[int, ...]]:
    hidden, size = config.hidden_size, config.head_size
    queries, keys = config.num_heads * size, config.num_kv_heads * size
    return {
        "self_attn.q_proj.weight": (queries, hidden),
        "self_attn.k_proj.weight": (keys, hidden),
        "self_attn.v_proj.weight": (keys, hidden),
        "self_attn.out_proj.weight": (hidden, queries),
        "self_attn.q_layernorm.weight": (size,),
        "self_attn.k_layernorm.weight": (size,),
    }


def _conv_shapes(config: Lfm2Config) -> dict[str, tuple[int, ...]]:
    hidden = config.hidden_size
    return {
        "conv.in_proj.weight": (3 * hidden, hidden),
        "conv.conv.weight": (hidden, 1, config.conv_width),
        "conv.out_proj.weight": (hidden, hidden),
    }


def _layer_types(config: Mapping[str, Any]) -> list[str]:
    if config.get("layer_types"):
        return list(config["layer_types"])
    attends = config.get("full_attn_idxs")
    layers = range(config["num_hidden_layers"])
    return ["full_attention" if attends is None or i in attends else "conv" for i in layers]


def _inner_size(config: Mapping[str, Any]) -> int:
    # the published size is that of an ungated MLP, which a gated one of as many weights undercuts
    inner = int(config.get("block_ff_dim") or config["intermediate_size"])
    if not config.get("block_auto_adjust_ff_dim", True):
        return inner
    multiple = int(config.get("block_multiple_of") or 1)
    inner = int((config.get("block_ffn_dim_multiplier") or 1.0) * int(2 * inner / 3))
    return -(-inner // multiple) * multiple
