from __future__ import annotations

from pathlib import Path

import pytest

from deg_train.records import check
from deg_train.suites import SUITES

GENERATED = [name for name, suite in SUITES.items() if not suite.needs_sets]


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_suite_lists_as_many_records_as_asked(name: str) -> None:
    records = SUITES[name].read(Path("nowhere"), 7)
    assert len(records) == 7
    for record in records:
        check(record)


@pytest.mark.parametrize("name", GENERATED)
def test_a_suite_is_the_same_every_time(name: str) -> None:
    assert SUITES[name].read(Path(), 3) == SUITES[name].read(Path(), 3)


def test_a_smaller_suite_is_the_start_of_a_larger_one() -> None:
    assert SUITES["both"].read(Path(), 5)[:2] == SUITES["both"].read(Path(), 2)


@pytest.mark.parametrize("name", sorted(set(SUITES) - set(GENERATED)))
def test_a_suite_of_a_public_set_says_where_it_looked(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="is missing"):
        SUITES[name].read(tmp_path, 1)
