from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pytest
import torch
from torch import Tensor

from deg_model import Backbone, EncodedContext, Fork, LowRankAdapters
from deg_train.batches import Batch, collate, split_rows
from deg_train.passes import Hidden, read_batch, read_forks, read_trunk
from deg_train.questions import Example, Question

FAMILIES = ("llama", "qwen3.5", "lfm2")
TAPS = (2, 4)
assert_close = partial(torch.testing.assert_close, rtol=1e-4, atol=1e-4)
MakeBackbone = Callable[[str], Backbone]


def example(num_context: int, *lengths: int) -> Example:
    generator = torch.Generator().manual_seed(num_context)

    def ids(num: int) -> tuple[int, ...]:
        return tuple(torch.randint(1, 60, (num,), generator=generator).tolist())

    context = EncodedContext(ids(num_context), 0, (0,) * num_context, (0,) * num_context)
    return Example(context, tuple(Question(Fork(ids(num), (), "noul")) for num in lengths))


@pytest.fixture(scope="module")
def batch() -> Batch:
    return collate([example(9, 3, 8), example(21, 4, 5, 12), example(13, 6)])


@pytest.fixture(params=FAMILIES)
def backbone(request: pytest.FixtureRequest, make_backbone: MakeBackbone) -> Backbone:
    return make_backbone(request.param)


@pytest.fixture
def adapters(backbone: Backbone) -> LowRankAdapters:
    torch.manual_seed(5)
    adapters = LowRankAdapters(backbone, rank=3)
    for parameter in adapters.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    return adapters


def answers(batch: Batch, hidden: Hidden) -> Tensor:
    """Return the last hidden state of each fork of *batch*, in the order of their tokens."""
    rows = sorted(batch.rows, key=lambda row: row.question.fork.ids)
    return hidden.final_NH[[row.answer for row in rows]]


def real_features(batch: Batch, hidden: Hidden) -> Tensor:
    lengths = enumerate(batch.context_lengths_B.tolist())
    return torch.cat([hidden.features_BTK[context, :length] for context, length in lengths])


def loss_of(batch: Batch, hidden: Hidden) -> Tensor:
    """Return a loss that reads every answer and every context token."""
    answers_RH, features_NK = answers(batch, hidden), real_features(batch, hidden)
    weight_H = torch.linspace(-1, 1, answers_RH.shape[1])
    weight_K = torch.linspace(-1, 1, features_NK.shape[1])
    return (answers_RH @ weight_H).sin().sum() + (features_NK @ weight_K).sin().sum()


def gradient(loss: Tensor, adapters: LowRankAdapters) -> tuple[Tensor, ...]:
    return torch.autograd.grad(loss, list(adapters.parameters()))


def assert_same(found: tuple[Tensor, ...], expected: tuple[Tensor, ...]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert other.abs().max() > 0
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4 * float(other.abs().max()))


def ways(backbone: Backbone, batch: Batch, adapters: LowRankAdapters) -> Iterator[Hidden]:
    """Yield *batch*, read in every way that there is beside the one flat pass."""
    pairs = adapters.pairs(torch.float32)
    yield read_batch(backbone, batch, taps=TAPS, adapters=pairs, recompute=True)
    for chunk in (64, 8, 5, 1):
        for recompute in (False, True):
            trunk = read_trunk(
                backbone, batch, taps=TAPS, adapters=pairs, recompute=recompute, chunk=chunk
            )
            forks = read_forks(backbone, trunk, batch, adapters=pairs, recompute=recompute)
            yield trunk.hidden(forks)
    yield read_batch(backbone, batch, taps=TAPS, adapters=pairs, chunk=7)


def test_every_way_to_read_a_batch_gives_the_same_hidden_states_and_gradients(
    backbone: Backbone, batch: Batch, adapters: LowRankAdapters
) -> None:
    flat = read_batch(backbone, batch, taps=TAPS, adapters=adapters.pairs(torch.float32))
    expected = gradient(loss_of(batch, flat), adapters)
    for hidden in ways(backbone, batch, adapters):
        assert_close(answers(batch, hidden), answers(batch, flat))
        assert_close(real_features(batch, hidden), real_features(batch, flat))
        assert_same(gradient(loss_of(batch, hidden), adapters), expected)


def test_chunks_leave_the_state_that_a_dense_read_leaves(backbone: Backbone) -> None:
    alone = collate([example(21, 3)])
    dense, chunked = (read_trunk(backbone, alone, taps=TAPS, chunk=c).state for c in (64, 8))
    assert dense.num_tokens == chunked.num_tokens == 21
    for name in ("keys", "values", "tails", "states"):
        found, expected = getattr(chunked, name), getattr(dense, name)
        assert found.keys() == expected.keys()
        assert_close(list(found.values()), list(expected.values()))


def test_padding_changes_no_state(backbone: Backbone, batch: Batch) -> None:
    ids_N = batch.ids_N.clone()
    ids_N[: batch.num_trunk].view(-1, batch.width)[0, 9:] = 7
    for chunk in (64, 8):
        with torch.no_grad():
            one, other = (
                read_trunk(backbone, each, taps=TAPS, chunk=chunk).state
                for each in (batch, replace(batch, ids_N=ids_N))
            )
        assert all(map(torch.equal, one.tails.values(), other.tails.values()))
        assert all(map(torch.equal, one.states.values(), other.states.values()))


def test_parts_of_the_rows_continue_one_trunk(
    backbone: Backbone, batch: Batch, adapters: LowRankAdapters
) -> None:
    pairs = adapters.pairs(torch.float32)
    trunk = read_trunk(backbone, batch, taps=TAPS, adapters=pairs)
    whole = answers(batch, trunk.hidden(read_forks(backbone, trunk, batch, adapters=pairs)))
    found = {}
    for part in split_rows(batch, 3):
        hidden = trunk.hidden(read_forks(backbone, trunk, part, adapters=pairs))
        found |= {row.question.fork.ids: hidden.final_NH[row.answer] for row in part.rows}
    assert_close(torch.stack([found[ids] for ids in sorted(found)]), whole)


def test_a_frozen_trunk_is_continued_by_adapters_of_its_own(
    backbone: Backbone, batch: Batch, adapters: LowRankAdapters
) -> None:
    with torch.no_grad():
        trunk = read_trunk(backbone, batch, taps=TAPS, chunk=8)
    plain_MH = read_forks(backbone, trunk, batch)
    adapted_MH = read_forks(backbone, trunk, batch, adapters=adapters.pairs(torch.float32))
    assert not torch.allclose(plain_MH, adapted_MH, atol=1e-2)
    assert not any(tap_BTH.requires_grad for tap_BTH in trunk.tapped)
    assert all(bool(grad.any()) for grad in gradient(adapted_MH.sin().sum(), adapters))
