from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from deg_model import (
    BASE_READS,
    BASES,
    DEFAULT_BASE,
    AdapterPlan,
    Backbone,
    EncodedContext,
    Fork,
)
from deg_train.batches import Batch, collate, pack
from deg_train.fit_options import FitOptions
from deg_train.gradients import Gradients, gradients
from deg_train.losses import LOSSES
from deg_train.memory import Unit
from deg_train.passes import Hidden
from deg_train.questions import Example, Question
from deg_train.trainer import Trainer

FAMILIES = ("llama", "qwen3.5", "lfm2")


def asked(num_context: int) -> Example:
    """Return an example that asks something of every head."""
    generator = torch.Generator().manual_seed(num_context)

    def ids(num: int) -> tuple[int, ...]:
        return tuple(torch.randint(1, 60, (num,), generator=generator).tolist())

    context = EncodedContext(ids(num_context), 0, (0,) * num_context, (0,) * num_context)
    questions = (
        Question(Fork(ids(4), (), "extract"), spans=((2, 3), (5, 5))),
        Question(Fork(ids(7), (), "extract")),
        Question(Fork(ids(9), (2, 5, 7), "choice"), outcome=1),
        Question(Fork(ids(8), (3, 6), "choice"), outcome=0),
        Question(Fork(ids(5), (), "noul"), outcome=1),
        Question(Fork(ids(3), (), "count"), outcome=2, counts=(0, 9)),
        Question(Fork(ids(6), (), "anchor"), starts=(1, 6), region=(0, 8)),
    )
    return Example(context, questions)


class Scarce(Trainer):
    """A trainer that has no memory for more tokens than `most` at once."""

    most = 10**9

    def read(self, batch: Batch, *, recompute: bool = False) -> Hidden:
        if len(batch.ids_N) > self.most:
            torch.empty(1 << 50)
        return super().read(batch, recompute=recompute)


def made(backbone: Backbone, of: type[Trainer] = Trainer, **options: Any) -> Trainer:
    trainer = of(backbone, BASES[DEFAULT_BASE], FitOptions(rank=3, warmup=1, **options))
    # a gradient that reaches every parameter
    torch.manual_seed(1)
    for parameter in trainer.parameters:
        torch.nn.init.normal_(parameter, std=0.1)
    return trainer


@pytest.fixture(params=FAMILIES)
def backbone(request: pytest.FixtureRequest, make_backbone: Callable[[str], Backbone]) -> Backbone:
    return make_backbone(request.param)


def assert_same(found: Sequence[Tensor | None], expected: Sequence[Tensor | None]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4 * float(other.abs().max()))


def total(found: Gradients, name: str) -> float:
    return sum(float(losses[name].total) for _, losses in found.done if name in losses)


@pytest.mark.parametrize("recompute", [False, True])
def test_parts_over_one_trunk_have_the_gradient_of_the_whole(
    backbone: Backbone, recompute: bool
) -> None:
    trainer, batch = made(backbone), collate([asked(12), asked(19)])
    whole = gradients(trainer, [Unit(batch)], LOSSES)
    parted = gradients(trainer, [Unit(batch, 5, recompute)], LOSSES)
    assert len(parted.done) == 5
    assert sum(grad is not None for grad in whole.grads) > len(LOSSES)
    assert_same(parted.grads, whole.grads)
    assert {n: total(parted, n) for n in LOSSES} == pytest.approx(
        {n: total(whole, n) for n in LOSSES}, rel=1e-4
    )


@pytest.mark.parametrize(
    "plan",
    [
        AdapterPlan((), BASE_READS),
        AdapterPlan(("decide", "extract"), BASE_READS),
        AdapterPlan(("decide", "extract"), "extract"),
    ],
)
def test_parts_have_the_gradient_of_the_whole_whatever_is_trained(
    make_backbone: Callable[[str], Backbone], plan: AdapterPlan
) -> None:
    options = FitOptions(rank=3, plan=plan, memory=1 << 30)
    trainer = Trainer(make_backbone("llama"), BASES[DEFAULT_BASE], options)
    batch = collate([asked(12), asked(19)])
    whole = gradients(trainer, [Unit(batch)], LOSSES)
    for unit in (Unit(batch, 5), Unit(batch, 3, recompute=True)):
        assert_same(gradients(trainer, [unit], LOSSES).grads, whole.grads)


def test_a_trunk_that_is_read_once_is_gone_back_through_once(
    make_backbone: Callable[[str], Backbone], monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = made(make_backbone("llama"))
    read, trunk_of = [], trainer.read_trunk
    monkeypatch.setattr(
        trainer, "read_trunk", lambda batch, **how: read.append(batch) or trunk_of(batch, **how)
    )
    gradients(trainer, [Unit(collate([asked(12)]), 7)], LOSSES)
    assert len(read) == 1


@pytest.mark.parametrize("most", [120, 60, 30])
def test_what_memory_fails_at_is_read_again_in_smaller_parts(backbone: Backbone, most: int) -> None:
    batch = collate([asked(12), asked(19)])
    expected = gradients(made(backbone), [Unit(batch)], LOSSES)
    scarce = made(backbone, Scarce)
    scarce.most = most
    found = gradients(scarce, [Unit(batch)], LOSSES)
    assert len(found.failed) > 0
    assert not found.lost
    assert all(len(part.ids_N) <= most for part, _ in found.done)
    assert_same(found.grads, expected.grads)


def test_parts_that_fail_together_get_a_trunk_each(
    make_backbone: Callable[[str], Backbone], monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer, unit = made(make_backbone("llama")), Unit(collate([asked(12)]), 3)
    expected = gradients(trainer, [unit], LOSSES)
    monkeypatch.setattr(trainer, "read_forks", lambda *_, **__: torch.empty(1 << 50))
    found = gradients(trainer, [unit], LOSSES)
    assert found.failed == [unit]
    assert len(found.done) == 3
    assert_same(found.grads, expected.grads)


def test_another_error_is_not_taken_for_a_lack_of_memory(
    make_backbone: Callable[[str], Backbone], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> Hidden:
        raise RuntimeError("shapes do not match")

    trainer = made(make_backbone("llama"))
    monkeypatch.setattr(trainer, "read", fail)
    with pytest.raises(RuntimeError, match="do not match"):
        gradients(trainer, [Unit(collate([asked(12)]))], LOSSES)


def test_a_step_that_memory_failed_in_is_the_step_without_the_failure(
    make_backbone: Callable[[str], Backbone],
) -> None:
    calm, scarce = (made(make_backbone("llama"), of, memory=1 << 30) for of in (Trainer, Scarce))
    assert scarce.planner == calm.planner
    scarce.most = 60
    batches = pack([asked(12), asked(19)], 1000)
    expected, found = (trainer.train_step(batches) for trainer in (calm, scarce))
    assert (expected.rerun, expected.lost) == (0, 0)
    assert found.rerun > 0
    assert found.lost == 0
    assert found.losses == pytest.approx(expected.losses, rel=1e-4)
    assert found.right == expected.right
    for one, other in zip(scarce.parameters, calm.parameters, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


def test_a_question_that_fits_no_memory_is_lost_and_said(
    make_backbone: Callable[[str], Backbone],
) -> None:
    scarce = made(make_backbone("llama"), Scarce)
    assert scarce.planner
    # the longest forks, alone beside their context, are beyond this
    scarce.most = 12 + 7
    found = scarce.train_step([collate([asked(12)])])
    assert found.lost == 2
    assert "choice" not in found.losses
    assert found.losses.keys() == {"decide", "extract", "count", "anchor"}
    assert all(torch.isfinite(parameter).all() for parameter in scarce.parameters)


def test_a_step_within_little_memory_is_the_step_within_much(
    make_backbone: Callable[[str], Backbone],
) -> None:
    batch = collate([asked(12), asked(19)])
    much, little = (made(make_backbone("qwen3.5"), memory=m) for m in (1 << 40, 1 << 16))
    expected, found = (trainer.train_step([batch]) for trainer in (much, little))
    assert [unit.num_parts for unit in much.planner.plan(batch)] == [1]
    assert [unit.num_parts for unit in little.planner.plan(batch)] == [7, 7]
    assert found.losses == pytest.approx(expected.losses, rel=1e-4)
    for one, other in zip(little.parameters, much.parameters, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
