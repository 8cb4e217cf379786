"""What a step changes, whatever is trained; that it resumes to the bit, and from what it starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from deg_model import BASE_READS, BASES, DEFAULT_BASE, AdapterPlan, load_backbone, resolve_base
from deg_train.batches import Batch, collate, pack
from deg_train.fit_options import FitOptions
from deg_train.gradients import gradients
from deg_train.losses import LOSSES
from deg_train.memory import Unit
from deg_train.passes import read_forks, read_trunk
from deg_train.questions import Example
from deg_train.trainer import Trainer, run

MakeTrainer = Callable[..., Trainer]
BY_KIND = AdapterPlan(("decide", "extract"), BASE_READS)
FULL = AdapterPlan((), BASE_READS)
PLANS = [
    AdapterPlan(("shared",), BASE_READS),
    BY_KIND,
    AdapterPlan(("decide", "extract"), "extract"),
    FULL,
]
each_plan = pytest.mark.parametrize("plan", PLANS, ids=["base", "by kind", "extract", "full"])


@pytest.fixture
def batch(examples: list[Example]) -> Batch:
    return collate(examples)


@pytest.fixture
def make_rounded(cache: Path) -> MakeTrainer:
    """Return trainers over a backbone in bf16."""

    def make(**options: object) -> Trainer:
        backbone = load_backbone(resolve_base(BASES[DEFAULT_BASE]))
        chosen = FitOptions(**{"rank": 4, "warmup": 1, "decay": 1, **options})
        return Trainer(backbone, BASES[DEFAULT_BASE], chosen)

    return make


def parameters(trainer: Trainer) -> dict[str, Tensor]:
    heads = {f"h.{name}": each for name, each in trainer.heads.named_parameters()}
    named = heads | trainer.trained.named()
    return {name: each.detach().clone() for name, each in named.items()}


def moved(trainer: Trainer, before: dict[str, Tensor]) -> set[str]:
    after = parameters(trainer)
    return {name for name, each in before.items() if not torch.equal(each, after[name])}


def adapters_of(names: set[str]) -> set[str]:
    return {name.removeprefix("a.").split("/")[0] for name in names if name.startswith("a.")}


def only(examples: list[Example], heads: tuple[str, ...]) -> list[Batch]:
    kept = [
        replace(each, questions=tuple(q for q in each.questions if q.fork.head in heads))
        for each in examples
    ]
    return pack(kept, 4096)


def test_a_step_changes_the_adapters_of_what_it_asked_alone(
    make_trainer: MakeTrainer, examples: list[Example]
) -> None:
    trainer = make_trainer(plan=BY_KIND)
    before = parameters(trainer)
    frozen = {name: each.clone() for name, each in trainer.backbone.weights().items()}
    trainer.train_step(only(examples, ("choice", "noul")))
    assert adapters_of(moved(trainer, before)) == {"decide"}
    middle = parameters(trainer)
    trainer.train_step(only(examples, ("extract",)))
    assert adapters_of(moved(trainer, middle)) == {"extract"}
    for name, each in trainer.backbone.weights().items():
        assert torch.equal(each, frozen[name])


def test_a_whole_step_changes_every_weight_but_the_embeddings(
    make_rounded: MakeTrainer, examples: list[Example]
) -> None:
    trainer = make_rounded(plan=FULL)
    given = load_backbone(resolve_base(BASES[DEFAULT_BASE]))
    before = parameters(trainer)
    trainer.train_step(pack(examples, 4096))
    masters = trainer.trained.named()
    assert masters.keys() <= moved(trainer, before)
    assert all(master.dtype == torch.float32 for master in masters.values())
    assert torch.equal(trainer.backbone.embedding_VH, given.embedding_VH)
    held = trainer.checkpoint("full").backbone
    assert held is not None
    for name, each in trainer.backbone.weights().items():
        assert torch.equal(each, masters[f"b.{name}"].to(torch.bfloat16))
        assert torch.equal(held[name], each)


def test_the_backbone_learns_at_its_own_rate(
    make_rounded: MakeTrainer, examples: list[Example]
) -> None:
    trainer = make_rounded(plan=FULL, learning_rate=1e-3, backbone_rate=1e-5, steps=9)
    before = parameters(trainer)
    trainer.train_step(pack(examples, 4096))
    after = parameters(trainer)
    # the first step of Adam is as long as the rate
    longest = {
        kind: max(
            float((after[n] - before[n]).abs().max()) for n in before if n.startswith(f"{kind}.")
        )
        for kind in "hb"
    }
    assert longest["h"] == pytest.approx(1e-3, rel=0.1)
    assert longest["b"] == pytest.approx(1e-5, rel=0.1)


@each_plan
def test_a_model_learns_examples_by_heart_whatever_trains(
    make_trainer: MakeTrainer, examples: list[Example], plan: AdapterPlan
) -> None:
    trainer = make_trainer(plan=plan, steps=40, learning_rate=1e-2, backbone_rate=1e-3)
    batches = pack(examples, 4096)
    reports = [trainer.train_step(batches) for _ in range(40)]
    for name in ("decide", "extract"):
        assert reports[-1].losses[name] < 0.3 * reports[0].losses[name]


@each_plan
def test_a_resumed_run_of_any_kind_is_bitwise_an_unbroken_one(
    make_rounded: MakeTrainer, examples: list[Example], plan: AdapterPlan, tmp_path: Path
) -> None:
    def draw(step: int) -> list[Batch]:
        return pack([examples[step % 4], examples[(step + 1) % 4]], 4096)

    unbroken, first, second = (make_rounded(plan=plan, steps=4) for _ in range(3))
    state = tmp_path / "state"
    list(run(unbroken, draw, save_to=tmp_path / "other", save_every=50))
    list(run(first, draw, save_to=state, save_every=50, should_stop=lambda: first.step == 2))
    second.resume(state)
    list(run(second, draw, save_to=state, save_every=50))
    expected, found = parameters(unbroken), parameters(second)
    assert all(torch.equal(each, found[name]) for name, each in expected.items())
    held, again = unbroken.checkpoint("x").backbone, second.checkpoint("x").backbone
    assert all(torch.equal(each, (again or {})[name]) for name, each in (held or {}).items())


def test_a_state_of_other_weights_is_refused(make_trainer: MakeTrainer, tmp_path: Path) -> None:
    make_trainer(plan=BY_KIND).save(tmp_path / "state")
    for plan in (FULL, AdapterPlan(), AdapterPlan(("decide", "extract"), "decide")):
        with pytest.raises(ValueError, match="state is of another run"):
            make_trainer(plan=plan).resume(tmp_path / "state")


@torch.no_grad()
def test_each_kind_of_fork_is_read_by_its_adapter_over_contexts_of_the_base(
    make_trainer: MakeTrainer, batch: Batch
) -> None:
    trainer = make_trainer(plan=BY_KIND)
    adapters = trainer.trained.adapters
    for parameter in adapters.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    found = trainer.read(batch)
    trunk = read_trunk(trainer.backbone, batch, taps=trainer.taps)
    for name in BY_KIND.names:
        pairs = adapters.pairs(torch.float32, name)
        forks_MH = read_forks(trainer.backbone, trunk, batch, adapters=pairs)
        expected = trunk.hidden(forks_MH)
        own = [r.answer for r in batch.rows if BY_KIND.adapter_of(r.question.fork.head) == name]
        assert own
        assert torch.allclose(found.final_NH[own], expected.final_NH[own], atol=1e-4)
        assert torch.equal(found.features_BTK, expected.features_BTK)


@each_plan
def test_rows_read_in_parts_give_the_gradient_of_the_whole(
    make_trainer: MakeTrainer, batch: Batch, plan: AdapterPlan
) -> None:
    trainer = make_trainer(plan=plan)
    for parameter in trainer.parameters:
        torch.nn.init.normal_(parameter, std=0.1)
    trainer.trained.refresh()
    whole = gradients(trainer, [Unit(batch)], LOSSES)
    parts = gradients(trainer, [Unit(batch, num_parts=3, recompute=True)], LOSSES)
    for one, other in zip(whole.grads, parts.grads, strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert torch.allclose(one, other, rtol=1e-3, atol=1e-4 * float(one.abs().max()) + 1e-7)


@torch.no_grad()
def test_a_whole_backbone_starts_from_a_merged_adapter(
    make_trainer: MakeTrainer, batch: Batch
) -> None:
    old, new = make_trainer(), make_trainer(plan=FULL)
    for parameter in old.parameters:
        torch.nn.init.normal_(parameter, std=0.1)
    new.start_from(old.checkpoint("tiny"))
    found, expected = (trainer.read(batch).final_NH for trainer in (new, old))
    assert torch.allclose(found, expected, atol=1e-3)
    again = make_trainer(plan=FULL)
    again.start_from(new.checkpoint("full"))
    assert torch.equal(again.read(batch).final_NH, found)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (BY_KIND, FULL, "adapters that make no whole backbone: take one with a shared adapter"),
        (BY_KIND, AdapterPlan(), "say --adapters decide,extract --lora-context base"),
        (AdapterPlan(), BY_KIND, "say --adapters shared --lora-context shared"),
        (FULL, BY_KIND, "holds a whole backbone and no adapters; say --full"),
    ],
)
def test_a_start_from_other_weights_is_refused(
    make_trainer: MakeTrainer, old: AdapterPlan, new: AdapterPlan, told: str
) -> None:
    checkpoint = make_trainer(plan=old).checkpoint("tiny")
    with pytest.raises(ValueError, match=f"'tiny'.*{told}"):
        make_trainer(plan=new).start_from(checkpoint)
    other = make_trainer(rank=3).checkpoint("tiny")
    with pytest.raises(ValueError, match="rank 3; say --rank 3"):
        make_trainer().start_from(other)
