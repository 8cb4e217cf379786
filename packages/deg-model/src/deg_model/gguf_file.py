"""A GGUF file of a Llama model as transformers-style tensors, configuration and tokenizer.

The `gguf` package reads and dequantizes; what stands here is the naming, the undoing of the row
order that llama.cpp gives query and key projections, and the byte-level BPE tokenizer.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import tokenizers
import torch
from tokenizers import AddedToken, decoders, models, pre_tokenizers
from torch import Tensor

from deg_model.errors import WeightsError

__all__ = ["read_gguf"]

_TOP = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_BLOCK = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_CONTROL_TOKEN = 3


def read_gguf(path: Path) -> tuple[dict[str, Tensor], dict[str, Any], str]:
    """Return the bf16 tensors, the transformers configuration and `tokenizer.json` of *path*.

    Raises:
        WeightsError: The file holds another architecture or another kind of tokenizer.
    """
    reader = gguf.GGUFReader(path)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    if fields["general.architecture"] != "llama":
        raise WeightsError(f"{path} holds {fields['general.architecture']!r}, not a Llama model")
    config = _config(fields)
    heads = {"attn_q": config["num_attention_heads"], "attn_k": config["num_key_value_heads"]}
    tensors = {}
    for entry in reader.tensors:
        array = gguf.dequantize(entry.data, entry.tensor_type)
        name, part = _rename(entry.name)
        if part in heads:
            array = _unpermute(array, heads[part])
        tensors[name] = torch.from_numpy(np.array(array, dtype=np.float32)).to(torch.bfloat16)
    return tensors, config, _tokenizer(fields)


def _rename(name: str) -> tuple[str, str]:
    block = re.fullmatch(r"blk\.(\d+)\.(\w+)\.weight", name)
    if block:
        return f"model.layers.{block[1]}.{_BLOCK[block[2]]}.weight", block[2]
    part = name.removesuffix(".weight")
    return f"{_TOP[part]}.weight", part


def _unpermute(array: np.ndarray[Any, Any], heads: int) -> np.ndarray[Any, Any]:
    # llama.cpp interleaves the two rotary halves of each head
    shape = array.shape
    paired = array.reshape(heads, shape[0] // heads // 2, 2, *shape[1:])
    return paired.swapaxes(1, 2).reshape(shape)


def _config(fields: dict[str, Any]) -> dict[str, Any]:
    heads = int(fields["llama.attention.head_count"])
    hidden = int(fields["llama.embedding_length"])
    return {
        "model_type": "llama",
        "vocab_size": len(fields["tokenizer.ggml.tokens"]),
        "hidden_size": hidden,
        "intermediate_size": int(fields["llama.feed_forward_length"]),
        "num_hidden_layers": int(fields["llama.block_count"]),
        "num_attention_heads": heads,
        "num_key_value_heads": int(fields.get("llama.attention.head_count_kv", heads)),
        "head_dim": hidden // heads,
        "hidden_act": "silu",
        "max_position_embeddings": int(fields["llama.context_length"]),
        "rms_norm_eps": float(fields["llama.attention.layer_norm_rms_epsilon"]),
        "rope_theta": float(fields.get("llama.rope.freq_base", 10000.0)),
        "tie_word_embeddings": True,
        "bos_token_id": int(fields["tokenizer.ggml.bos_token_id"]),
        "eos_token_id": int(fields["tokenizer.ggml.eos_token_id"]),
    }


def _tokenizer(fields: dict[str, Any]) -> str:
    if fields["tokenizer.ggml.model"] != "gpt2":
        raise WeightsError(f"tokenizer {fields['tokenizer.ggml.model']!r} is not byte-level BPE")
    tokens = fields["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ")) for pair in fields["tokenizer.ggml.merges"]]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    inner = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    steps: list[Any] = [pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False)]
    if fields.get("tokenizer.ggml.pre") in {"smollm", "llama-bpe", "default"}:
        # these split every digit; the byte-level step keeps the rest of GPT-2's rule
        steps.insert(0, pre_tokenizers.Digits(individual_digits=True))
    inner.pre_tokenizer = pre_tokenizers.Sequence(steps)
    inner.decoder = decoders.ByteLevel()
    kinds = fields["tokenizer.ggml.token_type"]
    special = [
        AddedToken(token, special=True, normalized=False)
        for token, kind in zip(tokens, kinds, strict=True)
        if kind == _CONTROL_TOKEN
    ]
    inner.add_special_tokens(special)
    return json.dumps(json.loads(inner.to_str()), ensure_ascii=False)
