from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from deg_model import BASE_READS, FORK_HEADS, AdapterPlan, DegModel, Heads
from deg_train.batches import Batch, collate
from deg_train.kinds import read_by_kind, read_with
from deg_train.passes import read_batch
from deg_train.questions import Example
from deg_train.trainer import Trainer

PLAN = AdapterPlan(("decide", "extract"), BASE_READS)


@pytest.fixture
def batch(examples: list[Example], array_example: Example) -> Batch:
    return collate([*examples, array_example])


def fork_ids(batch: Batch) -> Tensor:
    return batch.ids_N[batch.num_trunk :]


@pytest.mark.parametrize(
    "kind_of",
    [PLAN.adapter_of, str, FORK_HEADS[:2].count, lambda _: None],
    ids=["two", "each", "other two", "one"],
)
def test_what_is_read_by_kind_lies_where_it_lay(
    batch: Batch, kind_of: Callable[[str], object]
) -> None:
    seen = []

    def read(kind: object, part: Batch) -> Tensor:
        seen.append(kind)
        assert {kind_of(row.question.fork.head) for row in part.rows} == {kind}
        assert torch.equal(part.ids_N[: batch.num_trunk], batch.ids_N[: batch.num_trunk])
        widths = [len(bucket.context_R) * bucket.width for bucket in part.buckets]
        assert sum(widths) == len(fork_ids(part))
        return fork_ids(part)[:, None]

    assert torch.equal(read_by_kind(batch, kind_of, read)[:, 0], fork_ids(batch))
    assert len(seen) == len(set(seen)) == len({kind_of(r.question.fork.head) for r in batch.rows})


@torch.no_grad()
def test_a_batch_is_read_with_the_stacks_of_a_model(
    make_trainer: Callable[..., Trainer], model: DegModel, batch: Batch
) -> None:
    trainer = make_trainer(plan=PLAN)
    for parameter in trainer.parameters:
        torch.nn.init.normal_(parameter, std=0.1)
    stacks = {
        name: trainer.backbone.merged(trainer.trained.adapters.pairs(torch.float32, name))
        for name in PLAN.names
    }
    heads = Heads(32, 32 * len(model.taps))
    served = DegModel(
        model.backbone,
        heads,
        model.tokenizer,
        taps=model.taps,
        model_id="tiny",
        fork_stacks={head: stacks[PLAN.adapter_of(head)] for head in FORK_HEADS},
    )
    found, expected = read_with(served, batch), trainer.read(batch)
    assert torch.allclose(found.final_NH, expected.final_NH, atol=1e-4)
    assert torch.equal(found.features_BTK, expected.features_BTK)
    plain = read_batch(model.backbone, batch, taps=model.taps)
    num = batch.num_trunk
    assert torch.allclose(found.final_NH[:num], plain.final_NH[:num], atol=1e-4)
    assert not torch.allclose(found.final_NH[num:], plain.final_NH[num:], atol=1e-2)
