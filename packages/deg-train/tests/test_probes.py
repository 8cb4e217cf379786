from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from deg_model import BASES, DEFAULT_BASE, Backbone, EncodedContext, Fork
from deg_train.batches import Batch, collate
from deg_train.fit_options import FitOptions
from deg_train.memory import Costs, Unit
from deg_train.probes import costs_of, measuring
from deg_train.questions import Example, Question
from deg_train.trainer import Trainer

CPU = torch.device("cpu")


def batch_of(num: int, width: int, num_rows: int, own: int) -> Batch:
    context = EncodedContext((0,) * width, 0, (0,) * width, (0,) * width)
    question = Question(Fork((0,) * own, (), "extract"), spans=((0, 1),))
    return collate([Example(context, (question,) * num_rows)] * num)


@pytest.mark.parametrize("family", ["llama", "qwen3.5", "lfm2"])
def test_a_few_tiny_passes_tell_what_larger_ones_keep(
    make_backbone: Callable[[str], Backbone], family: str
) -> None:
    trainer = Trainer(make_backbone(family), BASES[DEFAULT_BASE], FitOptions(rank=3))
    planner = trainer.planner
    for batch in (batch_of(1, 300, 10, 20), batch_of(2, 200, 3, 50), batch_of(4, 60, 5, 8)):
        with measuring(CPU, trainer.parameters) as measured:
            losses = trainer.losses(batch)
        assert losses.keys() == {"extract"}
        assert planner.keeps(Unit(batch)) == pytest.approx(measured.num_bytes, rel=0.1)


def test_layers_that_are_computed_again_keep_little(
    make_backbone: Callable[[str], Backbone],
) -> None:
    trainer = Trainer(make_backbone("llama"), BASES[DEFAULT_BASE], FitOptions(rank=3))
    planner, batch = trainer.planner, batch_of(1, 300, 3, 20)
    assert planner.keeps(Unit(batch, recompute=True)) < 0.6 * planner.keeps(Unit(batch))


def test_what_is_saved_counts_once_and_what_is_trained_not_at_all() -> None:
    weight, x = torch.ones(8, 8, requires_grad=True), torch.ones(5, 8, requires_grad=True)
    with measuring(CPU, [weight]) as measured:
        y = x @ weight
        z = y * y
    assert z.requires_grad
    # x for the weight's gradient, and y once for both factors
    assert measured.num_bytes == 2 * 5 * 8 * 4


def test_costs_are_those_of_a_pass_that_keeps_what_it_should() -> None:
    def forward(batch: Batch, recompute: bool) -> torch.Tensor:
        rows = batch.num_trunk if recompute else 3 * batch.num_trunk
        kept = torch.ones(rows, 10, requires_grad=True) * 1
        return kept.square().sum()

    costs = costs_of(forward, CPU, [])
    assert isinstance(costs, Costs)
    assert costs.whole == pytest.approx((120, *[0] * 8), abs=1e-6)
    assert costs.inputs == pytest.approx((40, *[0] * 8), abs=1e-6)
