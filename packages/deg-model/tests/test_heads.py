from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, strategies as st

from deg_model import HEAD_NAMES, MAX_COUNT, MAX_SPAN_TOKENS, Heads, anchor_bias_of, load_heads

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


def test_every_number_of_items_has_a_logit() -> None:
    assert make_heads().count(torch.randn(3, 32)).shape == (3, MAX_COUNT + 1)


def test_an_anchor_logit_is_a_scaled_product_a_prior_and_a_bias() -> None:
    head, answer_H, features_TK = make_heads().anchor, torch.randn(32), torch.randn(7, 96)
    keys_TD, prior_T = head.key(features_TK), head.prior(features_TK)[:, 0]
    expected = keys_TD[4] @ head.query(answer_H) / 16 + prior_T[4] - 6
    found_1T = head(answer_H[None], keys_TD[None], prior_T[None])
    assert torch.allclose(found_1T[0, 4], expected, atol=1e-5)


# one number for each side and bucket: outside from 0, inside from 100
TABLE = torch.arange(15) + torch.tensor([[0], [100]])


@pytest.mark.parametrize(
    ("distances", "bucket"),
    [
        ((-9999, -257), 0),
        ((-256, -65), 1),
        ((-64, -17), 2),
        ((-16, -5), 3),
        ((-4, -1), 4),
        ((0,), 5),
        ((1,), 6),
        ((2, 3), 7),
        ((4, 7), 8),
        ((8, 15), 9),
        ((16, 31), 10),
        ((32, 63), 11),
        ((64, 127), 12),
        ((128, 255), 13),
        ((256, 9999), 14),
    ],
)
def test_the_anchor_bias_is_shared_by_tokens_about_as_far_away(
    distances: tuple[int, ...], bucket: int
) -> None:
    tokens = 10_000 + torch.tensor(distances)
    outside = anchor_bias_of(TABLE, tokens, 10_000, 10_000)
    assert outside.tolist() == [bucket] * len(distances)
    reaching_on = anchor_bias_of(TABLE, tokens, 10_000, 20_000)
    side = 100 if distances[0] >= 0 else 0
    assert reaching_on.tolist() == [side + bucket] * len(distances)


@given(anchor=st.integers(0, 60), length=st.integers(1, 60), num_tokens=st.integers(0, 130))
def test_tokens_are_inside_from_the_anchor_to_the_end_of_the_region(
    anchor: int, length: int, num_tokens: int
) -> None:
    bias_T = anchor_bias_of(TABLE, torch.arange(num_tokens), anchor, anchor + length)
    inside = [token for token, bias in enumerate(bias_T.tolist()) if bias >= 100]
    assert inside == [token for token in range(anchor, anchor + length) if token < num_tokens]


@given(regions=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 80)), min_size=1, max_size=5))
def test_questions_side_by_side_get_the_bias_each_gets_alone(
    regions: list[tuple[int, int]],
) -> None:
    anchors_R1, ends_R1 = torch.tensor(regions).T[..., None]
    bias_RT = anchor_bias_of(TABLE, torch.arange(50), anchors_R1, ends_R1)
    for bias_T, (anchor, end) in zip(bias_RT, regions, strict=True):
        assert torch.equal(bias_T, anchor_bias_of(TABLE, torch.arange(50), anchor, end))


def test_the_anchor_bias_begins_as_none() -> None:
    table_2B = make_heads().extract.anchor_bias[1]
    assert table_2B.shape == TABLE.shape
    assert not anchor_bias_of(table_2B, torch.arange(600), 300, 400).any()


def test_what_arrays_added_stays_as_it_is_where_none_is_given() -> None:
    heads, other = make_heads(), Heads(32, 96)
    given_tensors = {
        name: tensor
        for name, tensor in other.state_dict().items()
        if not name.startswith(("count.", "anchor.", "extract.anchor_bias"))
    }
    before = heads.count.counts.weight.clone()
    load_heads(heads, given_tensors)
    assert torch.equal(heads.count.counts.weight, before)
    assert torch.equal(heads.extract.start_key.weight, other.extract.start_key.weight)


def test_temperatures_are_found_by_name_and_saved() -> None:
    heads = make_heads()
    heads.temperatures.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    assert [heads.temperature(name) for name in HEAD_NAMES] == [1, 2, 3, 4]
    assert "temperatures" in heads.state_dict()
