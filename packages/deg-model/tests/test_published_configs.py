"""The published sizes: read from transformers' own configuration classes, built without memory."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from deg_model import FAMILIES, Backbone, Heads, LowRankAdapters, default_taps, lfm2, qwen35

# the text part of each published config.json
QWEN35 = {
    "model_type": "qwen3_5_text",
    "vocab_size": 248320,
    "num_hidden_layers": 24,
    "layer_types": ["linear_attention"] * 3 + ["full_attention"],
    "full_attention_interval": 4,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "attn_output_gate": True,
    "attention_bias": False,
    "hidden_act": "silu",
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 16,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4,
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 262144,
    "tie_word_embeddings": True,
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 10000000,
        "partial_rotary_factor": 0.25,
        "mrope_section": [11, 11, 10],
        "mrope_interleaved": True,
    },
}
QWEN35["layer_types"] = QWEN35["layer_types"] * 6
SMALL = QWEN35 | {"hidden_size": 1024, "intermediate_size": 3584}
LARGE = QWEN35 | {"hidden_size": 2048, "intermediate_size": 6144}
LFM25 = {
    "model_type": "lfm2",
    "vocab_size": 65536,
    "hidden_size": 2048,
    "intermediate_size": 12288,
    "block_auto_adjust_ff_dim": True,
    "block_ffn_dim_multiplier": 1.0,
    "block_multiple_of": 256,
    "num_hidden_layers": 16,
    "full_attn_idxs": [2, 5, 8, 10, 12, 14],
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "conv_L_cache": 3,
    "conv_bias": False,
    "norm_eps": 1e-5,
    "max_position_embeddings": 128000,
    "tie_word_embeddings": True,
    "rope_theta": 1000000.0,
}
PUBLISHED = [
    ("qwen3.5", transformers.Qwen3_5TextConfig, SMALL, 752_393_024),
    ("qwen3.5", transformers.Qwen3_5TextConfig, LARGE, 1_881_825_088),
    ("lfm2", transformers.Lfm2Config, LFM25, 1_170_340_608),
]
IDS = ["Qwen3.5-0.8B", "Qwen3.5-2B", "LFM2.5-1.2B"]
MODULES = {"qwen3.5": qwen35, "lfm2": lfm2}
MODELS = {"qwen3.5": transformers.Qwen3_5ForCausalLM, "lfm2": transformers.Lfm2ForCausalLM}


def on_meta(family: str, config: dict[str, Any]) -> tuple[Backbone, dict[str, Tensor]]:
    module = MODULES[family]
    shapes = module.weight_shapes(module.config_from_hf(config))
    weights = {name: torch.empty(shape, device="meta") for name, shape in shapes.items()}
    return FAMILIES[family](config, weights), weights


@pytest.mark.parametrize(("family", "kind", "config", "expected"), PUBLISHED, ids=IDS)
def test_a_published_size_builds_with_its_parameters(
    family: str, kind: type[transformers.PreTrainedConfig], config: dict[str, Any], expected: int
) -> None:
    backbone, weights = on_meta(family, kind(**config).to_dict())
    assert sum(weight.numel() for weight in weights.values()) == expected
    layers = sum(t.numel() for layer in backbone.layers for t in layer.values())
    assert layers + backbone.embedding_VH.numel() + backbone.norm_H.numel() == expected
    assert backbone.config == MODULES[family].config_from_hf(config)


@pytest.mark.parametrize(("family", "kind", "config", "expected"), PUBLISHED, ids=IDS)
def test_transformers_builds_the_same_tensors(
    family: str, kind: type[transformers.PreTrainedConfig], config: dict[str, Any], expected: int
) -> None:
    with torch.device("meta"):
        model = MODELS[family](kind(**config))
    found = {name: t.shape for name, t in model.state_dict().items() if name != "lm_head.weight"}
    _, weights = on_meta(family, config)
    assert found == {name: weight.shape for name, weight in weights.items()}


@pytest.mark.parametrize(("family", "kind", "config", "expected"), PUBLISHED, ids=IDS)
def test_heads_and_adapters_follow_the_sizes(
    family: str, kind: type[transformers.PreTrainedConfig], config: dict[str, Any], expected: int
) -> None:
    backbone, _ = on_meta(family, config)
    hidden, taps = backbone.config.hidden_size, default_taps(backbone.config.num_layers)
    with torch.device("meta"):
        heads = Heads(hidden, hidden * len(taps))
        adapters = LowRankAdapters(backbone, rank=8)
    assert heads.choice.query.weight.shape == (256, hidden)
    assert heads.extract.start_key.weight.shape == (256, 3 * hidden)
    pairs = adapters.pairs(torch.float32)
    assert len(pairs) == 4 * backbone.config.num_layers
    assert pairs["layers.0.in"][0].shape == (8, hidden)


def test_the_sizes_of_qwen35_08b() -> None:
    config = qwen35.config_from_hf(SMALL)
    assert (config.rotary_size, config.num_channels, config.rope_theta) == (64, 6144, 1e7)
    assert config.state_layers == {index for index in range(24) if index % 4 != 3}
    attention_layers = config.num_layers - len(config.state_layers)
    # bytes of keys and values a token in bf16, and of a row's states in fp32
    assert 2 * 2 * attention_layers * config.num_kv_heads * config.head_size == 12_288
    states = config.num_value_heads * config.key_size * config.value_size
    assert 4 * len(config.state_layers) * states == 18_874_368


def test_the_sizes_of_lfm25() -> None:
    config = lfm2.config_from_hf(LFM25)
    assert (config.intermediate_size, config.head_size, config.conv_width) == (8192, 64, 3)
    assert len(config.state_layers) == 10
    attention_layers = config.num_layers - len(config.state_layers)
    assert 2 * 2 * attention_layers * config.num_kv_heads * config.head_size == 12_288


def test_the_text_part_of_a_whole_configuration_is_read() -> None:
    whole = transformers.Qwen3_5Config(text_config=SMALL).to_dict()
    assert qwen35.config_from_hf(whole) == qwen35.config_from_hf(SMALL)


def test_layer_types_follow_from_the_interval_where_they_are_not_listed() -> None:
    config = {name: value for name, value in SMALL.items() if name != "layer_types"}
    assert qwen35.config_from_hf(config) == qwen35.config_from_hf(SMALL)
