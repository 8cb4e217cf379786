from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from deg_schema import is_format
from deg_train.generate.gold import read_slot
from deg_train.generate.kinds import HELD_OUT_KINDS, KINDS
from deg_train.generate.shapes import fill_shape
from deg_train.generate.values import expand, make_value

DRAWN = sorted(KINDS - {"text"})
seeds = st.integers(0, 10**9)


@given(st.sampled_from(DRAWN), seeds)
@settings(deadline=None)
def test_a_value_is_one_trimmed_line_and_the_same_for_a_seed(kind: str, seed: int) -> None:
    text = make_value(kind, Random(seed))
    assert text
    assert text == text.strip()
    assert "\n" not in text
    assert make_value(kind, Random(seed)) == text


@pytest.mark.parametrize("kind", DRAWN)
def test_a_kind_has_many_values(kind: str) -> None:
    rng = Random(1)
    assert len({make_value(kind, rng) for _ in range(300)}) >= 7


def test_held_out_kinds_are_kinds() -> None:
    assert HELD_OUT_KINDS < KINDS


@pytest.mark.parametrize(("kind", "form"), [("email", "email"), ("url", "uri"), ("uuid", "uuid")])
def test_formatted_values_pass_their_format(kind: str, form: str) -> None:
    rng = Random(2)
    assert all(is_format(form, make_value(kind, rng)) for _ in range(300))


@pytest.mark.parametrize(
    ("kind", "leaf"),
    [
        ("date", {"type": "string", "format": "date"}),
        ("datetime", {"type": "string", "format": "date-time"}),
        ("integer", {"type": "integer"}),
        ("money", {"type": "number"}),
        ("percent", {"type": "number"}),
    ],
)
def test_parsed_kinds_are_read_whole_or_in_part(kind: str, leaf: dict[str, str]) -> None:
    rng = Random(3)
    texts = [make_value(kind, rng) for _ in range(200)]
    read = [read_slot(leaf, text, (0, len(text))) for text in texts]
    assert sum(reading is not None for reading in read) >= 180


def test_a_shape_draws_letters_and_digits() -> None:
    made = fill_shape(r"A-\#%?", Random(4))
    assert made[:3] == "A-#"
    assert made[3] in "123456789"
    assert made[4].isupper()


@given(st.integers(0, 2**32))
def test_ranges_in_a_listed_value_become_numbers_within_them(seed: int) -> None:
    weight, _, grade = expand("{40..110} kg, {1.0..9.9}", Random(seed)).replace(",", "").split()
    assert 40 <= int(weight) <= 110
    assert 1.0 <= float(grade) <= 9.9
    assert len(grade.split(".")[1]) == 1


def test_other_braces_of_a_listed_value_stay() -> None:
    assert expand("{a..b} {} {5}", Random(0)) == "{a..b} {} {5}"
