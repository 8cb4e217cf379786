from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from deg_model import BASE_READS, FORK_HEADS, AdapterPlan, Llama, LowRankAdapters


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


@pytest.mark.parametrize(
    ("plan", "adapters"),
    [
        (AdapterPlan(), ["shared"] * 6),
        (AdapterPlan(("shared",), BASE_READS), ["shared"] * 6),
        (AdapterPlan(("decide", "extract"), "extract"), ["decide"] * 3 + ["extract"] * 3),
        (AdapterPlan((), BASE_READS), [None] * 6),
    ],
)
def test_a_plan_gives_each_head_its_adapter(plan: AdapterPlan, adapters: list[str | None]) -> None:
    assert [plan.adapter_of(head) for head in FORK_HEADS] == adapters


def test_contexts_and_forks_share_a_pass_where_the_same_weights_read_them() -> None:
    flat = [AdapterPlan(), AdapterPlan((), BASE_READS)]
    parted = [AdapterPlan(("shared",), BASE_READS), AdapterPlan(("decide", "extract"), "decide")]
    assert all(plan.is_flat for plan in flat)
    assert not any(plan.is_flat for plan in parted)


@pytest.mark.parametrize(
    ("names", "context", "told"),
    [
        (("decide",), "decide", "no adapters 'decide': say shared or decide,extract"),
        (("extract", "decide"), "base", "no adapters 'extract,decide'"),
        (("shared",), "decide", "no adapter 'decide' to read contexts: .* 'base', 'shared'"),
        ((), "shared", "no adapter 'shared' to read contexts"),
    ],
)
def test_a_plan_that_is_none_is_refused(names: tuple[str, ...], context: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        AdapterPlan(names, context)


def test_adapters_by_kind_are_named_and_apart(make_llama: Callable[..., Llama]) -> None:
    llama = make_llama(layers=1)
    adapters = LowRankAdapters(llama, rank=2, names=("decide", "extract"))
    one, other = (adapters.pairs(torch.float32, name) for name in ("decide", "extract"))
    assert one.keys() == other.keys() == llama.adapter_shapes().keys()
    assert not torch.equal(one["layers.0.o"][0], other["layers.0.o"][0])
    tensors = adapters.named_tensors()
    assert torch.equal(tensors["extract.layers.0.o.lora_A"], other["layers.0.o"][0])
    again = LowRankAdapters(llama, rank=2, names=("decide", "extract"))
    again.load(tensors)
    assert torch.equal(again.pairs(torch.float32, "decide")["layers.0.o"][0], one["layers.0.o"][0])
