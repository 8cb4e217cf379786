from __future__ import annotations

import math
from dataclasses import asdict

import pytest
from hypothesis import given, strategies as st

from deg_train.reliability import Bins, expected_calibration_error

JUDGED = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=30)


def test_answers_that_are_as_right_as_they_are_sure_have_no_error() -> None:
    judged = [(0.75, right) for right in (True, True, True, False)]
    assert expected_calibration_error(judged).error == pytest.approx(0)


@given(JUDGED, JUDGED)
def test_bins_add_up(one: list[tuple[float, bool]], two: list[tuple[float, bool]]) -> None:
    together = Bins.of(one + two)
    added = Bins.of(one) + Bins.of(two)
    assert added.counts == together.counts
    assert added.rights == together.rights
    assert added.confidences == pytest.approx(together.confidences)


@given(JUDGED)
def test_bins_are_read_back_from_json(judged: list[tuple[float, bool]]) -> None:
    bins = Bins.of(judged)
    assert Bins.from_json(asdict(bins)) == bins


def test_no_answers_have_no_number() -> None:
    assert math.isnan(Bins.of([]).calibration.error)
    assert Bins.of([]).calibration.count == 0
