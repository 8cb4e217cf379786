from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError
from torch import Tensor

from deg_model import ArrayMode, Base, Tokenizer
from deg_train import run_state, trainer as module
from deg_train.batches import Batch, pack
from deg_train.questions import Example, example_of
from deg_train.records import Record
from deg_train.run_state import RunState
from deg_train.trainer import Trainer, run

MakeTrainer = Callable[..., Trainer]


def weights(trainer: Trainer) -> dict[str, Tensor]:
    checkpoint = trainer.checkpoint("tiny")
    return {**checkpoint.heads, **checkpoint.adapters}


def draw_from(examples: list[Example]) -> Callable[[int], Sequence[Batch]]:
    return lambda step: pack([examples[step % 4], examples[(step + 1) % 4]], 4096)


def test_a_model_learns_a_handful_of_examples_by_heart(
    make_trainer: MakeTrainer, examples: list[Example]
) -> None:
    trainer = make_trainer(steps=60, learning_rate=1e-2)
    batches = pack(examples, 4096)
    reports = [trainer.train_step(batches) for _ in range(60)]
    assert reports[-1].losses["decide"] < 0.1 * reports[0].losses["decide"]
    assert reports[-1].losses["extract"] < 0.1 * reports[0].losses["extract"]
    assert reports[-1].right == {"decide": 1, "extract": 1}


def test_a_model_learns_where_items_start_and_how_many_there_are(
    make_trainer: MakeTrainer, nested_record: Record, tokenizer: Tokenizer
) -> None:
    trainer = make_trainer(steps=60, learning_rate=1e-2)
    batches = pack([example_of(nested_record, tokenizer)], 4096)
    reports = [trainer.train_step(batches) for _ in range(60)]
    for name in ("anchor_count", "anchor", "extract"):
        assert reports[-1].losses[name] < 0.2 * reports[0].losses[name]
    assert reports[-1].right == {"extract": 1, "anchor_count": 1, "anchor": 1}
    assert bool(trainer.heads.extract.anchor_bias.any())


def test_a_step_says_how_many_arrays_it_could_not_teach(
    make_trainer: MakeTrainer, array_example: Example
) -> None:
    batches = pack([array_example, replace(array_example, num_skipped=2)], 1)
    assert make_trainer().train_step(batches).skipped == 2


def test_training_goes_on_from_a_checkpoint_that_knew_no_arrays(
    make_trainer: MakeTrainer, array_example: Example
) -> None:
    old, new = make_trainer(seed=1), make_trainer(seed=2)
    old.heads.choice.prior.weight.data.fill_(0.5)
    fresh = {name: tensor.clone() for name, tensor in new.heads.state_dict().items()}
    checkpoint = old.checkpoint("tiny")
    assert checkpoint.arrays == ArrayMode("anchor", 0)
    of_arrays = ("count.", "anchor.", "extract.anchor_bias")
    known = {n: t for n, t in checkpoint.heads.items() if not n.startswith(of_arrays)}
    new.start_from(replace(checkpoint, heads=known, arrays=None))
    for name, tensor in new.heads.state_dict().items():
        assert torch.equal(tensor, known.get(name, fresh[name]))
    assert {"anchor_count", "anchor"} <= new.train_step(pack([array_example], 4096)).losses.keys()


def test_a_resumed_run_is_bitwise_an_unbroken_one(
    make_trainer: MakeTrainer, examples: list[Example], tmp_path: Path
) -> None:
    draw, state = draw_from(examples), tmp_path / "state.safetensors"
    unbroken, first, second = (make_trainer(steps=6) for _ in range(3))
    list(run(unbroken, draw, save_to=tmp_path / "other", save_every=50))
    list(run(first, draw, save_to=state, save_every=50, should_stop=lambda: first.step == 3))
    second.resume(state)
    assert second.step == 3
    list(run(second, draw, save_to=state, save_every=50))
    expected, found = weights(unbroken), weights(second)
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_a_resumed_run_plans_as_before_however_much_memory_is_free(
    make_trainer: MakeTrainer,
    examples: list[Example],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = tmp_path / "state.safetensors"
    first, second = make_trainer(steps=4), make_trainer(steps=4)
    draw = draw_from(examples)
    list(run(first, draw, save_to=state, save_every=50, should_stop=lambda: first.step == 2))
    monkeypatch.setattr(module, "free_bytes", lambda _: 1)
    second.resume(state)
    assert second.planner == first.planner
    for trainer in (first, second):
        list(run(trainer, draw, save_to=state, save_every=50))
    found = weights(second)
    assert all(torch.equal(tensor, found[name]) for name, tensor in weights(first).items())


def test_a_run_that_is_resumed_with_less_memory_said_plans_for_less(
    make_trainer: MakeTrainer, examples: list[Example], tmp_path: Path
) -> None:
    first, second = make_trainer(memory=10**9), make_trainer(memory=10**6)
    first.train_step(pack(examples, 4096))
    first.save(tmp_path / "state")
    second.resume(tmp_path / "state")
    assert second.planner == replace(first.planner, budget=10**6)


def test_what_failures_took_off_the_budget_stays_off_a_resumed_run(
    make_trainer: MakeTrainer, examples: list[Example], tmp_path: Path
) -> None:
    first, second = make_trainer(memory=10**9), make_trainer(memory=10**9)
    first.train_step(pack(examples, 4096))
    first._planned = replace(first.planner, budget=10**8)
    first.save(tmp_path / "state")
    second.resume(tmp_path / "state")
    assert second.planner == first.planner


def test_a_step_is_the_same_however_its_examples_are_packed(
    make_trainer: MakeTrainer, examples: list[Example]
) -> None:
    whole, parted = make_trainer(), make_trainer()
    one = whole.train_step(pack(examples, 100_000))
    many = parted.train_step(pack(examples, 1))
    assert one.losses["decide"] == pytest.approx(many.losses["decide"], rel=1e-4)
    assert one.losses["extract"] == pytest.approx(many.losses["extract"], rel=1e-4)
    assert one.tokens == many.tokens


def test_two_threads_make_the_step_of_one(
    make_trainer: MakeTrainer, examples: list[Example]
) -> None:
    one, two = make_trainer(), make_trainer(threads=2)
    batches = pack(examples, 1)
    assert len(batches) > 1
    reports = [trainer.train_step(batches) for trainer in (one, two)]
    assert reports[0].losses["extract"] == pytest.approx(reports[1].losses["extract"], rel=1e-5)
    assert weights(one).keys() == weights(two).keys()
    assert all(torch.allclose(w, weights(two)[n], atol=1e-4) for n, w in weights(one).items())


def test_a_run_saves_every_so_often_and_at_its_end(
    make_trainer: MakeTrainer, examples: list[Example], tmp_path: Path
) -> None:
    state = tmp_path / "state"
    reports = run(make_trainer(steps=3), draw_from(examples), save_to=state, save_every=2)
    saved = [state.stat().st_mtime_ns if state.exists() else 0 for _ in reports]
    assert saved[0] == 0 < saved[1] < saved[2]
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_the_rate_rises_stays_and_falls(make_trainer: MakeTrainer, examples: list[Example]) -> None:
    trainer = make_trainer(steps=8, warmup=2, decay=4, learning_rate=1.0)
    batches = pack(examples[:1], 4096)
    rates = [trainer.train_step(batches).learning_rate for _ in range(8)]
    # half of a cosine, from the height to a tenth of it
    fall = [0.1 + 0.9 * (1 + math.cos(math.pi * share)) / 2 for share in (0.25, 0.5, 0.75, 1)]
    assert rates == pytest.approx([0.5, 1, 1, 1, *fall])
    assert rates[-1] == pytest.approx(0.1)


def test_a_state_of_another_run_is_refused(make_trainer: MakeTrainer, tmp_path: Path) -> None:
    make_trainer(rank=4).save(tmp_path / "state")
    with pytest.raises(ValueError, match="of another run"):
        make_trainer(rank=3).resume(tmp_path / "state")


def test_a_damaged_state_is_refused_by_name(make_trainer: MakeTrainer, tmp_path: Path) -> None:
    make_trainer().save(tmp_path / "state")
    whole = (tmp_path / "state").read_bytes()
    (tmp_path / "state").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="state is damaged"):
        make_trainer().resume(tmp_path / "state")


def test_a_state_that_cannot_be_written_is_named_and_leaves_the_last_one(
    make_trainer: MakeTrainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer, state = make_trainer(), tmp_path / "state"
    trainer.save(state)
    before = state.read_bytes()

    def fill_the_disk(_: dict[str, Tensor], path: Path, **__: object) -> None:
        path.write_bytes(b"half")
        raise SafetensorError("no space left")

    monkeypatch.setattr(run_state, "save_file", fill_the_disk)
    with pytest.raises(OSError, match=r"state cannot be written \(no space left\)"):
        trainer.save(state)
    assert state.read_bytes() == before
    assert list(tmp_path.iterdir()) == [state]


def test_a_gradient_that_is_no_number_ends_the_run_before_it_is_taken(
    make_trainer: MakeTrainer, examples: list[Example]
) -> None:
    trainer = make_trainer()
    trainer.heads.choice.prior.weight.data.fill_(math.inf)
    before = {name: tensor.clone() for name, tensor in weights(trainer).items()}
    with pytest.raises(ValueError, match="step 1: the gradient is infinite or no number"):
        trainer.train_step(pack(examples, 4096))
    assert trainer.step == 0
    assert all(torch.equal(tensor, before[name]) for name, tensor in weights(trainer).items())


def test_a_start_that_does_not_fit_is_named(make_trainer: MakeTrainer) -> None:
    trainer = make_trainer()
    known = trainer.checkpoint("tiny")
    with pytest.raises(ValueError, match="'tiny' was trained on another base, 'own'"):
        trainer.start_from(replace(known, base=Base("own", "llama", "a" * 64)))
    with pytest.raises(ValueError, match="'tiny' is no checkpoint to start from: no head has 'x'"):
        trainer.start_from(replace(known, heads=known.heads | {"x": torch.ones(1)}))


def test_a_loss_that_weighs_nothing_moves_nothing(
    make_trainer: MakeTrainer, array_example: Example, tmp_path: Path
) -> None:
    moved = {}
    for weight in (0.0, 1.0):
        trainer = make_trainer(anchor_weight=weight, anchor_count_weight=1 - weight)
        trainer.train_step(pack([array_example], 4096))
        trainer.save(tmp_path / "state")
        tensors = RunState.read(tmp_path / "state").tensors
        moved[weight] = {
            head: any(
                bool(tensor.any())
                for name, tensor in tensors.items()
                if name.startswith(f"exp_avg/h.{head}.")
            )
            for head in ("anchor", "count")
        }
    assert moved == {
        0.0: {"anchor": False, "count": True},
        1.0: {"anchor": True, "count": False},
    }
