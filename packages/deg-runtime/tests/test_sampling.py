from __future__ import annotations

from collections import Counter

import pytest
import torch

from deg_runtime.constraints import Draft
from deg_runtime.sampling import Likeliest, Lot, choice_of
from deg_runtime.token_tree import Vocabulary
from deg_schema import Constraints, Options

VOCABULARY = Vocabulary([None, b"a", b"b", b"c"], 0, 4)


def draft() -> Draft:
    return Draft(Constraints(pattern="^[bc]+$"), 8, VOCABULARY)


def test_the_likeliest_of_those_that_may_come_is_taken() -> None:
    assert Likeliest()(torch.tensor([9.0, 8.0, 1.0, 2.0]), draft()) == 3


def test_a_draw_goes_to_the_lowest_number() -> None:
    assert Likeliest()(torch.tensor([0.0, 5.0, 3.0, 3.0]), draft()) == 2
    assert Likeliest()(torch.tensor([0.0, 3.0, 4.0, 4.0]), draft()) == 2


def test_lots_fall_by_the_share_of_those_that_may_come() -> None:
    lot = Lot(1.0, 7, "/a")
    logits_V = torch.tensor([0.75, 0.5, 0.2, 0.05]).log()
    drawn = Counter(lot(logits_V, draft()) for _ in range(2000))
    assert set(drawn) == {2, 3}
    assert drawn[2] / 2000 == pytest.approx(0.8, abs=0.03)


def test_a_temperature_near_nothing_takes_the_likeliest() -> None:
    lot = Lot(1e-300, 7, "/a")
    assert {lot(torch.tensor([0.0, 1.0, 1.5, 1.4]), draft()) for _ in range(20)} == {2}


def test_a_stream_hangs_on_seed_and_pointer_alone() -> None:
    def drawn(seed: int, pointer: str) -> list[int]:
        choice = choice_of(Options(temperature=1.0, seed=seed), pointer)
        return [choice(torch.zeros(4), draft()) for _ in range(40)]

    assert drawn(1, "/a") == drawn(1, "/a")
    assert drawn(1, "/a") != drawn(1, "/b")
    assert drawn(1, "/a") != drawn(2, "/a")


def test_without_a_temperature_nothing_is_drawn() -> None:
    assert isinstance(choice_of(Options(seed=3), "/a"), Likeliest)
