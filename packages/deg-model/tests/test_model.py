from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from deg_model import (
    MAX_COUNT,
    ContextState,
    DegModel,
    Fork,
    ForkBucket,
    SpanScores,
    TrainingAttention,
    anchor_bias_of,
    model as module,
    passes,
    reading,
    stack,
    tap_features,
)

DTYPES = [torch.float32, torch.bfloat16]
HEADS = ("choice", "extract", "noul", "score", "count", "anchor")


def random_fork(length: int, *, head: str | None = None, seed: int = 0) -> Fork:
    draw = random.Random(100 * seed + length)
    ids = tuple(draw.randrange(300) for _ in range(length))
    options = tuple(sorted({draw.randrange(length) for _ in range(4)}))
    head = head or HEADS[length % len(HEADS)]
    anchored = head == "extract" and draw.random() < 0.5
    return Fork(ids, options, head, (3, 9) if anchored else None)


def bits(answer: Tensor | SpanScores) -> list[Tensor]:
    if isinstance(answer, Tensor):
        return [answer]
    starts = range(0, len(answer.log_start), 7)
    return [answer.log_start, torch.tensor(answer.log_null), answer.log_end(starts)]


def same(one: Tensor | SpanScores, other: Tensor | SpanScores) -> bool:
    pairs = zip(bits(one), bits(other), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def alone(
    model: DegModel, forks: Sequence[Fork], contexts: Sequence[ContextState]
) -> list[Tensor | SpanScores]:
    pairs = zip(forks, contexts, strict=True)
    return [model.answer([fork], [context])[0] for fork, context in pairs]


@pytest.fixture(scope="module", params=DTYPES, ids=["fp32", "bf16"])
def model(request: pytest.FixtureRequest, make_model: Callable[..., DegModel]) -> DegModel:
    return make_model(hidden=256, layers=3, dtype=request.param)


@pytest.fixture(scope="module")
def context(model: DegModel) -> ContextState:
    return model.read("the quick brown fox jumps over naïve 東京. " * 3)


def test_forks_of_every_length_have_the_bits_they_have_alone(
    model: DegModel, context: ContextState
) -> None:
    forks = [random_fork(length) for length in range(1, 41)]
    contexts = [context] * len(forks)
    together = model.answer(forks, contexts)
    assert all(map(same, together, alone(model, forks, contexts)))


def test_the_order_of_forks_changes_no_bit(model: DegModel, context: ContextState) -> None:
    forks = [random_fork(length, seed=1) for length in (3, 17, 40, 1, 22, 9, 31, 8)]
    expected = model.answer(forks, [context] * 8)
    order = random.Random(0).sample(range(8), 8)
    permuted = model.answer([forks[i] for i in order], [context] * 8)
    assert all(same(found, expected[i]) for found, i in zip(permuted, order, strict=True))


@pytest.mark.parametrize("num_others", [1, 2, 5, 30])
def test_the_number_of_other_forks_changes_no_bit(
    model: DegModel, context: ContextState, num_others: int
) -> None:
    for head in HEADS:
        fork = random_fork(13, head=head)
        others = [random_fork(5 + n, seed=2) for n in range(num_others)]
        (expected,) = model.answer([fork], [context])
        *_, found = model.answer([*others, fork], [context] * (num_others + 1))
        assert same(found, expected)


def test_forks_on_other_contexts_change_no_bit(model: DegModel, context: ContextState) -> None:
    contexts = [context, model.read("fox"), model.read("jumps, 東京 " * 20), context]
    forks = [random_fork(length, seed=3) for length in (12, 30, 7, 19)]
    together = model.answer(forks, contexts)
    assert all(map(same, together, alone(model, forks, contexts)))


def test_forks_cut_into_several_passes_keep_their_bits(
    model: DegModel, context: ContextState, monkeypatch: pytest.MonkeyPatch
) -> None:
    forks = [random_fork(length, seed=4) for length in (12, 30, 7, 19)]
    expected = model.answer(forks, [context] * 4)
    monkeypatch.setattr(module, "_CHUNK", 40)
    assert all(map(same, model.answer(forks, [context] * 4), expected))


def test_reading_again_gives_the_same_bits(model: DegModel, context: ContextState) -> None:
    again = model.read("the quick brown fox jumps over naïve 東京. " * 3)
    assert torch.equal(again.span_keys.features_TK[:], context.span_keys.features_TK[:])
    assert same(*(model.answer([random_fork(9)], [state])[0] for state in (again, context)))


def test_one_other_token_is_seen(model: DegModel, context: ContextState) -> None:
    fork = random_fork(20, head="choice")
    other = Fork((fork.ids[0] ^ 1, *fork.ids[1:]), fork.options, fork.head)
    one, two = model.answer([fork, other], [context] * 2)
    assert not same(one, two)
    assert not same(one, model.answer([fork], [model.read("the quick brown dog")])[0])


def test_with_a_plain_product_company_would_show(
    make_model: Callable[..., DegModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make_model(hidden=256, layers=3)
    contexts = [model.read("the quick brown fox")] * 40
    forks = [random_fork(length, head="choice") for length in range(1, 41)]
    monkeypatch.setattr(passes, "_ROW_GRID", 1)
    monkeypatch.setattr(stack, "linear", F.linear)
    together = model.answer(forks, contexts)
    if all(map(same, together, alone(model, forks, contexts))):
        pytest.skip("this machine's matrix library treats every number of rows alike")


def test_contexts_read_together_have_the_bits_they_have_alone(
    model: DegModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["fox " * 30, "", "the quick brown fox", "naïve 東京 " * 9, "a"]
    fork = random_fork(11, head="extract")
    for num_tokens in (4096, 100):
        monkeypatch.setattr(reading, "_PASS_TOKENS", num_tokens)
        for text, state in zip(texts, model.read_many(texts), strict=True):
            expected = model.read(text)
            assert state.encoded == expected.encoded
            assert same(*(model.answer([fork], [one])[0] for one in (state, expected)))


def test_answers_are_what_training_computes(make_model: Callable[..., DegModel]) -> None:
    model, names = make_model(), ("extract", "score", "count", "anchor")
    forks = [random_fork(7, head=name, seed=seed) for seed, name in enumerate(names)]
    forks[0] = replace(forks[0], anchor=(3, 9))
    state = model.read("the quick brown fox jumps")
    span, score, count, anchor = model.answer(forks, [state] * 4)
    heads, num = model.heads, len(state.encoded.ids)
    bucket = ForkBucket(torch.tensor([0] * 4), torch.tensor([7] * 4), 7)
    tapped = model.backbone.hidden(
        torch.tensor([*state.encoded.ids, *(token for fork in forks for token in fork.ids)]),
        torch.cat([torch.arange(num), *[num + torch.arange(7)] * 4]),
        TrainingAttention(torch.tensor([num]), num, [bucket], each=2, dtype=torch.float32),
        taps=model.taps,
    )
    final_RLH = tapped[-1][num:].view(4, 7, -1)
    features_1TK = tap_features([tap[:num] for tap in tapped])[
        None, state.encoded.first : state.encoded.first + state.encoded.num_tokens
    ]
    logits_Z = heads.extract.start(final_RLH[0, -1:], heads.extract.start_key(features_1TK))[0]
    tokens_T = torch.arange(state.encoded.num_tokens)
    logits_Z[:-1] += anchor_bias_of(heads.extract.anchor_bias[0], tokens_T, 3, 9)
    assert torch.allclose(span.log_start, logits_Z.div(0.8).log_softmax(-1)[:-1], atol=1e-4)
    logits_O = heads.score(final_RLH[1, -1:], final_RLH[1, list(forks[1].options)][None])[0]
    assert torch.allclose(score, (logits_O / 0.9).softmax(-1), atol=1e-4)
    assert torch.allclose(count, heads.count(final_RLH[2, -1:])[0], atol=1e-4)
    keys_1TD, prior_1T = heads.anchor.key(features_1TK), heads.anchor.prior(features_1TK)[..., 0]
    logits_1T = heads.anchor(final_RLH[3, -1:], keys_1TD, prior_1T)
    assert torch.allclose(anchor, logits_1T[0], atol=1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("family", ["llama", "qwen3.5", "lfm2"])
def test_questions_about_arrays_have_the_bits_they_have_alone(
    make_model: Callable[..., DegModel], family: str, dtype: torch.dtype
) -> None:
    model = make_model(family, hidden=256, dtype=dtype)
    states = model.read_many(["the quick brown fox jumps", "naïve 東京 " * 30, "fox"])
    arrays = [random_fork(5 + n, head=("count", "anchor")[n % 2], seed=7) for n in range(6)]
    spans = [Fork(random_fork(9 + n).ids, (), "extract", (n, 3 * n + 2)) for n in range(6)]
    forks = [*arrays, random_fork(11, head="choice"), *spans]
    contexts = [states[number % 3] for number in range(len(forks))]
    together = model.answer(forks, contexts)
    assert all(map(same, together, alone(model, forks, contexts)))


def test_an_answer_keeps_no_hidden_state_of_its_other_tokens(
    make_model: Callable[..., DegModel],
) -> None:
    model = make_model(hidden=256)
    state = model.read("fox")
    (span,) = model.answer([random_fork(400, head="extract")], [state])
    kept = [value for value in vars(span).values() if isinstance(value, Tensor)]
    assert kept
    assert sum(tensor.untyped_storage().nbytes() for tensor in kept) < 10 * 256 * 4


@pytest.mark.parametrize("family", ["qwen3.5", "lfm2"])
def test_a_hybrid_answers_each_fork_as_if_alone(
    make_model: Callable[..., DegModel], family: str
) -> None:
    model = make_model(family, hidden=256, dtype=torch.bfloat16)
    states = model.read_many(["the quick brown fox", "naïve 東京 " * 9, "fox"])
    contexts = [states[number] for number in (1, 0, 1, 2, 1, 0)]
    contexts.append(model.read("jumps"))
    forks = [random_fork(length, seed=6) for length in (3, 17, 26, 1, 22, 9, 12)]
    together = model.answer(forks, contexts)
    assert all(map(same, together, alone(model, forks, contexts)))
    again = model.answer(forks[:1], [model.read("naïve 東京 " * 9)])
    assert same(together[0], again[0])


def test_decide_answers_are_probabilities(model: DegModel, context: ContextState) -> None:
    for head, count in (("choice", 3), ("score", 3), ("noul", 2)):
        fork = Fork((5, 6, 7, 8), (0, 1, 2) if head != "noul" else (), head)
        (answer,) = model.answer([fork], [context])
        assert (answer.shape, answer.dtype) == ((count,), torch.float32)
        assert float(answer.sum()) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("text", ["", " ", "\x00", "\n\n", "a"])
def test_a_context_may_be_next_to_nothing(make_model: Callable[..., DegModel], text: str) -> None:
    model = make_model()
    state = model.read(text)
    forks = [random_fork(5, head=head) for head in ("choice", "extract", "anchor", "count")]
    choice, span, anchor, count = model.answer(forks, [state] * 4)
    assert state.encoded.num_tokens == len(span.log_start) == len(anchor) == len(text)
    assert len(count) == MAX_COUNT + 1
    assert float(choice.sum()) == pytest.approx(1, abs=1e-5)
    assert span.log_null <= 0


def test_no_forks_have_no_answers(model: DegModel) -> None:
    assert model.answer([], []) == []


def test_a_context_may_be_longer_than_the_trained_positions(
    make_model: Callable[..., DegModel],
) -> None:
    model = make_model(layers=1, heads=1, max_positions=512)
    state = model.read("q" * 8000)
    (span,) = model.answer([random_fork(5, head="extract")], [state])
    assert state.encoded.num_tokens == len(span.log_start) == 8000
    assert state.state.length == len(state.encoded.ids)
    assert torch.isfinite(span.log_start).all()
