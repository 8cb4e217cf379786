from __future__ import annotations

import pytest
import torch
from torch import Tensor

from deg_kernels import linear
from deg_model import (
    MAX_SPAN_TOKENS,
    Heads,
    SpanKeys,
    SpanScores,
    TapFeatures,
    anchor_bias_of,
    scores as module,
    tap_features,
)
from deg_model.scores import anchor_logits, count_logits, probabilities


def make_heads() -> Heads:
    torch.manual_seed(0)
    heads = Heads(32, 96)
    torch.nn.init.normal_(heads.extract.distance_bias)
    torch.nn.init.normal_(heads.extract.anchor_bias)
    heads.temperatures.copy_(torch.tensor([0.5, 2.0, 3.0, 0.7]))
    return heads.requires_grad_(False)


def span_scores(
    num_tokens: int, anchor: tuple[int, int] | None = None
) -> tuple[SpanScores, Heads, Tensor, Tensor]:
    heads, features_TK, answer_H = make_heads(), torch.randn(num_tokens, 96), torch.randn(32)
    keys = SpanKeys(features_TK, heads.extract, heads.anchor)
    return SpanScores(answer_H, keys, 0.7, anchor=anchor), heads, features_TK, answer_H


@pytest.mark.parametrize("num_tokens", [0, 1, 17, 300])
def test_starts_and_null_are_one_distribution(num_tokens: int) -> None:
    scores, *_ = span_scores(num_tokens)
    total = scores.log_start.exp().sum() + torch.tensor(scores.log_null).exp()
    assert scores.log_start.shape == (num_tokens,)
    assert torch.allclose(total, torch.ones(()), atol=1e-5)


def test_ends_given_a_start_are_a_distribution_over_the_band() -> None:
    scores, *_ = span_scores(300)
    for start, log_end_W in zip((0, 150, 299), scores.log_end([0, 150, 299]), strict=True):
        assert log_end_W.shape == (MAX_SPAN_TOKENS,)
        assert torch.allclose(log_end_W.exp().sum(), torch.ones(()), atol=1e-5)
        assert torch.isfinite(log_end_W[: 300 - start]).all()
        assert (log_end_W[300 - start :] == -torch.inf).all()


def test_no_starts_have_no_ends() -> None:
    assert span_scores(5)[0].log_end([]).shape == (0, 5)


@pytest.mark.parametrize("anchor", [None, (20, 60)])
@pytest.mark.parametrize("num_tokens", [1, 90, 200])
def test_a_start_has_the_same_ends_in_any_company(
    num_tokens: int, anchor: tuple[int, int] | None
) -> None:
    scores, *_ = span_scores(num_tokens, anchor)
    together_SW = scores.log_end(range(num_tokens))
    for start in {0, num_tokens // 2, num_tokens - 1}:
        assert torch.equal(scores.log_end([start])[0], together_SW[start])


@pytest.mark.parametrize("anchor", [None, (5, 30)])
def test_span_scores_are_what_the_head_is_trained_to_give(anchor: tuple[int, int] | None) -> None:
    scores, heads, features_TK, answer_H = span_scores(40, anchor)
    head, bias_2T = heads.extract, torch.zeros(2, 40)
    if anchor:
        bias_2T = torch.stack(
            [anchor_bias_of(t, torch.arange(40), 5, 30) for t in head.anchor_bias]
        )
    logits_Z = head.start(answer_H[None], head.start_key(features_TK)[None])[0]
    logits_Z[:-1] += bias_2T[0]
    expected_Z = (logits_Z / 0.7).log_softmax(-1)
    assert torch.allclose(scores.log_start, expected_Z[:-1], atol=1e-5)
    assert scores.log_null == pytest.approx(float(expected_Z[-1]), abs=1e-5)
    starts_S = torch.tensor([3, 39])
    logits_ST = head.end(
        answer_H.expand(2, -1),
        features_TK[starts_S],
        starts_S,
        head.end_key(features_TK).expand(2, -1, -1),
    )
    expected_ST = ((logits_ST + bias_2T[1]) / 0.7).log_softmax(-1)
    for start, log_end_W, log_end_T in zip(
        (3, 39), scores.log_end([3, 39]), expected_ST, strict=True
    ):
        assert torch.allclose(log_end_W[: 40 - start], log_end_T[start:], atol=1e-5)


def test_questions_asked_together_have_the_scores_they_have_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heads, answers_RH = make_heads(), torch.randn(7, 32)
    keys = SpanKeys(torch.randn(40, 96), heads.extract, heads.anchor)
    anchors = [None, (5, 30), None, (0, 3), (39, 40), None, None]
    monkeypatch.setattr(module, "_ROWS_PER_PASS", 3)
    together = SpanScores.each(answers_RH, keys, 0.7, anchors)
    # whatever the order in which they are looked at
    for row in (0, 6, 1, 3, 5, 4, 2):
        alone = SpanScores(answers_RH[row], keys, 0.7, anchor=anchors[row])
        assert torch.equal(together[row].log_start, alone.log_start)
        assert together[row].log_null == alone.log_null
        assert torch.equal(together[row].log_end([0, 9]), alone.log_end([0, 9]))


def test_many_questions_hold_the_scores_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    heads = make_heads()
    keys = SpanKeys(torch.randn(500, 96), heads.extract, heads.anchor)
    monkeypatch.setattr(module, "_LOGITS_PER_PASS", 2000)
    each = SpanScores.each(torch.randn(100, 32), keys, 0.7, [None] * 100)
    assert all(len(scores.log_start) == 500 for scores in each)
    held = {id(scores._starts): scores._starts._held_RZ for scores in each}
    assert sum(held_RZ.untyped_storage().nbytes() for held_RZ in held.values()) <= 4 * 2000


@pytest.mark.parametrize("num_tokens", [0, 7, 1024, 1500])
def test_keys_computed_in_blocks_are_those_computed_at_once(num_tokens: int) -> None:
    heads, taps_TCH = make_heads(), torch.randn(num_tokens, 3, 32).bfloat16()
    keys = SpanKeys(TapFeatures(taps_TCH), heads.extract, heads.anchor)
    features_TK = tap_features(list(taps_TCH.unbind(1)))
    assert torch.equal(keys.features_TK[:], features_TK)
    assert torch.equal(keys.start_TD, linear(features_TK, heads.extract.start_key.weight))
    assert torch.equal(keys.anchor_TD, linear(features_TK, heads.anchor.key.weight))
    computed = [keys.start_TD, keys.end_TD, keys.anchor_TD, keys.anchor_prior_T]
    held = [taps_TCH, *computed]
    assert keys.num_bytes == sum(t.numel() * t.element_size() for t in held)


def test_where_an_item_is_changes_where_its_values_are() -> None:
    plain, anchored = span_scores(40)[0], span_scores(40, (5, 30))[0]
    assert not torch.allclose(plain.log_start, anchored.log_start)
    assert not torch.allclose(plain.log_end([7]), anchored.log_end([7]))


@pytest.mark.parametrize("num_tokens", [0, 1, 300])
def test_anchor_logits_are_what_the_head_is_trained_to_give(num_tokens: int) -> None:
    heads, features_TK, answer_H = make_heads(), torch.randn(num_tokens, 96), torch.randn(32)
    head = heads.anchor
    keys_TD, prior_T = head.key(features_TK), head.prior(features_TK)[:, 0]
    expected_T = head(answer_H[None], keys_TD[None], prior_T[None])[0]
    found_T = anchor_logits(answer_H, SpanKeys(features_TK, heads.extract, head))
    assert found_T.shape == (num_tokens,)
    assert torch.allclose(found_T, expected_T, atol=1e-5)


def test_count_logits_are_what_the_head_is_trained_to_give() -> None:
    heads, answer_H = make_heads(), torch.randn(32)
    assert torch.allclose(count_logits(heads, answer_H), heads.count(answer_H[None])[0], atol=1e-5)


@pytest.mark.parametrize(("name", "temperature"), [("choice", 0.5), ("score", 2.0)])
def test_option_probabilities_are_what_the_head_is_trained_to_give(
    name: str, temperature: float
) -> None:
    heads, answer_H, options_OH = make_heads(), torch.randn(32), torch.randn(7, 32)
    logits_O = getattr(heads, name)(answer_H[None], options_OH[None])[0]
    found_O = probabilities(heads, name, answer_H, options_OH)
    assert torch.allclose(found_O, (logits_O / temperature).softmax(-1), atol=1e-6)


def test_yes_no_probabilities_are_what_the_head_is_trained_to_give() -> None:
    heads, answer_H = make_heads(), torch.randn(32)
    expected = (heads.noul(answer_H[None])[0] / 3.0).softmax(-1)
    assert torch.allclose(
        probabilities(heads, "noul", answer_H, torch.zeros(0, 32)), expected, atol=1e-6
    )
