from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from deg_model import (
    ForkBucket,
    KeyValues,
    Llama,
    LowRankAdapters,
    RowAttention,
    State,
    TrainingAttention,
)

# A = 4 attention heads, G = 2 key/value heads, D = 16


def random_qkv(num: int) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(num)
    heads = (4, 2, 2)
    return tuple(torch.randn(num, count, 16, generator=generator) for count in heads)


def fused(q_LAD: Tensor, keys_GSD: Tensor, values_GSD: Tensor) -> Tensor:
    length, num_keys = len(q_LAD), keys_GSD.shape[1]
    visible_LS = torch.ones(length, num_keys, dtype=torch.bool).tril(num_keys - length)
    return F.scaled_dot_product_attention(
        q_LAD.transpose(0, 1),
        keys_GSD.repeat_interleave(2, 0),
        values_GSD.repeat_interleave(2, 0),
        attn_mask=visible_LS,
    ).transpose(0, 1)


@pytest.mark.parametrize("num_before", [0, 1, 130])
@pytest.mark.parametrize("length", [1, 16, 127, 128, 129, 300])
def test_a_row_attends_as_torch_does(length: int, num_before: int) -> None:
    q, k, v = random_qkv(length)
    _, k_before, v_before = random_qkv(num_before)
    state = State((KeyValues(k_before, v_before),), num_before)
    keys, values = (torch.cat(pair).transpose(0, 1) for pair in ((k_before, k), (v_before, v)))
    found = RowAttention([length], [state])(0, q, k, v)
    assert torch.allclose(found, fused(q, keys, values), atol=1e-5)


def test_tokens_after_the_last_row_get_zeros() -> None:
    out = RowAttention([3], [State()])(0, *random_qkv(5))
    assert out[:3].abs().min() > 0
    assert not out[3:].any()


def test_rows_of_one_state_read_its_memory() -> None:
    _, k_before, v_before = random_qkv(70)
    state = State((KeyValues(k_before, v_before),), 70)
    q, k, v = random_qkv(9)
    together = RowAttention([4, 5], [state, state])(0, q, k, v)
    alone = RowAttention([5], [state])(0, q[4:], k[4:], v[4:])
    assert torch.equal(together[4:], alone)


def test_the_state_after_a_row_holds_its_keys_and_values() -> None:
    _, k, v = qkv = random_qkv(5)
    attention = RowAttention([2, 3], [State(), State()], keep=True)
    attention(0, *qkv)
    first, second = attention.states()
    assert (first.length, second.length) == (2, 3)
    assert torch.equal(first.layers[0].keys_PGD, k[:2])
    assert torch.equal(second.layers[0].values_PGD, v[2:])
    assert second.num_bytes == 2 * 3 * 2 * 16 * 4


@dataclass(frozen=True)
class Laid:
    """Contexts of 5 and 9 tokens, then forks of 4, 6 | 11 tokens, padded, and their flat pass."""

    contexts: tuple[Tensor, ...]
    forks: tuple[tuple[int, Tensor], ...]
    ids_N: Tensor
    positions_N: Tensor
    attention: Callable[[torch.dtype], TrainingAttention]
    real: tuple[slice, ...]


def laid_out(*, padding: int = 0) -> Laid:
    generator = torch.Generator().manual_seed(3)

    def draw(num: int) -> Tensor:
        return torch.randint(1, 300, (num,), generator=generator)

    contexts = (draw(5), draw(9))
    forks = ((1, draw(4)), (0, draw(6)), (1, draw(11)))
    widths = (9, 9, 6, 6, 11)
    rows = (*contexts, *(ids for _, ids in forks))
    starts = (0, 0, *(len(contexts[number]) for number, _ in forks))
    offsets = [sum(widths[:i]) for i in range(len(widths))]
    buckets = [
        ForkBucket(torch.tensor([1, 0]), torch.tensor([4, 6]), 6),
        ForkBucket(torch.tensor([1]), torch.tensor([11]), 11),
    ]
    return Laid(
        contexts,
        forks,
        torch.cat(
            [
                F.pad(ids, (0, w - len(ids)), value=padding)
                for ids, w in zip(rows, widths, strict=True)
            ]
        ),
        torch.cat([start + torch.arange(w) for start, w in zip(starts, widths, strict=True)]),
        lambda dtype: TrainingAttention(torch.tensor([5, 9]), 9, buckets, each=2, dtype=dtype),
        tuple(slice(at, at + len(ids)) for at, ids in zip(offsets, rows, strict=True)),
    )


def row_by_row(llama: Llama, laid: Laid, **adapters: object) -> list[Tensor]:
    hidden, states = [], []
    for ids in laid.contexts:
        attention = RowAttention([len(ids)], [State()], keep=True)
        hidden += llama.hidden(ids, torch.arange(len(ids)), attention, taps=(3,), **adapters)
        states += attention.states()
    for number, ids in laid.forks:
        state = states[number]
        positions = state.length + torch.arange(len(ids))
        attention = RowAttention([len(ids)], [state])
        hidden += llama.hidden(ids, positions, attention, taps=(3,), **adapters)
    return hidden


def test_a_training_batch_is_its_rows(make_llama: Callable[..., Llama]) -> None:
    llama, laid = make_llama(), laid_out()
    (found_NH,) = llama.hidden(
        laid.ids_N, laid.positions_N, laid.attention(torch.float32), taps=(3,)
    )
    for real, expected in zip(laid.real, row_by_row(llama, laid), strict=True):
        assert torch.allclose(found_NH[real], expected, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_padding_is_exact(make_llama: Callable[..., Llama], dtype: torch.dtype) -> None:
    llama, found = make_llama(dtype=dtype), []
    for padding in (0, 299):
        laid = laid_out(padding=padding)
        found += llama.hidden(laid.ids_N, laid.positions_N, laid.attention(dtype), taps=(3,))
    for real in laid_out().real:
        assert torch.equal(found[0][real], found[1][real])


def test_gradients_flow_from_forks_through_contexts_into_adapters(
    make_llama: Callable[..., Llama],
) -> None:
    llama, laid = make_llama(), laid_out()
    torch.manual_seed(5)
    adapters = LowRankAdapters(llama, rank=3)
    for parameter in adapters.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    parameters = list(adapters.parameters())
    pairs = adapters.pairs(torch.float32)
    (batch_NH,) = llama.hidden(
        laid.ids_N, laid.positions_N, laid.attention(torch.float32), taps=(3,), adapters=pairs
    )
    rows = row_by_row(llama, laid, adapters=pairs)
    # the loss looks at forks alone, so the first token of a context counts only as a key
    weight_H = torch.linspace(-1, 1, 64)
    losses = (
        sum((batch_NH[real] @ weight_H).sum() for real in laid.real[2:]),
        sum((hidden @ weight_H).sum() for hidden in rows[2:]),
    )
    found, expected = (torch.autograd.grad(loss, parameters) for loss in losses)
    for one, other in zip(found, expected, strict=True):
        assert one.abs().max() > 0
        assert torch.allclose(one, other, rtol=1e-3, atol=1e-3)
