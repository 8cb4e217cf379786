"""The `qwen3.5` family: Gated DeltaNet layers, and every fourth layer gated attention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from deg_kernels import sigmoid, softplus
from deg_model.family import BackboneConfig
from deg_model.functional import rms_norm_centred, rms_norm_gated, rotate
from deg_model.hf_config import layers_of_type, refuse_unless, rope_theta
from deg_model.stack import Call, Layer, Stack, checked_shapes, fused

# N flat tokens, H hidden, A attention heads, G key/value heads, D head size
# B key heads and J value heads of the delta rule, K key size, V value size
# C = 2 B K + J V convolved channels, W taps

__all__ = ["Qwen35", "Qwen35Config", "config_from_hf", "weight_shapes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Qwen35Config(BackboneConfig):
    """The sizes of a Qwen3.5 text stack.

    Attributes:
        rotary_size: How many leading values of each attention head are rotated.
        num_key_heads: B of the delta rule.
        num_value_heads: J, a multiple of B.
        key_size: K.
        value_size: V.
        conv_width: W, the convolution's taps.
    """

    rotary_size: int
    num_key_heads: int
    num_value_heads: int
    key_size: int
    value_size: int
    conv_width: int

    @property
    def num_channels(self) -> int:
        """How many channels are convolved: queries, keys and values of the delta rule."""
        keys = self.num_key_heads * self.key_size
        return 2 * keys + self.num_value_heads * self.value_size

    def moment_bytes(self, item: int) -> int:
        """Return the memory of what the state layers remember, in a dtype of *item* bytes."""
        state = 4 * self.num_value_heads * self.key_size * self.value_size
        tail = item * self.num_channels * (self.conv_width - 1)
        return len(self.state_layers) * (state + tail)


def config_from_hf(config: Mapping[str, Any]) -> Qwen35Config:
    """Read a transformers `Qwen3_5TextConfig` as a dict, or a `Qwen3_5Config` around one.

    Raises:
        WeightsError: It asks for something that no published Qwen3.5 has.
    """
    config = config.get("text_config") or config
    refuse_unless(config, "hidden_act", "silu")
    refuse_unless(config, "attention_bias", False)
    num_layers, head_size = config["num_hidden_layers"], config["head_dim"]
    rope = config.get("rope_parameters") or {}
    rotated = rope.get("partial_rotary_factor") or config.get("partial_rotary_factor") or 0.25
    types = config.get("layer_types") or _layer_types(
        num_layers, config.get("full_attention_interval") or 4
    )
    return Qwen35Config(
        family="qwen3.5",
        vocab_size=config["vocab_size"],
        hidden_size=config["hidden_size"],
        intermediate_size=config["intermediate_size"],
        num_layers=num_layers,
        num_heads=config["num_attention_heads"],
        num_kv_heads=config["num_key_value_heads"],
        head_size=head_size,
        norm_eps=config["rms_norm_eps"],
        rope_theta=rope_theta(config, default=10000.0),
        max_positions=config["max_position_embeddings"],
        state_layers=layers_of_type({**config, "layer_types": types}, "linear_attention"),
        rotary_size=int(head_size * rotated),
        num_key_heads=config["linear_num_key_heads"],
        num_value_heads=config["linear_num_value_heads"],
        key_size=config["linear_key_head_dim"],
        value_size=config["linear_value_head_dim"],
        conv_width=config["linear_conv_kernel_dim"],
    )


def weight_shapes(config: Qwen35Config) -> dict[str, tuple[int, ...]]:
    """Name every tensor that a stack of these sizes takes, with its shape."""
    hidden, inner = config.hidden_size, config.intermediate_size
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (config.vocab_size, hidden),
        "model.norm.weight": (hidden,),
    }
    for index in range(config.num_layers):
        layer = f"model.layers.{index}"
        mixer = _delta_shapes if index in config.state_layers else _attention_shapes
        shapes |= {f"{layer}.{name}": shape for name, shape in mixer(config).items()}
        shapes |= {
            f"{layer}.input_layernorm.weight": (hidden,),
            f"{layer}.post_attention_layernorm.weight": (hidden,),
            f"{layer}.mlp.gate_proj.weight": (inner, hidden),
            f"{layer}.mlp.up_proj.weight": (inner, hidden),
            f"{layer}.mlp.down_proj.weight": (hidden, inner),
        }
    return shapes


class Qwen35(Stack[Qwen35Config]):
    """A Qwen3.5 text stack as functions over explicit state.

    Args:
        config: The sizes.
        weights: The tensors under their transformers names (`model.layers.0...`), of one dtype.
    """

    adapted = ("in", "qkv", "o", "gate_up", "down")

    def __init__(self, config: Qwen35Config, weights: Mapping[str, Tensor]) -> None:
        checked_shapes(weights, weight_shapes(config))
        super().__init__(
            config,
            weights["model.embed_tokens.weight"].clone(),
            weights["model.norm.weight"].clone(),
            [_layer(config, weights, index) for index in range(config.num_layers)],
            rotary_size=config.rotary_size,
        )

    def published_shapes(self) -> dict[str, tuple[int, ...]]:
        """Name every tensor of these sizes as transformers does, with its shape."""
        return weight_shapes(self.config)

    def published_parts(self, index: int) -> dict[str, list[str]]:
        """Name the published matrices that each projection of layer *index* is made of, in turn."""
        return _parts(self.config, index)

    def norm(self, x_NH: Tensor, weight_H: Tensor) -> Tensor:
        """Return *x* normalised as this family does, around a weight of zero."""
        return rms_norm_centred(x_NH, weight_H, self.config.norm_eps)

    def mix(self, index: int, h_NH: Tensor, call: Call) -> Tensor:
        """Return what the mixer of layer *index* adds to the hidden states [N, H]."""
        mixer = self._delta if index in self.config.state_layers else self._attention
        return mixer(index, h_NH, call)

    def _attention(self, index: int, h_NH: Tensor, call: Call) -> Tensor:
        config, layer = self.config, self.layers[index]
        heads, groups, size = config.num_heads, config.num_kv_heads, config.head_size
        q_end, k_end = 2 * heads * size, (2 * heads + groups) * size
        qkv_NC = self.project(index, "qkv", h_NH, call)
        # each head's query is followed by its gate
        q_gate_NAD = qkv_NC[:, :q_end].view(-1, heads, 2 * size)
        q_NAD = self.norm(q_gate_NAD[..., :size].contiguous(), layer["q_norm"])
        k_NGD = self.norm(
            qkv_NC[:, q_end:k_end].reshape(-1, groups, size).contiguous(), layer["k_norm"]
        )
        out_NAD = call.attend(
            index,
            rotate(q_NAD, *call.rotation),
            rotate(k_NGD, *call.rotation),
            qkv_NC[:, k_end:].view(-1, groups, size),
        )
        out_NAD = out_NAD * sigmoid(q_gate_NAD[..., size:])
        return self.project(index, "o", out_NAD.reshape(-1, heads * size), call)

    def _delta(self, index: int, h_NH: Tensor, call: Call) -> Tensor:
        assert call.recur is not None
        config, layer = self.config, self.layers[index]
        heads, size, keys = (
            config.num_value_heads,
            config.value_size,
            config.num_key_heads * config.key_size,
        )
        values = heads * size
        qkv_NC, z_NC, b_NJ, a_NJ = torch.split(
            self.project(index, "in", h_NH, call),
            [config.num_channels, values, heads, heads],
            dim=-1,
        )
        qkv_NC = call.recur.short_conv(index, qkv_NC, layer["conv"], silu=True)
        q_NC, k_NC, v_NC = torch.split(qkv_NC, [keys, keys, values], dim=-1)
        out_NJV = call.recur.delta_rule(
            index,
            q_NC.reshape(-1, config.num_key_heads, config.key_size),
            k_NC.reshape(-1, config.num_key_heads, config.key_size),
            v_NC.reshape(-1, heads, size),
            -layer["log_decay"].exp() * softplus(a_NJ.float() + layer["decay_bias"]),
            sigmoid(b_NJ.float()),
        )
        gate_NJV = z_NC.reshape(-1, heads, size)
        out_NJV = rms_norm_gated(out_NJV, layer["out_norm"], gate_NJV, config.norm_eps)
        return self.project(index, "o", out_NJV.reshape(-1, values), call)


def _parts(config: Qwen35Config, index: int) -> dict[str, list[str]]:
    prefix = f"model.layers.{index}"
    if index in config.state_layers:
        delta = f"{prefix}.linear_attn"
        mixer = {
            "in": [f"{delta}.in_proj_{name}" for name in ("qkv", "z", "b", "a")],
            "o": [f"{delta}.out_proj"],
        }
    else:
        attention = f"{prefix}.self_attn"
        mixer = {
            "qkv": [f"{attention}.{name}_proj" for name in "qkv"],
            "o": [f"{attention}.o_proj"],
        }
    return {
        **mixer,
        "gate_up": [f"{prefix}.mlp.gate_proj", f"{prefix}.mlp.up_proj"],
        "down": [f"{prefix}.mlp.down_proj"],
    }


def _layer(config: Qwen35Config, weights: Mapping[str, Tensor], index: int) -> Layer:
    prefix = f"model.layers.{index}"
    others = _delta_tensors if index in config.state_layers else _attention_norms
    return {
        "mixer_norm": weights[f"{prefix}.input_layernorm.weight"].clone(),
        "mlp_norm": weights[f"{prefix}.post_attention_layernorm.weight"].clone(),
        **others(weights, prefix),
        **{name: fused(weights, parts) for name, parts in _parts(config, index).items()},
    }


def _attention_norms(weights: Mapping[str, Tensor], prefix: str) -> Layer:
    attention = f"{prefix}.self_attn"
    return {
        "q_norm": weights[f"{attention}.q_norm.weight"].clone(),
        "k_norm": weights[f"{attention}.k_norm.weight"].clone(),
    }


def _delta_tensors(weights: Mapping[str, Tensor], prefix: str) -> Layer:
    delta = f"{prefix}.linear_attn"
    return {
        "conv": weights[f"{delta}.conv1d.weight"][:, 0].clone(),
        "log_decay": weights[f"{delta}.A_log"].to(torch.float32, copy=True),
        "decay_bias": weights[f"{delta}.dt_bias"].to(torch.float32, copy=True),
        "out_norm": weights[f"{delta}.norm.weight"].clone(),
    }


def _attention_shapes(config: Qwen35Config) -> dict[str, tuple[int, ...]]:
    hidden, size = config.hidden_size, config.head_size
    queries, keys = config.num_heads * size, config.num_kv_heads * size
    return {
        "self_attn.q_proj.weight": (2 * queries, hidden),
        "self_attn.k_proj.weight": (keys, hidden),
        "self_attn.v_proj.weight": (keys, hidden),
        "self_attn.o_proj.weight": (hidden, queries),
        "self_attn.q_norm.weight": (size,),
        "self_attn.k_norm.weight": (size,),
    }


def _delta_shapes(config: Qwen35Config) -> dict[str, tuple[int, ...]]:
    hidden, heads = config.hidden_size, config.num_value_heads
    values = heads * config.value_size
    return {
        "linear_attn.in_proj_qkv.weight": (config.num_channels, hidden),
        "linear_attn.in_proj_z.weight": (values, hidden),
        "linear_attn.in_proj_b.weight": (heads, hidden),
        "linear_attn.in_proj_a.weight": (heads, hidden),
        "linear_attn.conv1d.weight": (config.num_channels, 1, config.conv_width),
        "linear_attn.A_log": (heads,),
        "linear_attn.dt_bias": (heads,),
        "linear_attn.norm.weight": (config.value_size,),
        "linear_attn.out_proj.weight": (hidden, values),
    }


def _layer_types(num_layers: int, interval: int) -> list[str]:
    return [
        "full_attention" if (index + 1) % interval == 0 else "linear_attention"
        for index in range(num_layers)
    ]
