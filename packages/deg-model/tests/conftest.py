"""Tiny seeded models and a tiny tokenizer, made anew in every session."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tokenizers
import torch
from tokenizers import decoders, models, pre_tokenizers, trainers
from torch import Tensor

from deg_model import BackboneConfig, DegModel, Heads, Llama, Tokenizer, default_taps


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def inner_tokenizer() -> tokenizers.Tokenizer:
    inner = tokenizers.Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator(["the quick brown fox jumps, naïve — 東京 東京 €€"] * 2, trainer)
    return inner


@pytest.fixture(scope="session")
def tokenizer(inner_tokenizer: tokenizers.Tokenizer) -> Tokenizer:
    return Tokenizer(inner_tokenizer)


@pytest.fixture(scope="session")
def make_weights() -> Callable[[BackboneConfig], dict[str, Tensor]]:
    def make(config: BackboneConfig) -> dict[str, Tensor]:
        generator = torch.Generator().manual_seed(0)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator) / shape[-1] ** 0.5

        hidden, inner = config.hidden_size, config.intermediate_size
        queries = config.num_heads * config.head_size
        keys = config.num_kv_heads * config.head_size
        weights = {
            "model.embed_tokens.weight": torch.randn(
                config.vocab_size, hidden, generator=generator
            ),
            "model.norm.weight": 1 + 0.1 * normal(hidden),
        }
        for index in range(config.num_layers):
            layer = f"model.layers.{index}"
            weights |= {
                f"{layer}.input_layernorm.weight": 1 + 0.1 * normal(hidden),
                f"{layer}.post_attention_layernorm.weight": 1 + 0.1 * normal(hidden),
                f"{layer}.self_attn.q_proj.weight": normal(queries, hidden),
                f"{layer}.self_attn.k_proj.weight": normal(keys, hidden),
                f"{layer}.self_attn.v_proj.weight": normal(keys, hidden),
                f"{layer}.self_attn.o_proj.weight": normal(hidden, queries),
                f"{layer}.mlp.gate_proj.weight": normal(inner, hidden),
                f"{layer}.mlp.up_proj.weight": normal(inner, hidden),
                f"{layer}.mlp.down_proj.weight": normal(hidden, inner),
            }
        return weights

    return make


@pytest.fixture(scope="session")
def make_llama(
    make_weights: Callable[[BackboneConfig], dict[str, Tensor]],
) -> Callable[..., Llama]:
    def make(
        *,
        hidden: int = 64,
        layers: int = 3,
        heads: int = 4,
        max_positions: int = 512,
        dtype: torch.dtype = torch.float32,
    ) -> Llama:
        config = BackboneConfig(
            family="llama",
            vocab_size=300,
            hidden_size=hidden,
            intermediate_size=2 * hidden,
            num_layers=layers,
            num_heads=heads,
            num_kv_heads=max(heads // 2, 1),
            head_size=hidden // heads,
            norm_eps=1e-5,
            rope_theta=10000.0,
            max_positions=max_positions,
        )
        return Llama(config, {k: t.to(dtype) for k, t in make_weights(config).items()})

    return make


@pytest.fixture(scope="session")
def make_model(make_llama: Callable[..., Llama], tokenizer: Tokenizer) -> Callable[..., DegModel]:
    def make(**sizes: object) -> DegModel:
        llama = make_llama(**sizes)
        hidden = llama.config.hidden_size
        taps = default_taps(llama.config.num_layers)
        torch.manual_seed(1)
        heads = Heads(hidden, hidden * len(taps))
        torch.nn.init.normal_(heads.extract.distance_bias)
        heads.temperatures.copy_(torch.tensor([1.1, 0.9, 1.3, 0.8]))
        return DegModel(llama, heads, tokenizer, taps=taps, model_id="tiny")

    return make
