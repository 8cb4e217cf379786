"""What anchor and count logits say: laws over any logits, and examples of each rule."""

from __future__ import annotations

from typing import Literal

import pytest
import torch
from hypothesis import given, settings, strategies as st

from deg_model import MAX_COUNT
from deg_runtime.arrays import PEAK_RADIUS, find_anchors, regions_of, take_count
from deg_schema import ArrayPlan, Items, Options

Mode = Literal["threshold", "count_peaks", "hybrid"]

some = settings(max_examples=60, deadline=None, derandomize=True)
# few values, so that there are draws
levels = st.sampled_from([-3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])
token_logits = st.lists(levels, max_size=40)
count_logits = st.lists(levels, min_size=MAX_COUNT + 1, max_size=MAX_COUNT + 1)
modes = st.sampled_from(["threshold", "count_peaks", "hybrid"])
limits = st.none() | st.integers(0, 9)


def array_of(least: int = 0, most: int | None = None, *, anchored: bool = True) -> ArrayPlan:
    return ArrayPlan(("a",), min_items=least, max_items=most, anchored=anchored)


def counting(count: int, margin: float = 1.0) -> torch.Tensor:
    logits = torch.zeros(MAX_COUNT + 1)
    logits[count] = margin
    return logits


def found(
    logits: list[float],
    *,
    mode: Mode = "threshold",
    array: ArrayPlan | None = None,
    count: int | None = None,
    region: tuple[int, int] | None = None,
    max_items: int | None = None,
) -> tuple[tuple[int, ...], str | None]:
    options = Options(array_decode=mode, max_items=max_items)
    whole = (0, len(logits))
    counted = None if count is None else counting(count)
    anchors = find_anchors(
        torch.tensor(logits), region or whole, array or array_of(), options, counted
    )
    return anchors.tokens, anchors.limit


@some
@given(token_logits, count_logits, modes, st.integers(0, 5), limits, limits, st.data())
def test_anchors_are_places_of_the_region_in_order_and_within_the_limits(
    logits: list[float],
    counts: list[float],
    mode: Mode,
    least: int,
    most: int | None,
    option: int | None,
    draw: st.DataObject,
) -> None:
    start = draw.draw(st.integers(0, len(logits)))
    end = draw.draw(st.integers(start, len(logits)))
    array = array_of(least, None if most is None else max(most, least))
    options = Options(array_decode=mode, max_items=option or None)
    anchors = find_anchors(
        torch.tensor(logits), (start, end), array, options, torch.tensor(counts)
    ).tokens
    assert list(anchors) == sorted(set(anchors))
    assert all(start <= token < end for token in anchors)
    limit = array.limit(options.max_items)
    assert limit is None or len(anchors) <= limit
    if len(anchors) < least:
        # no place is left that is next to none of them
        near = {token + step for token in anchors for step in (-1, 0, 1)}
        assert set(range(start, end)) <= near


@some
@given(token_logits, count_logits, modes, st.integers(0, 20), st.integers(0, 20))
def test_what_stands_outside_the_region_changes_nothing(
    logits: list[float], counts: list[float], mode: Mode, before: int, after: int
) -> None:
    options, counted = Options(array_decode=mode), torch.tensor(counts)
    padded = torch.tensor([9.0] * before + logits + [9.0] * after)
    region = (before, before + len(logits))
    alone = find_anchors(torch.tensor(logits), (0, len(logits)), array_of(), options, counted)
    inside = find_anchors(padded, region, array_of(), options, counted)
    assert tuple(token - before for token in inside.tokens) == alone.tokens
    assert inside.limit == alone.limit


@some
@given(token_logits)
def test_by_threshold_each_run_of_marks_is_one_item_at_its_best_token(logits: list[float]) -> None:
    tokens, limit = found(logits)
    runs = "".join("x" if logit > 0 else " " for logit in logits).split()
    assert (len(tokens), limit) == (len(runs), None)
    assert all(logits[token] > 0 for token in tokens)


@some
@given(token_logits, st.integers(0, MAX_COUNT - 1))
def test_peaks_are_as_many_as_the_count_where_they_fit_and_never_near(
    logits: list[float], count: int
) -> None:
    tokens, limit = found(logits, mode="count_peaks", count=count)
    assert limit == ("places" if len(tokens) < count else None)
    gaps = [later - earlier for earlier, later in zip(tokens, tokens[1:], strict=False)]
    assert all(gap > PEAK_RADIUS for gap in gaps)
    if len(tokens) < count:
        near = {token + step for token in tokens for step in range(-4, 5)}
        assert set(range(len(logits))) <= near
    else:
        assert len(tokens) == count


@some
@given(token_logits, st.integers(0, 20))
def test_hybrid_is_threshold_unless_nothing_is_marked(logits: list[float], count: int) -> None:
    mode: Mode = "threshold" if any(logit > 0 for logit in logits) else "count_peaks"
    assert found(logits, mode="hybrid", count=count) == found(logits, mode=mode, count=count)


@some
@given(count_logits, st.integers(0, 70), limits, limits)
def test_a_count_is_the_likeliest_that_the_limits_leave(
    logits: list[float], least: int, more: int | None, option: int | None
) -> None:
    array = array_of(least, None if more is None else least + more, anchored=False)
    options = Options(max_items=option or None)
    items = take_count(torch.tensor(logits), array, options)
    most = array.limit(options.max_items)
    assert most is not None
    assert least <= items.count <= max(most, least)
    if least < MAX_COUNT:
        assert logits[items.count] == max(logits[least : min(most, MAX_COUNT) + 1])
    if items.limit is None:
        assert logits[items.count] == max(logits[least:])


def test_a_run_that_rises_again_is_one_item_at_its_first_best_token() -> None:
    assert found([-1, 1, 3, 1, 3, -1, 0.5]) == ((2, 6), None)


def test_a_token_at_even_odds_is_no_mark() -> None:
    assert found([0.0, -1.0, 0.0]) == ((), None)


@pytest.mark.parametrize("mode", ["threshold", "count_peaks", "hybrid"])
def test_too_few_are_filled_up_with_the_best_places_that_are_not_adjacent(mode: Mode) -> None:
    logits = [-9.0, 2.0, -0.5, -1.0, -2.0, -0.9]
    count = 1 if mode != "threshold" else None
    assert found(logits, mode=mode, array=array_of(3), count=count)[0] == (1, 3, 5)


def test_a_region_with_too_few_places_has_fewer_items() -> None:
    assert found([1.0, 1.0, 1.0], array=array_of(5))[0] == (0, 2)
    assert found([], array=array_of(1)) == ((), None)
    assert found([1.0] * 9, array=array_of(1), region=(4, 4)) == ((), None)


def test_too_many_keep_the_likeliest_and_say_which_limit_ended_them() -> None:
    logits = [1.0, -1.0, 3.0, -1.0, 2.0, -1.0, 2.0]
    assert found(logits, array=array_of(0, 2)) == ((2, 4), "maxItems")
    assert found(logits, max_items=3) == ((2, 4, 6), "max_items")
    assert found(logits, array=array_of(0, 4), max_items=1) == ((0, 2, 4, 6), None)


def test_a_peak_hides_what_is_near_it() -> None:
    logits = [-1.0] * 20
    logits[3], logits[7], logits[8], logits[15] = 3.0, 2.0, 1.5, -0.5
    assert found(logits, mode="count_peaks", count=2)[0] == (3, 15)
    # 8 is no peak, as 7 is better, but the best place that is not near the two
    assert found(logits, mode="count_peaks", count=3)[0] == (3, 8, 15)


def test_the_last_outcome_of_the_count_head_may_be_more() -> None:
    few, limit = found([-1.0] * 1000, mode="count_peaks", count=MAX_COUNT)
    assert (len(few), limit) == (MAX_COUNT, "count_head")
    spread = [1.0, -1.0, -1.0, -1.0, -1.0] * 100
    every, limit = found(spread, mode="count_peaks", count=MAX_COUNT)
    assert (len(every), limit) == (100, None)
    capped, limit = found(spread, mode="count_peaks", count=MAX_COUNT, max_items=80)
    assert (len(capped), limit) == (80, "max_items")


def test_a_count_beyond_a_limit_says_so() -> None:
    by_index = array_of(anchored=False)
    assert take_count(counting(7), by_index, Options()) == Items(7)
    # what it was trained to tell apart where nobody gives a limit
    assert take_count(counting(40), by_index, Options()).limit == "count_head"
    assert take_count(counting(40), by_index, Options(max_items=50)) == Items(40)
    assert take_count(counting(40), by_index, Options(max_items=9)).limit == "max_items"
    capped = array_of(0, 3, anchored=False)
    assert take_count(counting(3), capped, Options()) == Items(3)
    assert take_count(counting(4), capped, Options()).limit == "maxItems"
    assert take_count(counting(64), array_of(0, 99, anchored=False), Options()) == Items(
        64, "count_head"
    )
    assert take_count(counting(1), array_of(80, 99, anchored=False), Options()).count == 80


def test_a_region_ends_where_the_next_item_starts() -> None:
    assert regions_of((2, 5, 9), 20) == [(2, 5), (5, 9), (9, 20)]
    assert regions_of((), 20) == []
