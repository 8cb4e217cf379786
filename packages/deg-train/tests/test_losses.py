from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from deg_model import DegModel, Tokenizer
from deg_train.batches import collate
from deg_train.losses import LOSSES, batch_losses
from deg_train.passes import read_batch
from deg_train.questions import Example, example_of
from deg_train.records import Record
from deg_train.trainer import Trainer


def test_a_batch_loses_what_its_examples_lose_alone(
    make_trainer: Callable[..., Trainer], examples: list[Example]
) -> None:
    trainer = make_trainer()
    with torch.no_grad():
        together = trainer.losses(collate(examples))
        alone = [trainer.losses(collate([example])) for example in examples]
    assert together.keys() == {"decide", "extract"}
    for name, loss in together.items():
        parts = [each[name] for each in alone if name in each]
        torch.testing.assert_close(loss.total, sum(part.total for part in parts))
        assert loss.num_right == sum(part.num_right for part in parts)


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
    assert losses["decide"].total.item() == pytest.approx(decide, rel=1e-4)
    assert losses["extract"].total.item() == pytest.approx(extract, rel=1e-4)


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
    assert losses["extract"].total.item() == pytest.approx(-scores.log_null, rel=1e-4)
    assert losses.keys() == {"extract"}


def test_the_losses_of_arrays_are_those_of_what_the_runtime_answers(
    model: DegModel, array_record: Record, array_example: Example
) -> None:
    batch = collate([array_example])
    with torch.no_grad():
        model.heads.extract.anchor_bias.normal_()
        hidden = read_batch(model.backbone, batch, taps=model.taps)
        losses = batch_losses(model.heads, batch, hidden)
    context = model.read(array_record.context)
    want = {"extract": 0.0, "anchor_count": 0.0, "anchor": 0.0}
    for question in array_example.questions:
        (answer,) = model.answer([question.fork], [context])
        if question.fork.head == "count":
            want["anchor_count"] -= float(answer.log_softmax(-1)[question.outcome])
        elif question.fork.head == "anchor":
            starts = torch.zeros(len(answer))
            starts[list(question.starts)] = 1
            loss = F.binary_cross_entropy_with_logits(answer, starts, reduction="sum")
            want["anchor"] += float(loss) / (1 + len(question.starts))
        else:
            joint = [
                float(answer.log_start[start] + answer.log_end([start])[0, end - start])
                for start, end in question.spans
            ] or [answer.log_null]
            want["extract"] -= float(torch.tensor(joint).logsumexp(0))
    assert {name: loss.total.item() for name, loss in losses.items()} == pytest.approx(
        want, rel=1e-3
    )


def test_every_loss_has_a_finite_gradient(
    make_trainer: Callable[..., Trainer],
    examples: list[Example],
    array_example: Example,
    tokenizer: Tokenizer,
) -> None:
    trainer = make_trainer(lm_kl_base=1.0)
    items = {"type": "array", "items": {"type": "boolean"}}
    schema = {
        "type": "object",
        "properties": {"x": {"type": "string", "x-generate": True}, "y": items},
    }
    record = Record("Ann", schema, {"x": "Bob", "y": [True]}, {}, "made")
    written = example_of(record, tokenizer, texts=True)
    losses = trainer.losses(collate([*examples, array_example, written]))
    assert losses.keys() == LOSSES.keys()
    torch.stack([loss.total for loss in losses.values()]).sum().backward()
    gradients = [p.grad for p in trainer.heads.parameters() if p.grad is not None]
    assert len(gradients) == len(list(trainer.heads.parameters()))
    assert all(bool(gradient.isfinite().all()) for gradient in gradients)
