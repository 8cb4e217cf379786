"""Tiny seeded models and a tiny tokenizer, made anew in every session."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import tokenizers
import torch
from torch import Tensor

from deg_model import (
    CHATS,
    Backbone,
    BackboneConfig,
    DegModel,
    Heads,
    Lfm2,
    Lfm2Config,
    Llama,
    Qwen35,
    Qwen35Config,
    Tokenizer,
    default_taps,
    lfm2,
    llama,
    qwen35,
)


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def inner_tokenizer(make_bpe: Callable[..., tokenizers.Tokenizer]) -> tokenizers.Tokenizer:
    texts = ["the quick brown fox jumps, naïve — 東京 東京 €€"]
    return make_bpe(texts, size=300, special=["<|im_start|>", "<|im_end|>", "<|startoftext|>"])


@pytest.fixture(scope="session")
def tokenizer(inner_tokenizer: tokenizers.Tokenizer) -> Tokenizer:
    return Tokenizer(inner_tokenizer)


@pytest.fixture(scope="session")
def make_weights() -> Callable[[BackboneConfig], dict[str, Tensor]]:
    def make(config: BackboneConfig) -> dict[str, Tensor]:
        generator = torch.Generator().manual_seed(0)

        def draw(name: str, shape: tuple[int, ...]) -> Tensor:
            values = torch.randn(*shape, generator=generator)
            if "embed" in name:
                return values
            if "norm" in name:
                # these scale around one, save where the family adds the one itself
                centred = config.family == "qwen3.5" and "linear_attn" not in name
                return 0.1 * values if centred else 1 + 0.1 * values
            return values / shape[-1] ** 0.5

        return {name: draw(name, shape) for name, shape in _shapes(config).items()}

    return make


def _shapes(config: BackboneConfig) -> dict[str, tuple[int, ...]]:
    if isinstance(config, Qwen35Config):
        return qwen35.weight_shapes(config)
    if isinstance(config, Lfm2Config):
        return lfm2.weight_shapes(config)
    return llama.weight_shapes(config)


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
def make_backbone(
    make_weights: Callable[[BackboneConfig], dict[str, Tensor]],
) -> Callable[..., Backbone]:
    """Return a tiny stack of any family: four layers, one or more of each kind."""

    def make(family: str, *, hidden: int = 64, dtype: torch.dtype = torch.float32) -> Backbone:
        sizes = {
            "family": family,
            "vocab_size": 300,
            "hidden_size": hidden,
            "intermediate_size": 2 * hidden,
            "num_layers": 4,
            "num_heads": 4,
            "num_kv_heads": 2,
            "head_size": 64,
            "norm_eps": 1e-5,
            "rope_theta": 10000.0,
            "max_positions": 512,
        }
        config = _config(family, sizes)
        weights = {name: t.to(dtype) for name, t in make_weights(config).items()}
        if isinstance(config, Qwen35Config):
            return Qwen35(config, weights)
        return Lfm2(config, weights) if isinstance(config, Lfm2Config) else Llama(config, weights)

    return make


def _config(family: str, sizes: dict[str, object]) -> BackboneConfig:
    if family == "qwen3.5":
        return Qwen35Config(
            **sizes,
            state_layers=frozenset({0, 1, 2}),
            rotary_size=16,
            num_key_heads=2,
            num_value_heads=4,
            key_size=32,
            value_size=32,
            conv_width=4,
        )
    if family == "lfm2":
        return Lfm2Config(**sizes, state_layers=frozenset({0, 1, 3}), conv_width=3)
    return BackboneConfig(**sizes)


@pytest.fixture(scope="session")
def make_model(
    make_llama: Callable[..., Llama],
    make_backbone: Callable[..., Backbone],
    inner_tokenizer: tokenizers.Tokenizer,
) -> Callable[..., DegModel]:
    def make(family: str = "llama", **sizes: object) -> DegModel:
        backbone = make_llama(**sizes) if family == "llama" else make_backbone(family, **sizes)
        hidden = backbone.config.hidden_size
        taps = default_taps(backbone.config.num_layers)
        torch.manual_seed(1)
        heads = Heads(hidden, hidden * len(taps))
        torch.nn.init.normal_(heads.extract.distance_bias)
        torch.nn.init.normal_(heads.extract.anchor_bias)
        heads.temperatures.copy_(torch.tensor([1.1, 0.9, 1.3, 0.8]))
        tokenizer = Tokenizer(inner_tokenizer, CHATS[family])
        return DegModel(backbone, heads, tokenizer, taps=taps, model_id="tiny")

    return make
