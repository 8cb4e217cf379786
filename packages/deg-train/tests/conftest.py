"""A tiny random model, its tokenizer, and records that it can learn by heart."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import tokenizers
import torch
from safetensors.torch import save_file
from torch import Tensor

from deg_model import (
    BASES,
    DEFAULT_BASE,
    FAMILIES,
    Backbone,
    DegModel,
    Heads,
    Llama,
    Tokenizer,
    default_taps,
    lfm2,
    llama,
    load_backbone,
    qwen35,
    resolve_base,
    save_checkpoint,
)
from deg_train.fit_options import FitOptions
from deg_train.generate import DocumentSource
from deg_train.questions import Example, example_of
from deg_train.records import Record
from deg_train.trainer import Trainer

VOCABULARY = 700
CONFIG = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "max_position_embeddings": 2048,
}


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def inner_tokenizer(make_bpe: Callable[..., tokenizers.Tokenizer]) -> tokenizers.Tokenizer:
    texts = [record.to_json() for record in DocumentSource().records(30, seed=0)]
    return make_bpe(texts, size=VOCABULARY, special=["<|im_start|>", "<|im_end|>"])


@pytest.fixture(scope="session")
def tokenizer(inner_tokenizer: tokenizers.Tokenizer) -> Tokenizer:
    return Tokenizer(inner_tokenizer)


@pytest.fixture(scope="session")
def base_folder(
    inner_tokenizer: tokenizers.Tokenizer, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return a cache folder with tiny weights in the place of the default base."""
    cache = tmp_path_factory.mktemp("cache")
    folder = cache / DEFAULT_BASE
    folder.mkdir()
    save_file(random_weights(), folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "tokenizer.json").write_text(inner_tokenizer.to_str())
    base = BASES[DEFAULT_BASE]
    (folder / "base.json").write_text(json.dumps({"name": base.name, "sha256": base.sha256}))
    return cache


@pytest.fixture
def cache(base_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DEG_CACHE", str(base_folder))
    monkeypatch.delenv("DEG_BASE_DIR", raising=False)
    return base_folder


@pytest.fixture
def backbone(cache: Path) -> Llama:
    backbone = load_backbone(resolve_base(BASES[DEFAULT_BASE]), torch.float32)
    assert isinstance(backbone, Llama)
    return backbone


@pytest.fixture
def make_trainer(backbone: Llama) -> Callable[..., Trainer]:
    def make(*, threads: int = 1, **options: float) -> Trainer:
        chosen = {"rank": 4, "warmup": 1, "decay": 1, **options}
        return Trainer(backbone, BASES[DEFAULT_BASE], FitOptions(**chosen), threads=threads)

    return make


@pytest.fixture
def model(backbone: Llama, tokenizer: Tokenizer) -> DegModel:
    torch.manual_seed(0)
    taps = default_taps(backbone.config.num_layers)
    heads = Heads(backbone.config.hidden_size, backbone.config.hidden_size * len(taps))
    return DegModel(backbone, heads, tokenizer, taps=taps, model_id="tiny")


@pytest.fixture
def checkpoint(make_trainer: Callable[..., Trainer], tmp_path: Path) -> Path:
    """Return the folder of an untrained checkpoint."""
    folder = tmp_path / "checkpoint"
    save_checkpoint(make_trainer().checkpoint("tiny"), folder)
    return folder


@pytest.fixture(scope="session")
def records() -> list[Record]:
    return [made_record(*facts) for facts in FACTS]


@pytest.fixture(scope="session")
def examples(records: list[Record], tokenizer: Tokenizer) -> list[Example]:
    return [example_of(record, tokenizer) for record in records]


FACTS = (
    ("Ann", "billing", True, 2, "owes 12 euro since 1 May 2024"),
    ("Bob", "delivery", False, 0, "got 340 boxes"),
    ("Cleo", "billing", False, 1, "is here"),
    ("Dan", "other", True, 2, "left on 3 June 2023"),
)


def made_record(name: str, topic: str, urgent: bool, anger: int, rest: str) -> Record:
    context = f"{name} writes about {topic}: {name} {rest}."
    spans = {"/name": ((0, len(name)), (context.rindex(name), context.rindex(name) + len(name)))}
    value = {"name": name, "topic": topic, "urgent": urgent, "anger": anger}
    number = next((word for word in rest.split() if word in {"12", "340"}), None)
    if number is not None:
        value["number"] = int(number)
        spans["/number"] = ((context.index(number), context.index(number) + len(number)),)
    properties = {
        "name": {"type": "string"},
        "number": {"type": ["integer", "null"]},
        "topic": {"enum": ["billing", "delivery", "other"]},
        "urgent": {"type": "boolean"},
        "anger": {"type": "integer", "minimum": 0, "maximum": 2},
    }
    schema = {"type": "object", "properties": properties, "required": ["name"]}
    return Record(context, schema, value, spans, "made")


def random_weights() -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator) / shape[-1] ** 0.5

    hidden, inner = 32, 64
    weights = {
        "model.embed_tokens.weight": torch.randn(VOCABULARY, hidden, generator=generator),
        "model.norm.weight": torch.ones(hidden),
    }
    for index in range(3):
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


@pytest.fixture(scope="session")
def array_record() -> Record:
    """Return a record of three rows, the last one without a price."""
    context = "Order 12\ntea 3.50\nmilk 2.00\nbread"
    item = {
        "type": "object",
        "properties": {"what": {"type": "string"}, "price": {"type": ["number", "null"]}},
        "required": ["what", "price"],
    }
    rows = [{"what": "tea", "price": 3.5}, {"what": "milk", "price": 2}, {"what": "bread"}]
    spans = {"/rows/0/what": ((9, 12),), "/rows/0/price": ((13, 17),)}
    spans |= {"/rows/1/what": ((18, 22),), "/rows/1/price": ((23, 27),)}
    spans |= {"/rows/2/what": ((28, 33),)}
    value = {"rows": [{"price": None} | row for row in rows]}
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": item}}}
    return Record(context, schema, value, spans, "made")


@pytest.fixture(scope="session")
def nested_record() -> Record:
    """Return a record of three orders with two, one and no rows."""
    context = "Ann tea 3 milk 2 Bob bread 4 Cleo"
    row = {
        "type": "object",
        "properties": {"what": {"type": "string"}, "price": {"type": "number"}},
        "required": ["what", "price"],
    }
    rows = {"type": "array", "items": row}
    order = {
        "type": "object",
        "properties": {"who": {"type": "string"}, "rows": rows},
        "required": ["who", "rows"],
    }
    tea, milk = {"what": "tea", "price": 3}, {"what": "milk", "price": 2}
    bread = {"what": "bread", "price": 4}
    orders = [
        {"who": "Ann", "rows": [tea, milk]},
        {"who": "Bob", "rows": [bread]},
        {"who": "Cleo", "rows": []},
    ]
    texts = {"/orders/0/who": "Ann", "/orders/1/who": "Bob", "/orders/2/who": "Cleo"}
    texts |= {"/orders/0/rows/0/what": "tea", "/orders/0/rows/0/price": "3"}
    texts |= {"/orders/0/rows/1/what": "milk", "/orders/0/rows/1/price": "2"}
    texts |= {"/orders/1/rows/0/what": "bread", "/orders/1/rows/0/price": "4"}
    spans = {
        pointer: ((context.index(text), context.index(text) + len(text)),)
        for pointer, text in texts.items()
    }
    schema = {"type": "object", "properties": {"orders": {"type": "array", "items": order}}}
    return Record(context, schema, {"orders": orders}, spans, "made")


@pytest.fixture(scope="session")
def array_example(array_record: Record, tokenizer: Tokenizer) -> Example:
    return example_of(array_record, tokenizer)


TINY = {
    "vocab_size": 60,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 4,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 16,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
}
TINY_OF_FAMILY = {
    "llama": {},
    "lfm2": {
        "norm_eps": 1e-5,
        "conv_L_cache": 3,
        "layer_types": ["conv", "conv", "full_attention", "conv"],
    },
    "qwen3.5": {
        "linear_num_key_heads": 1,
        "linear_num_value_heads": 2,
        "linear_key_head_dim": 16,
        "linear_value_head_dim": 16,
        "linear_conv_kernel_dim": 4,
    },
}


@pytest.fixture(scope="session")
def make_backbone() -> Callable[[str], Backbone]:
    """Return a tiny random stack of any family: four layers, one or more of each kind."""

    def make(family: str) -> Backbone:
        config, module = TINY | TINY_OF_FAMILY[family], FAMILY_MODULES[family]
        generator = torch.Generator().manual_seed(0)

        def draw(name: str, shape: tuple[int, ...]) -> Tensor:
            values = torch.randn(*shape, generator=generator)
            return 1 + 0.1 * values if "norm" in name else values / shape[-1] ** 0.5

        shapes = module.weight_shapes(module.config_from_hf(config))
        return FAMILIES[family](config, {name: draw(name, shapes[name]) for name in shapes})

    return make


FAMILY_MODULES = {"llama": llama, "qwen3.5": qwen35, "lfm2": lfm2}


_DENYING = re.compile(
    r"^(?:True|Yes) unless|^(?:False|No) (?:if|only when)|Answer no if|Return false if"
    r"|untrue|wrong|mistake|It is not so that|it is not the case"
)
_NOT_OF_FRAMES = re.compile(r"It is not so that|it is not the case|(?:yes|no) if not")


@pytest.fixture(scope="session")
def is_turned_round() -> Callable[[str], bool]:
    """Tell, from its words alone, whether a question asks for the opposite of its statement."""

    def tell(question: str) -> bool:
        is_denied = re.search(r"\bnot\b", _NOT_OF_FRAMES.sub("", question)) is not None
        return is_denied != (_DENYING.search(question) is not None)

    return tell
