from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings, strategies as st

from deg_model import DegModel, Writer
from deg_train.batches import collate
from deg_train.losses import batch_losses
from deg_train.passes import read_batch
from deg_train.questions import example_of
from deg_train.records import Record
from deg_train.text_loss import next_token_losses, text_divergences, text_losses


@given(st.integers(1, 300), st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_losses_and_gradients_are_those_of_the_whole_softmax(num_tokens: int, seed: int) -> None:
    torch.manual_seed(seed)
    hidden_NH = torch.randn(num_tokens, 8, requires_grad=True)
    head_VH, target_N = torch.randn(50, 8), torch.randint(50, (num_tokens,))
    weight_N = torch.randn(num_tokens)
    losses_N, right_N = next_token_losses(hidden_NH, head_VH, target_N)
    whole_NV = hidden_NH @ head_VH.T
    want_N = F.cross_entropy(whole_NV, target_N, reduction="none")
    torch.testing.assert_close(losses_N, want_N)
    assert right_N.equal(whole_NV.argmax(-1) == target_N)
    (grad,) = torch.autograd.grad((losses_N * weight_N).sum(), hidden_NH)
    (want,) = torch.autograd.grad((want_N * weight_N).sum(), hidden_NH)
    torch.testing.assert_close(grad, want)


@given(st.integers(1, 300), st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_divergences_and_their_gradients_are_those_of_the_whole_softmax(
    num_tokens: int, seed: int
) -> None:
    torch.manual_seed(seed)
    hidden_NH = torch.randn(num_tokens, 8, requires_grad=True)
    base_NH, head_VH = torch.randn(num_tokens, 8), torch.randn(50, 8)
    cut = num_tokens // 3 + 1
    lengths = [cut, num_tokens - cut] if num_tokens > cut else [num_tokens]
    answers = [cut - 1, num_tokens - 1][: len(lengths)]
    targets = [[0] * length for length in lengths]
    found_R = text_divergences(hidden_NH, base_NH, head_VH, answers, targets)
    log_q, log_p = ((each @ head_VH.T).log_softmax(-1) for each in (hidden_NH, base_NH))
    each_N = F.kl_div(log_q, log_p, log_target=True, reduction="none").sum(-1)
    want_R = torch.stack([own.mean() for own in torch.split(each_N, lengths)])
    torch.testing.assert_close(found_R, want_R)
    (grad,) = torch.autograd.grad(found_R.sum(), hidden_NH, retain_graph=True)
    (want,) = torch.autograd.grad(want_R.sum(), hidden_NH)
    torch.testing.assert_close(grad, want)


def test_nothing_is_far_from_itself() -> None:
    torch.manual_seed(0)
    same_NH, head_VH = torch.randn(9, 8, requires_grad=True), torch.randn(50, 8)
    far_R = text_divergences(same_NH, same_NH.detach(), head_VH, [8], [[0] * 9])
    assert far_R.item() == 0
    assert not torch.autograd.grad(far_R.sum(), same_NH)[0].any()


def test_a_text_has_the_mean_of_its_tokens_and_is_right_as_a_whole() -> None:
    head_VH = torch.eye(4) * 9
    final_NH = torch.eye(4)[[3, 0, 1, 2, 3]]
    losses_R, num_right = text_losses(final_NH, head_VH, [2, 4], [[0, 1], [2, 0]])
    (one, two) = next_token_losses(final_NH[3:], head_VH, torch.tensor([2, 0]))[0]
    assert losses_R[1].item() == pytest.approx(float(one + two) / 2)
    assert num_right == 1


def test_the_loss_is_minus_the_log_of_what_the_writer_would_write(model: DegModel) -> None:
    leaf = {"type": "string", "x-generate": True}
    schema = {"type": "object", "properties": {"a": {"type": "boolean"}, "x": leaf}}
    value = {"a": True, "x": "Ann owes 12 euro"}
    example = example_of(Record("Ann owes 12", schema, value, {}, "m"), model.tokenizer, texts=True)
    batch, head_VH = collate([example]), model.backbone.embedding_VH
    with torch.no_grad():
        hidden = read_batch(model.backbone, batch, taps=model.taps)
        losses = batch_losses(model.heads, batch, hidden, head_VH=head_VH)
    text = example.questions[-1]
    writer, num_steps = Writer(model.backbone, head_VH, model.tokenizer), len(text.targets)
    ids = text.fork.ids
    row, state, total = ids[: len(ids) - num_steps + 1], writer.read(example.context.ids), 0.0
    for target in text.targets:
        logits_1V, (state,) = writer.extend([row], [state])
        total -= float(logits_1V[0].log_softmax(-1)[target])
        row = (target,)
    assert losses["lm"].total.item() == pytest.approx(total / num_steps, rel=1e-4)
