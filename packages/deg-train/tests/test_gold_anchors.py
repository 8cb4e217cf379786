from __future__ import annotations

from itertools import pairwise

from hypothesis import given, strategies as st

from deg_model import Tokenizer, encode_context
from deg_train.gold_anchors import gold_anchors, regions_of

TEXT = "name price\ntea 3\nmilk 2"
HEADING, TEA, THREE, MILK, TWO = (0, 4), (11, 14), (15, 16), (17, 21), (22, 23)


def starts(
    tokenizer: Tokenizer, *items: list[tuple[int, int]], region: tuple[int, int] | None = None
) -> list[int] | None:
    """Return the letters at which items with values at these places start."""
    encoded = encode_context(TEXT, tokenizer)
    spans = {
        f"/x/{number}/{leaf}": (span,)
        for number, item in enumerate(items)
        for leaf, span in enumerate(item)
    }
    found = gold_anchors(spans, "/x", len(items), encoded, region or (0, encoded.num_tokens))
    # the token of a word may begin with the blank before it
    return None if found is None else [encoded.span(token, token)[1] for token in found]


def end_of_first_token(tokenizer: Tokenizer, span: tuple[int, int]) -> int:
    encoded = encode_context(TEXT, tokenizer)
    token = encoded.cover(*span)[0]
    return encoded.span(token, token)[1]


def test_an_item_starts_at_its_earliest_value(tokenizer: Tokenizer) -> None:
    want = [end_of_first_token(tokenizer, span) for span in (TEA, MILK)]
    assert starts(tokenizer, [THREE, TEA], [MILK, TWO]) == want


def test_a_value_that_siblings_share_locates_neither(tokenizer: Tokenizer) -> None:
    want = [end_of_first_token(tokenizer, span) for span in (TEA, MILK)]
    assert starts(tokenizer, [HEADING, TEA], [HEADING, MILK]) == want
    assert starts(tokenizer, [HEADING, TEA]) == [end_of_first_token(tokenizer, HEADING)]


def test_items_that_cannot_be_told_apart_have_no_starts(tokenizer: Tokenizer) -> None:
    assert starts(tokenizer, [HEADING], [HEADING]) is None
    assert starts(tokenizer, [TEA], []) is None


def test_an_item_outside_the_region_has_no_start(tokenizer: Tokenizer) -> None:
    first = encode_context(TEXT, tokenizer).cover(*MILK)[0]
    assert starts(tokenizer, [TEA], [MILK], region=(0, first)) is None
    assert starts(tokenizer, [TEA], region=(0, first)) is not None


def test_an_array_without_items_starts_nowhere(tokenizer: Tokenizer) -> None:
    assert starts(tokenizer) == []


@given(st.sets(st.integers(0, 50), min_size=1).flatmap(lambda s: st.permutations(sorted(s))))
def test_regions_part_what_follows_the_first_start(order: list[int]) -> None:
    regions = regions_of(order, 51)
    assert [first for first, _ in regions] == order
    ordered = sorted(regions)
    assert ordered[-1][1] == 51
    assert all(before[1] == after[0] for before, after in pairwise(ordered))
