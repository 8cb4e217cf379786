from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, strategies as st

from deg_train.logits import DecideLogits, ExtractLogits, Guesses
from deg_train.temperatures import fit_temperature, minimise


def sharpened(temperature: float, *, count: int = 4000) -> DecideLogits:
    """Draw outcomes from true logits, and claim logits that are *temperature* times as large."""
    generator = torch.Generator().manual_seed(0)
    logits = 2 * torch.randn(count, 5, generator=generator)
    outcome = torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]
    return DecideLogits(logits * temperature, outcome, torch.ones(len(outcome)))


@pytest.mark.parametrize("temperature", [0.4, 1.0, 2.5])
def test_a_known_temperature_is_recovered(temperature: float) -> None:
    fit = fit_temperature([sharpened(temperature)])
    assert fit.temperature == pytest.approx(temperature, rel=0.06)
    assert fit.count == 4000
    assert fit.loss[1] <= fit.loss[0]
    assert fit.error[1] < 0.03


def test_the_parts_of_a_set_fit_as_the_whole() -> None:
    whole = sharpened(2.0)
    parts = [
        DecideLogits(whole.logits_RO[i::3], whole.outcome_R[i::3], whole.vote_R[i::3])
        for i in range(3)
    ]
    expected = fit_temperature([whole]).temperature
    assert fit_temperature(parts).temperature == pytest.approx(expected, rel=1e-3)


def test_the_old_temperature_is_what_comes_before() -> None:
    scored = sharpened(2.0)
    fit = fit_temperature([scored], 2.0)
    assert fit.loss[0] == pytest.approx(float(scored.losses(2.0).mean()), rel=1e-4)


def test_perfect_answers_stop_at_a_limit() -> None:
    perfect = DecideLogits(
        torch.tensor([[1.0, 0.0]] * 30), torch.zeros(30, dtype=torch.long), torch.ones(30)
    )
    assert fit_temperature([perfect]).temperature == pytest.approx(0.1, rel=1e-2)


def test_spans_are_fit_by_their_start_and_their_end() -> None:
    count, generator = 3000, torch.Generator().manual_seed(1)
    start = torch.randn(count, 7, generator=generator)
    end = torch.randn(count, 6, generator=generator)
    drawn_start = torch.multinomial(start.softmax(-1), 1, generator=generator)[:, 0]
    drawn_end = torch.multinomial(end.softmax(-1), 1, generator=generator)[:, 0]
    present = (drawn_start < 6).nonzero()[:, 0]
    logits = ExtractLogits(
        start_RT=3.0 * start,
        row_S=present,
        start_S=drawn_start[present],
        end_S=drawn_end[present],
        end_ST=3.0 * end[present],
    )
    guesses = Guesses(logits, (3.0 * start[:, :-1]).argmax(-1), 3.0 * end)
    fit = fit_temperature([guesses])
    assert fit.temperature == pytest.approx(3.0, rel=0.06)
    assert len(guesses.judged()) == count


@given(st.floats(-2.3, 2.3), st.floats(0.1, 10))
def test_minimise_finds_the_bottom_of_a_bowl(bottom: float, steepness: float) -> None:
    found = minimise(lambda x: steepness * (x - bottom) ** 2, -math.log(10), math.log(10))
    assert found == pytest.approx(bottom, abs=1e-3)


def test_minimise_is_not_caught_by_a_smaller_dip() -> None:
    found = minimise(lambda x: math.cos(4 * x) + 0.5 * (x - 0.8) ** 2, -2.3, 2.3)
    assert found == pytest.approx(math.pi / 4, abs=0.05)
