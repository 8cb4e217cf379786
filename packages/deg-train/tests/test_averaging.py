from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from deg_model import BASE_READS, AdapterPlan
from deg_train.averaging import average
from deg_train.trainer import Trainer


def test_the_mean_lies_between_and_keeps_the_last_temperatures(
    make_trainer: Callable[..., Trainer],
) -> None:
    first, second = (make_trainer(seed=seed).checkpoint("tiny") for seed in (1, 2))
    second.heads["temperatures"] = torch.tensor([1.0, 2.0, 3.0, 4.0])
    mean = average([first, second])
    for part in ("heads", "adapters"):
        for name, tensor in getattr(mean, part).items():
            ends = [getattr(each, part)[name] for each in (first, second)]
            expected = ends[1] if name == "temperatures" else (ends[0] + ends[1]) / 2
            torch.testing.assert_close(tensor, expected)


def test_the_mean_of_one_is_itself(make_trainer: Callable[..., Trainer]) -> None:
    checkpoint = make_trainer().checkpoint("tiny")
    mean = average([checkpoint])
    assert all(torch.equal(mean.heads[name], each) for name, each in checkpoint.heads.items())


@pytest.mark.parametrize(
    "plan", [AdapterPlan(("decide", "extract"), BASE_READS), AdapterPlan((), BASE_READS)]
)
def test_the_mean_is_of_whatever_was_trained(
    make_trainer: Callable[..., Trainer], plan: AdapterPlan
) -> None:
    first, second = (make_trainer(seed=seed, plan=plan).checkpoint("tiny") for seed in (1, 2))
    for tensor in (second.backbone or {}).values():
        tensor += 0.5
    mean = average([first, second])
    assert (mean.plan, mean.rank) == (plan, first.rank)
    for part in ("adapters", "backbone"):
        for name, tensor in (getattr(mean, part) or {}).items():
            one, other = (getattr(each, part)[name] for each in (first, second))
            torch.testing.assert_close(tensor, (one + other) / 2)
    assert (mean.backbone is None) == bool(plan.names)


def test_checkpoints_that_differ_in_kind_are_refused(make_trainer: Callable[..., Trainer]) -> None:
    checkpoint = make_trainer().checkpoint("tiny")
    with pytest.raises(ValueError, match="another rank"):
        average([checkpoint, replace(checkpoint, rank=checkpoint.rank + 1)])
    with pytest.raises(ValueError, match="other adapters, or only some have a backbone"):
        average([checkpoint, replace(checkpoint, plan=AdapterPlan(("shared",), BASE_READS))])
    with pytest.raises(ValueError, match="trained on arrays"):
        average([checkpoint, replace(checkpoint, arrays=None)])
