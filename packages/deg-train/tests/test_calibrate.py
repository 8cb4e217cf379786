from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from deg_model import DegModel, Tokenizer, load_checkpoint
from deg_train.batches import collate, pack
from deg_train.calibrate import calibrate, draw_examples, fit_heads, with_temperatures
from deg_train.logits import decide_logits
from deg_train.passes import read_batch
from deg_train.questions import Example
from deg_train.recipe import default_mixture
from deg_train.temperatures import TemperatureFit


def taught(model: DegModel, example: Example, *, right: bool) -> Example:
    """Return *example* with its yes-no question alone, answered as *model* does, or not."""
    (asked,) = [question for question in example.questions if question.fork.head == "noul"]
    batch = collate([replace(example, questions=(asked,))])
    with torch.no_grad():
        hidden = read_batch(model.backbone, batch, taps=model.taps)
        best = int(decide_logits(model.heads, batch, hidden)["noul"].logits_RO.argmax())
    return replace(example, questions=(replace(asked, outcome=best if right else 1 - best),))


def test_logits_twice_as_large_take_twice_the_temperature(
    model: DegModel, examples: list[Example]
) -> None:
    batches = pack(
        [
            taught(model, example, right=number % 4 > 0)
            for number in range(8)
            for example in examples
        ],
        4096,
    )
    before = fit_heads(model, batches)["noul"].temperature
    for parameter in model.heads.noul.parameters():
        parameter.mul_(2)
    assert fit_heads(model, batches)["noul"].temperature == pytest.approx(2 * before, rel=0.01)


def test_a_head_with_few_questions_is_left_alone(model: DegModel, examples: list[Example]) -> None:
    assert fit_heads(model, pack(examples, 4096)) == {}


def test_draws_are_not_those_of_training(tokenizer: Tokenizer) -> None:
    first = draw_examples(default_mixture(None), tokenizer, 4, seed=0)
    assert first == draw_examples(default_mixture(None), tokenizer, 4, seed=0)
    assert first != draw_examples(default_mixture(None), tokenizer, 4, seed=1)


@pytest.mark.usefixtures("cache")
def test_temperatures_are_written_and_all_else_stays(checkpoint: Path) -> None:
    before = load_checkpoint(checkpoint)
    (checkpoint / "MODEL_CARD.md").write_text("card")
    fits = calibrate(checkpoint, sets=None, num_records=20, seed=0, threads=1)
    after = load_checkpoint(checkpoint)
    assert "extract" in fits
    assert after.heads["temperatures"][3] == pytest.approx(fits["extract"].temperature)
    assert (checkpoint / "MODEL_CARD.md").read_text() == "card"
    for name, tensor in before.heads.items():
        assert name == "temperatures" or torch.equal(tensor, after.heads[name])
    for name, tensor in before.adapters.items():
        assert torch.equal(tensor, after.adapters[name])


def test_a_head_without_a_fit_keeps_its_temperature(checkpoint: Path) -> None:
    loaded = load_checkpoint(checkpoint)
    fit = TemperatureFit(2.0, 50, (1.0, 0.9), (0.1, 0.05))
    temperatures = with_temperatures(loaded, {"score": fit}).heads["temperatures"]
    assert temperatures.tolist() == [1, 2, 1, 1]
    assert loaded.heads["temperatures"].tolist() == [1, 1, 1, 1]
