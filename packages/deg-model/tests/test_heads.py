from __future__ import annotations

import math

import torch

from deg_model import HEAD_NAMES, MAX_SPAN_TOKENS, Heads

# 3 questions, 5 options, 200 context tokens, hidden size 32, features 96


def make_heads() -> Heads:
    torch.manual_seed(0)
    return Heads(32, 96)


def test_option_heads_give_a_logit_an_option() -> None:
    heads = make_heads()
    assert heads.choice(torch.randn(3, 32), torch.randn(3, 5, 32)).shape == (3, 5)
    assert heads.score(torch.randn(3, 32), torch.randn(3, 5, 32)).shape == (3, 5)


def test_an_option_logit_is_a_scaled_product_and_a_prior() -> None:
    head, answer_H, option_H = make_heads().choice, torch.randn(32), torch.randn(32)
    match = head.query(answer_H) @ head.key(option_H) / math.sqrt(256)
    expected = match + head.prior(option_H)[0]
    assert torch.allclose(head(answer_H[None], option_H[None, None])[0, 0], expected, atol=1e-6)


def test_a_no_has_logit_zero() -> None:
    logits = make_heads().noul(torch.randn(3, 32))
    assert logits.shape == (3, 2)
    assert not logits[:, 1].any()


def test_starts_have_one_outcome_more_than_tokens() -> None:
    head = make_heads().extract
    keys = head.start_key(torch.randn(3, 200, 96))
    assert head.start(torch.randn(3, 32), keys).shape == (3, 201)


def test_ends_lie_in_the_band_after_their_start() -> None:
    head, starts = make_heads().extract, torch.tensor([0, 100, 199])
    features = torch.randn(3, 200, 96)
    logits = head.end(torch.randn(3, 32), features[:, 0], starts, head.end_key(features))
    assert logits.shape == (3, 200)
    for row, start in zip(logits, starts.tolist(), strict=True):
        inside = torch.zeros(200, dtype=torch.bool)
        inside[start : start + MAX_SPAN_TOKENS] = True
        assert torch.equal(row.isfinite(), inside)


def test_the_distance_bias_is_added_by_distance() -> None:
    head = make_heads().extract
    torch.nn.init.normal_(head.distance_bias)
    bias = head.end_bias(torch.tensor([2]), 9)
    assert torch.equal(bias[0, 2:], head.distance_bias[:7])


def test_temperatures_are_found_by_name_and_saved() -> None:
    heads = make_heads()
    heads.temperatures.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    assert [heads.temperature(name) for name in HEAD_NAMES] == [1, 2, 3, 4]
    assert "temperatures" in heads.state_dict()
