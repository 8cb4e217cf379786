from __future__ import annotations

import pytest
import torch
from torch import Tensor

from deg_kernels import StateRows, naive_fork_delta_rule
from deg_model.delta_rule import chunked_delta_rule

# 2 rows of T tokens, 3 heads, K = 16, V = 8


def inputs(num_tokens: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(num_tokens)

    def draw(*shape: int) -> Tensor:
        return torch.randn(2, num_tokens, 3, *shape, generator=generator)

    decay, beta = -2 * draw().square(), draw().sigmoid()
    start = torch.randn(2, 3, 16, 8, generator=generator)
    drawn = [draw(16), draw(16), draw(8), decay, beta, start]
    return [tensor.requires_grad_() for tensor in drawn]


def unit(x: Tensor) -> Tensor:
    return x * torch.rsqrt(x.square().sum(-1, keepdim=True) + 1e-6)


def chunked(q: Tensor, k: Tensor, *others: Tensor) -> tuple[Tensor, Tensor]:
    return chunked_delta_rule(unit(q) / 4, unit(k), *others)


def one_by_one(*given: Tensor) -> tuple[Tensor, Tensor]:
    *tokens, start = given
    num_tokens = tokens[0].shape[1]
    finals = torch.zeros(2, 3, 16, 8)
    out = naive_fork_delta_rule(
        *(each.flatten(0, 1) for each in tokens),
        start,
        StateRows.of([num_tokens] * 2, starts=[0, 1], writes=[0, 1]),
        finals_FJKV=finals,
    )
    return out.view(2, num_tokens, 3, 8), finals


@pytest.mark.parametrize("num_tokens", [1, 63, 64, 65, 150])
def test_chunks_give_what_token_after_token_gives(num_tokens: int) -> None:
    given = inputs(num_tokens)
    for one, other in zip(chunked(*given), one_by_one(*given), strict=True):
        assert torch.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("num_tokens", [5, 130])
def test_gradients_are_those_of_token_after_token(num_tokens: int) -> None:
    given = inputs(num_tokens)
    sums = (sum((each * each.cos()).sum() for each in f(*given)) for f in (chunked, one_by_one))
    found, expected = (torch.autograd.grad(total, given) for total in sums)
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other, rtol=1e-3, atol=1e-4)


def test_a_token_without_decay_and_beta_changes_nothing() -> None:
    q, k, v, decay, beta, start = inputs(7)
    padded = (torch.cat([x, 1e3 * torch.ones_like(x)], dim=1) for x in (unit(q), unit(k), v))
    zeros = torch.zeros_like(decay)
    out, after = chunked_delta_rule(
        *padded, torch.cat([decay, zeros], dim=1), torch.cat([beta, zeros], dim=1), start
    )
    expected, expected_after = chunked_delta_rule(unit(q), unit(k), v, decay, beta, start)
    assert torch.equal(out[:, :7], expected)
    assert torch.equal(after, expected_after)


def test_decays_may_be_harsh() -> None:
    q, k, v, decay, beta, start = inputs(70)
    out, after = chunked(q, k, v, 40 * decay, beta, start)
    grads = torch.autograd.grad(out.sum() + after.sum(), [q, k, v, decay, beta])
    assert all(torch.isfinite(grad).all() for grad in grads)
