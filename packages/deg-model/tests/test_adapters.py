from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from deg_model import Llama, LowRankAdapters


def test_every_projection_has_a_pair_of_the_rank(make_llama: Callable[..., Llama]) -> None:
    llama = make_llama()
    pairs = LowRankAdapters(llama, rank=5).pairs(torch.bfloat16)
    assert set(pairs) == set(llama.adapter_shapes())
    for name, (num_out, num_in) in llama.adapter_shapes().items():
        down_RI, up_OR = pairs[name]
        assert (down_RI.shape, up_OR.shape) == ((5, num_in), (num_out, 5))
        assert down_RI.dtype == up_OR.dtype == torch.bfloat16


def test_a_fresh_adapter_changes_nothing(make_llama: Callable[..., Llama]) -> None:
    llama = make_llama()
    with torch.no_grad():
        merged = llama.merged(LowRankAdapters(llama, rank=5).pairs(torch.float32))
    assert torch.equal(merged.layers[1]["gate_up"], llama.layers[1]["gate_up"])


def test_tensors_are_named_as_checkpoints_store_them(make_llama: Callable[..., Llama]) -> None:
    adapters = LowRankAdapters(make_llama(layers=1), rank=2)
    assert sorted(adapters.named_tensors()) == [
        f"layers.0.{name}.lora_{side}"
        for name in ("down", "gate_up", "o", "qkv")
        for side in ("A", "B")
    ]


def test_load_takes_what_named_tensors_gives(make_llama: Callable[..., Llama]) -> None:
    llama = make_llama()
    one, other = LowRankAdapters(llama, rank=2), LowRankAdapters(llama, rank=2)
    other.load(one.named_tensors())
    for name, tensor in one.named_tensors().items():
        assert torch.equal(other.named_tensors()[name], tensor)


def test_load_refuses_another_rank_and_missing_tensors(make_llama: Callable[..., Llama]) -> None:
    llama = make_llama()
    tensors = LowRankAdapters(llama, rank=2).named_tensors()
    with pytest.raises(RuntimeError, match="size mismatch"):
        LowRankAdapters(llama, rank=3).load(tensors)
    tensors.pop("layers.1.o.lora_A")
    with pytest.raises(RuntimeError, match="o.lora_A"):
        LowRankAdapters(llama, rank=2).load(tensors)
