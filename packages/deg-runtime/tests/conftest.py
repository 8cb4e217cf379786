"""An engine that finds what it is told to look for, and one with a tiny random model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import torch
from torch import Tensor

from deg_model import (
    CHATS,
    ArrayMode,
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
    qwen35,
)
from deg_runtime import Contexts, Engine, Request, Trace
from deg_schema import (
    Decided,
    DegError,
    Extracted,
    FieldPlan,
    Missing,
    Options,
    Outcome,
    assemble,
    compile_schema,
    read_span,
    render_context,
)


class FakeEngine:
    """Takes the first outcome of a decision, and the words given for a pointer."""

    def __init__(self, words: Mapping[str, str], error: BaseException | None = None) -> None:
        self.words = words
        self.error = error
        self.options: Any = None

    def __call__(
        self, checkpoint: Path | None = None, *, report: Callable[[str], None] | None = None
    ) -> FakeEngine:
        return self

    def fill(
        self,
        context: str | dict[str, Any] | list[Any],
        schema: Mapping[str, Any],
        *,
        options: Options | Mapping[str, Any] | None = None,
        trace: Trace | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> dict[str, Any]:
        if self.error:
            raise self.error
        self.options = options
        plan = compile_schema(schema)
        text = render_context(context)
        outcomes = {field.pointer: self._outcome(field, text) for field in plan.fields}
        return assemble(plan, schema, outcomes, model="fake", prompt_tokens=len(text.split()))

    def fill_many(
        self,
        requests: Sequence[Request],
        *,
        options: Options | Mapping[str, Any] | None = None,
    ) -> list[dict[str, Any] | DegError]:
        return [self._fill_one(*request, options=options) for request in requests]

    def _fill_one(self, *request: Any, options: Any) -> dict[str, Any] | DegError:
        try:
            return self.fill(*request, options=options)
        except DegError as error:
            return error

    def _outcome(self, field: FieldPlan, text: str) -> Outcome:
        if field.mode.startswith("decide"):
            rest = field.num_outcomes - 1
            return Decided((0.7, *[0.3 / rest] * rest))
        words = self.words.get(field.pointer, "")
        start = text.find(words)
        if not words or start < 0:
            return Missing("not_found", 0.9)
        value = read_span(field, words, Options()).value
        return Extracted(value, (start, start + len(words)), 0.8)


@pytest.fixture
def fake_engine() -> type[FakeEngine]:
    return FakeEngine


VOCABULARY = 320


@pytest.fixture(scope="session")
def inner_tokenizer(make_bpe: Callable[..., tokenizers.Tokenizer]) -> tokenizers.Tokenizer:
    words = ["FIELD KIND OPTIONS ANSWER DESCRIPTION text span number date naïve — 東京 東京 2026"]
    return make_bpe(words, size=VOCABULARY, special=["<|im_start|>", "<|im_end|>"])


@pytest.fixture(scope="session")
def tokenizer(inner_tokenizer: tokenizers.Tokenizer) -> Tokenizer:
    return Tokenizer(inner_tokenizer)


@pytest.fixture(scope="session")
def make_engine(
    tokenizer: Tokenizer, inner_tokenizer: tokenizers.Tokenizer
) -> Callable[..., Engine]:
    """Make engines with random weights, which answer at random but always alike."""
    torch.set_num_threads(1)

    def make(
        *,
        family: str = "llama",
        hidden: int = 64,
        max_positions: int = 2048,
        dtype: torch.dtype = torch.float32,
        arrays: ArrayMode | None = None,
        anchor_bias: float = 0.0,
        cache_bytes: int = 0,
    ) -> Engine:
        sizes = {
            "family": family,
            "vocab_size": VOCABULARY,
            "hidden_size": hidden,
            "intermediate_size": 2 * hidden,
            "num_layers": 2,
            "num_heads": 4,
            "num_kv_heads": 2,
            "head_size": hidden // 4,
            "norm_eps": 1e-5,
            "rope_theta": 10000.0,
            "max_positions": max_positions,
        }
        backbone = tiny_backbone(family, sizes, dtype)
        taps = default_taps(backbone.config.num_layers)
        torch.manual_seed(1)
        heads = Heads(hidden, hidden * len(taps))
        for weight in heads.parameters():
            torch.nn.init.normal_(weight, std=0.25)
        heads.anchor.bias.data.fill_(anchor_bias)
        tokens = tokenizer
        if family != "llama":
            inner = tokenizers.Tokenizer.from_str(inner_tokenizer.to_str())
            inner.add_special_tokens(["<|startoftext|>"])
            tokens = Tokenizer(inner, CHATS[family])
        model = DegModel(backbone, heads, tokens, taps=taps, model_id="tiny", arrays=arrays)
        return Engine(model, Contexts(model, cache_bytes))

    return make


@pytest.fixture(scope="session")
def engine(make_engine: Callable[..., Engine]) -> Engine:
    return make_engine()


def tiny_backbone(family: str, sizes: dict[str, Any], dtype: torch.dtype) -> Backbone:
    """Make a stack of any family, with layers of each kind."""
    if family == "llama":
        config = BackboneConfig(**sizes)
        return Llama(config, {name: w.to(dtype) for name, w in random_weights(config).items()})
    sizes |= {"vocab_size": VOCABULARY + 16, "head_size": 64, "num_layers": 3}
    if family == "lfm2":
        short = Lfm2Config(**sizes, state_layers=frozenset({0, 2}), conv_width=3)
        return Lfm2(short, _drawn(lfm2.weight_shapes(short), dtype))
    gated = Qwen35Config(
        **sizes,
        state_layers=frozenset({0, 1}),
        rotary_size=16,
        num_key_heads=2,
        num_value_heads=4,
        key_size=32,
        value_size=32,
        conv_width=4,
    )
    return Qwen35(gated, _drawn(qwen35.weight_shapes(gated), dtype))


def _drawn(shapes: Mapping[str, tuple[int, ...]], dtype: torch.dtype) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(0)
    weights = {}
    for name, shape in shapes.items():
        values = torch.randn(*shape, generator=generator)
        scale = 0.1 if "norm" in name else shape[-1] ** -0.5
        weights[name] = (values if "embed" in name else values * scale).to(dtype)
    return weights


def random_weights(config: BackboneConfig) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator) / shape[-1] ** 0.5

    hidden, inner = config.hidden_size, config.intermediate_size
    weights = {
        "model.embed_tokens.weight": torch.randn(config.vocab_size, hidden, generator=generator),
        "model.norm.weight": torch.ones(hidden),
    }
    for index in range(config.num_layers):
        layer = f"model.layers.{index}"
        weights |= {
            f"{layer}.input_layernorm.weight": torch.ones(hidden),
            f"{layer}.post_attention_layernorm.weight": torch.ones(hidden),
            f"{layer}.self_attn.q_proj.weight": normal(hidden, hidden),
            f"{layer}.self_attn.k_proj.weight": normal(hidden // 2, hidden),
            f"{layer}.self_attn.v_proj.weight": normal(hidden // 2, hidden),
            f"{layer}.self_attn.o_proj.weight": normal(hidden, hidden),
            f"{layer}.mlp.gate_proj.weight": normal(inner, hidden),
            f"{layer}.mlp.up_proj.weight": normal(inner, hidden),
            f"{layer}.mlp.down_proj.weight": normal(hidden, inner),
        }
    return weights
