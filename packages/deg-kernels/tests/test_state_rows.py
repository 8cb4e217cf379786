from __future__ import annotations

from typing import Any

import pytest
import torch

from deg_kernels import NOWHERE, StateRows


def test_rows_lie_one_behind_another_unless_offsets_are_given() -> None:
    rows = StateRows.of([3, 0, 2])
    assert rows.offsets == (0, 3, 3)
    assert rows.starts == rows.writes == (NOWHERE,) * 3
    assert rows.num_tokens == 5
    assert StateRows.of([3, 2], offsets=[4, 0]).num_tokens == 7
    assert len(StateRows.of([])) == StateRows.of([]).num_tokens == 0


def test_the_table_lists_each_row_and_is_made_once() -> None:
    rows = StateRows.of([3, 2], starts=[1, NOWHERE], writes=[NOWHERE, 0])
    table_R4 = rows.table_R4(torch.device("cpu"))
    assert table_R4.tolist() == [[0, 3, 1, -1], [3, 2, -1, 0]]
    assert table_R4.dtype == torch.int32
    assert table_R4.is_contiguous()
    assert rows.table_R4(torch.device("cpu")) is table_R4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lengths": [1, -1]}, "lengths: -1 is below 0"),
        ({"lengths": [1], "starts": [0, 1]}, "starts: has 2 entries for 1 rows"),
        ({"lengths": [1], "starts": [-2]}, "starts: -2 is below -1"),
        ({"lengths": [1], "writes": []}, "writes: has 0 entries for 1 rows"),
        ({"lengths": [1, 1], "writes": [0, 0]}, "writes: two rows write to one place"),
        ({"lengths": [2, 2], "offsets": [0, 1]}, "offsets: two rows share tokens"),
        ({"lengths": [2], "offsets": [-1]}, "offsets: -1 is below 0"),
    ],
)
def test_rows_that_cannot_be_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        StateRows.of(**given)


def test_a_row_without_tokens_shares_none() -> None:
    assert StateRows.of([2, 0, 2], offsets=[0, 1, 2]).num_tokens == 4


def test_every_place_lies_in_its_pool() -> None:
    rows = StateRows.of([1, 1], starts=[NOWHERE, 1], writes=[2, NOWHERE])
    rows.check_starts(torch.zeros(2))
    rows.check_writes(torch.zeros(3), torch.zeros(2))
    with pytest.raises(ValueError, match=r"^starts: place 1 is not in a pool of 1$"):
        rows.check_starts(torch.zeros(1))
    with pytest.raises(ValueError, match=r"^writes: place 2 is not in a pool of 0$"):
        rows.check_writes(None, torch.zeros(2))


def test_a_place_is_not_written_while_another_row_reads_it() -> None:
    pool = torch.zeros(4, 2)
    StateRows.of([1, 1], starts=[0, 1], writes=[0, 1]).check_writes(pool, pool)
    StateRows.of([1, 1], starts=[0, 0], writes=[1, 2]).check_writes(pool, pool)
    crossing = StateRows.of([1, 1], starts=[0, 1], writes=[1, NOWHERE])
    crossing.check_writes(pool.clone(), pool)
    with pytest.raises(ValueError, match=r"^writes: another row starts from place 1"):
        crossing.check_writes(pool, pool)
    with pytest.raises(ValueError, match=r"^writes: their pool overlaps the one that is read"):
        StateRows.of([1], starts=[0], writes=[0]).check_writes(pool[1:], pool)
