"""An engine that finds what it is told to look for, and one with a tiny random model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import torch
from tokenizers import decoders, models, pre_tokenizers, trainers
from torch import Tensor

from deg_model import BackboneConfig, DegModel, Heads, Llama, Tokenizer, default_taps
from deg_runtime import Engine
from deg_schema import (
    Decided,
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
    ) -> dict[str, Any]:
        if self.error:
            raise self.error
        self.options = options
        plan = compile_schema(schema)
        text = render_context(context)
        outcomes = {field.pointer: self._outcome(field, text) for field in plan.fields}
        return assemble(plan, schema, outcomes, model="fake", prompt_tokens=len(text.split()))

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
def tokenizer() -> Tokenizer:
    inner = tokenizers.Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False)
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    words = ["FIELD KIND OPTIONS ANSWER DESCRIPTION text span number date naïve — 東京 東京 2026"]
    inner.train_from_iterator(words * 2, trainer)
    return Tokenizer(inner)


@pytest.fixture(scope="session")
def make_engine(tokenizer: Tokenizer) -> Callable[..., Engine]:
    """Make engines with random weights, which answer at random but always alike."""
    torch.set_num_threads(1)

    def make(
        *, hidden: int = 64, max_positions: int = 2048, dtype: torch.dtype = torch.float32
    ) -> Engine:
        config = BackboneConfig(
            family="llama",
            vocab_size=VOCABULARY,
            hidden_size=hidden,
            intermediate_size=2 * hidden,
            num_layers=2,
            num_heads=4,
            num_kv_heads=2,
            head_size=hidden // 4,
            norm_eps=1e-5,
            rope_theta=10000.0,
            max_positions=max_positions,
        )
        backbone = Llama(config, {k: w.to(dtype) for k, w in random_weights(config).items()})
        taps = default_taps(config.num_layers)
        torch.manual_seed(1)
        heads = Heads(hidden, hidden * len(taps))
        for weight in heads.parameters():
            torch.nn.init.normal_(weight, std=0.25)
        return Engine(DegModel(backbone, heads, tokenizer, taps=taps, model_id="tiny"))

    return make


@pytest.fixture(scope="session")
def engine(make_engine: Callable[..., Engine]) -> Engine:
    return make_engine()


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
