from __future__ import annotations

from typing import Any

import pytest

from deg_model import WeightsError, lfm2, llama, qwen35

LLAMA: dict[str, Any] = {
    "vocab_size": 300,
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-5,
}
QWEN35 = LLAMA | {
    "head_dim": 16,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
    "linear_conv_kernel_dim": 4,
    "layer_types": ["linear_attention", "full_attention"],
}
LFM2 = LLAMA | {"norm_eps": 1e-5, "conv_L_cache": 3, "layer_types": ["conv", "full_attention"]}


@pytest.mark.parametrize(
    ("read", "config", "changes", "problem"),
    [
        (llama, LLAMA, {"rope_scaling": {"rope_type": "llama3"}}, "rope_type 'llama3'"),
        (qwen35, QWEN35, {"rope_parameters": {"rope_type": "yarn"}}, "rope_type 'yarn'"),
        (qwen35, QWEN35, {"hidden_act": "gelu"}, "hidden_act 'gelu'"),
        (qwen35, QWEN35, {"attention_bias": True}, "attention_bias True"),
        (qwen35, QWEN35, {"layer_types": ["mamba", "full_attention"]}, "mamba"),
        (qwen35, QWEN35, {"layer_types": ["full_attention"]}, "1 entries for 2 layers"),
        (lfm2, LFM2, {"conv_bias": True}, "conv_bias True"),
        (lfm2, LFM2, {"layer_types": ["sliding_attention", "conv"]}, "sliding_attention"),
    ],
)
def test_what_no_family_runs_is_refused(
    read: Any, config: dict[str, Any], changes: dict[str, Any], problem: str
) -> None:
    read.config_from_hf(config)
    with pytest.raises(WeightsError, match=problem):
        read.config_from_hf(config | changes)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 256),
        ({"block_auto_adjust_ff_dim": False}, 160),
        ({"block_multiple_of": 16}, 112),
        ({"block_multiple_of": 1, "block_ffn_dim_multiplier": 0.5}, 53),
        ({"block_ff_dim": 600, "block_multiple_of": 1}, 400),
    ],
)
def test_the_inner_size_of_lfm2_is_adjusted(changes: dict[str, Any], expected: int) -> None:
    sizes = LFM2 | {"block_multiple_of": 256} | changes
    assert lfm2.config_from_hf(sizes).intermediate_size == expected


def test_a_stack_of_lfm2_attends_everywhere_unless_told_otherwise() -> None:
    config = {name: value for name, value in LFM2.items() if name != "layer_types"}
    assert lfm2.config_from_hf(config).state_layers == frozenset()
    assert lfm2.config_from_hf(config | {"full_attn_idxs": [1]}).state_layers == {0}
