from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from deg_model import DegModel
from deg_train.batches import collate
from deg_train.losses import batch_losses
from deg_train.passes import read_batch
from deg_train.questions import Example
from deg_train.trainer import Trainer


def test_a_batch_loses_what_its_examples_lose_alone(
    make_trainer: Callable[..., Trainer], examples: list[Example]
) -> None:
    trainer = make_trainer()
    with torch.no_grad():
        together = trainer.losses(collate(examples))
        alone = [trainer.losses(collate([example])) for example in examples]
    torch.testing.assert_close(together.decide, sum(each.decide for each in alone))
    torch.testing.assert_close(together.extract, sum(each.extract for each in alone))
    assert together.num_extract == sum(each.num_extract for each in alone)
    assert together.decide_right == sum(each.decide_right for each in alone)
    assert together.extract_right == sum(each.extract_right for each in alone)


def test_the_loss_is_minus_the_log_of_what_the_runtime_answers(
    model: DegModel, examples: list[Example]
) -> None:
    example = examples[0]
    batch = collate([example])
    with torch.no_grad():
        hidden = read_batch(model.backbone, batch, taps=model.taps)
        losses = batch_losses(model.heads, batch, hidden)
    context = model.read("Ann writes about billing: Ann owes 12 euro since 1 May 2024.")
    decide = extract = 0.0
    for question in example.questions:
        (answer,) = model.answer([question.fork], [context])
        if isinstance(answer, torch.Tensor):
            decide -= float(answer[question.outcome].log())
            continue
        joint = [
            float(answer.log_start[start] + answer.log_end([start])[0, end - start])
            for start, end in question.spans
        ]
        extract -= float(torch.tensor(joint).logsumexp(0))
    assert losses.decide.item() == pytest.approx(decide, rel=1e-4)
    assert losses.extract.item() == pytest.approx(extract, rel=1e-4)


def test_an_absent_value_is_learned_as_null(model: DegModel, examples: list[Example]) -> None:
    example = examples[2]
    absent = [question for question in example.questions if question.outcome < 0][1:]
    batch = collate([replace(example, questions=tuple(absent))])
    with torch.no_grad():
        hidden = read_batch(model.backbone, batch, taps=model.taps)
        losses = batch_losses(model.heads, batch, hidden)
    (scores,) = model.answer(
        [absent[0].fork], [model.read("Cleo writes about billing: Cleo is here.")]
    )
    assert not isinstance(scores, torch.Tensor)
    assert losses.extract.item() == pytest.approx(-scores.log_null, rel=1e-4)
    assert (losses.num_extract, losses.num_decide) == (1, 0)
    assert losses.decide.item() == 0


def test_every_loss_has_a_finite_gradient(
    make_trainer: Callable[..., Trainer], examples: list[Example]
) -> None:
    trainer = make_trainer()
    losses = trainer.losses(collate(examples))
    (losses.decide + losses.extract).backward()
    gradients = [p.grad for p in trainer.heads.parameters() if p.grad is not None]
    assert len(gradients) == len(list(trainer.heads.parameters()))
    assert all(bool(gradient.isfinite().all()) for gradient in gradients)
