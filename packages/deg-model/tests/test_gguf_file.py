from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import gguf
import pytest
import tokenizers
import torch
from torch import Tensor

from deg_model import BackboneConfig, Tokenizer, WeightsError
from deg_model.gguf_file import _BLOCK, _TOP, read_gguf
from deg_model.llama import config_from_hf

CONFIG = BackboneConfig("llama", 300, 64, 128, 2, 4, 2, 16, 1e-5, 5e4, 512)
NAMES = {theirs: ours for ours, theirs in (_TOP | _BLOCK).items()}


def gguf_name(name: str) -> str:
    part = name.removesuffix(".weight")
    if not part.startswith("model.layers."):
        return f"{NAMES[part]}.weight"
    _, _, index, rest = part.split(".", 3)
    return f"blk.{index}.{NAMES[rest]}.weight"


def interleave(tensor: Tensor, heads: int) -> Tensor:
    """Order rows as llama.cpp does: the two rotary halves of each head take turns."""
    rows = tensor.view(heads, 2, -1, tensor.shape[1])
    return rows.transpose(1, 2).reshape(tensor.shape)


def write(
    path: Path, weights: dict[str, Tensor], inner: tokenizers.Tokenizer, *, architecture: str
) -> None:
    model = json.loads(inner.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].__getitem__)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_context_length(CONFIG.max_positions)
    writer.add_embedding_length(CONFIG.hidden_size)
    writer.add_block_count(CONFIG.num_layers)
    writer.add_feed_forward_length(CONFIG.intermediate_size)
    writer.add_head_count(CONFIG.num_heads)
    writer.add_head_count_kv(CONFIG.num_kv_heads)
    writer.add_layer_norm_rms_eps(CONFIG.norm_eps)
    writer.add_rope_freq_base(CONFIG.rope_theta)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_merges([" ".join(pair) for pair in model["merges"]])
    writer.add_token_types([3 if token.startswith("<|") else 1 for token in tokens])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    for name, tensor in weights.items():
        heads = {"q_proj": CONFIG.num_heads, "k_proj": CONFIG.num_kv_heads}
        part = name.split(".")[-2]
        stored = interleave(tensor, heads[part]) if part in heads else tensor
        stored = stored.half() if part.endswith("_proj") else stored
        writer.add_tensor(gguf_name(name), stored.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture
def weights(make_weights: Callable[[BackboneConfig], dict[str, Tensor]]) -> dict[str, Tensor]:
    # numbers that fp16 and bf16 both hold
    return {name: t.half().bfloat16().float() for name, t in make_weights(CONFIG).items()}


@pytest.fixture
def path(weights: dict[str, Tensor], inner_tokenizer: tokenizers.Tokenizer, tmp_path: Path) -> Path:
    write(tmp_path / "tiny.gguf", weights, inner_tokenizer, architecture="llama")
    return tmp_path / "tiny.gguf"


def test_tensors_have_their_names_and_row_order_back(
    path: Path, weights: dict[str, Tensor]
) -> None:
    found, _, _ = read_gguf(path)
    assert set(found) == set(weights)
    for name, tensor in weights.items():
        assert found[name].dtype == torch.bfloat16
        assert torch.allclose(found[name].float(), tensor, atol=1e-6), name


def test_the_configuration_is_the_one_written(path: Path) -> None:
    _, config, tokenizer = read_gguf(path)
    read = config_from_hf(config)
    num_tokens = tokenizers.Tokenizer.from_str(tokenizer).get_vocab_size()
    assert read.norm_eps == pytest.approx(CONFIG.norm_eps)
    assert replace(read, norm_eps=CONFIG.norm_eps) == replace(CONFIG, vocab_size=num_tokens)


@pytest.mark.parametrize("text", ["the quick brown fox", "naïve 東京 €", " \n\n a", "🙂\x00"])
def test_the_tokenizer_is_the_one_written(path: Path, tokenizer: Tokenizer, text: str) -> None:
    _, _, written = read_gguf(path)
    read = Tokenizer(tokenizers.Tokenizer.from_str(written))
    assert read.encode_with_offsets(text) == tokenizer.encode_with_offsets(text)
    assert read.encode("<|im_end|>", special=True) == (1,)


def test_digits_are_tokens_of_their_own(path: Path) -> None:
    _, _, written = read_gguf(path)
    read = Tokenizer(tokenizers.Tokenizer.from_str(written))
    assert read.encode_with_offsets("2024")[1] == [(0, 1), (1, 2), (2, 3), (3, 4)]


def test_another_architecture_is_refused(
    weights: dict[str, Tensor], inner_tokenizer: tokenizers.Tokenizer, tmp_path: Path
) -> None:
    write(tmp_path / "tiny.gguf", weights, inner_tokenizer, architecture="mamba")
    with pytest.raises(WeightsError, match="holds 'mamba', not a Llama model"):
        read_gguf(tmp_path / "tiny.gguf")
