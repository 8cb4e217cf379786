from __future__ import annotations

import random
from functools import lru_cache
from itertools import product

import pytest
from hypothesis import given, settings, strategies as st

from deg_runtime.constraints import Draft, UnwritableText
from deg_runtime.token_tree import Vocabulary
from deg_schema import Constraints, search_pattern

END = 0
# a special token, then pieces of words, of characters and of both
TOKENS = [
    None,
    b"a",
    b"b",
    b"ab",
    b" aba",
    b"\xe6",
    b"\x9d",
    b"\xb1",
    b"\x9d\xb1a",
    b"b\xe6\x9d",
    "é".encode(),
    b"\xff",
    b"1",
    None,
]
VOCABULARY = Vocabulary(TOKENS, END, len(TOKENS) + 2)

limits = st.builds(
    Constraints,
    min_length=st.none() | st.integers(0, 6),
    max_length=st.none() | st.integers(6, 9),
    pattern=st.none()
    | st.sampled_from(
        ["^a+$", "^(ab)+$", "b", "東", "^[^a]+$", r"^\S*$", r"\bab\b", "^(?!.*bb).*東$", "^(é|1)*$"]
    ),
)


def is_valid(limits: Constraints, text: str) -> bool:
    if len(text) < (limits.min_length or 0):
        return False
    if limits.max_length is not None and len(text) > limits.max_length:
        return False
    return limits.pattern is None or search_pattern(limits.pattern, text)


def admitted(draft: Draft) -> list[int]:
    return [int(token) for token in draft.admitted_V().nonzero()]


@given(limits, st.integers(1, 12), st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_whatever_is_chosen_ends_in_a_valid_text(
    limits: Constraints, budget: int, lots: random.Random
) -> None:
    try:
        draft = Draft(limits, budget, VOCABULARY)
    except UnwritableText:
        return
    while not draft.is_over:
        draft.add(lots.choice(admitted(draft)))
    assert is_valid(limits, draft.text.decode())
    assert draft.num_tokens <= budget


@given(limits, st.integers(1, 8), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_one_token_is_admitted_as_all_together_are(
    limits: Constraints, budget: int, lots: random.Random
) -> None:
    try:
        draft = Draft(limits, budget, VOCABULARY)
    except UnwritableText:
        return
    while not draft.is_over:
        alone = [token for token in range(len(VOCABULARY)) if draft.admits(token)]
        assert alone == admitted(draft)
        draft.add(lots.choice(alone))


@lru_cache(maxsize=1)
def every_text() -> dict[bytes, int]:
    """Return all texts of up to four tokens, with the fewest tokens that spell each."""
    pieces = [text for text in TOKENS if text]
    texts: dict[bytes, int] = {}
    for count in range(5):
        for chosen in product(pieces, repeat=count):
            texts.setdefault(b"".join(chosen), count)
    return texts


@given(limits, st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_a_text_is_refused_only_where_no_tokens_spell_one(limits: Constraints, budget: int) -> None:
    fewest = min(
        (
            count
            for spelled, count in every_text().items()
            if _is_text(spelled) and is_valid(limits, spelled.decode())
        ),
        default=99,
    )
    try:
        Draft(limits, budget, VOCABULARY)
    except UnwritableText:
        # a token that holds parts of two characters may save one
        assert fewest > budget or "東" in (limits.pattern or "") or limits.pattern == "^[^a]+$"
    else:
        assert fewest <= budget


def _is_text(spelled: bytes) -> bool:
    try:
        spelled.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_a_public_case_has_two_texts() -> None:
    limits = Constraints(pattern="^a+$", max_length=2)
    found = set()
    for first, second, third in product(range(len(VOCABULARY)), repeat=3):
        draft = Draft(limits, 16, VOCABULARY)
        for token in (first, second, third):
            if draft.is_over or not draft.admits(token):
                break
            draft.add(token)
        if draft.is_over:
            found.add(draft.text)
    assert found == {b"a", b"aa"}


def test_a_character_may_span_tokens_and_ends_no_text_halfway() -> None:
    draft = Draft(Constraints(), 8, VOCABULARY)
    draft.add(9)
    assert not draft.is_whole
    assert admitted(draft) == [6, 7]
    draft.add(7)
    assert draft.is_whole
    assert draft.text.decode() == "b東"


def test_a_character_is_not_begun_where_the_budget_cannot_end_it() -> None:
    draft = Draft(Constraints(), 2, VOCABULARY)
    assert not draft.admits(5)
    assert Draft(Constraints(), 3, VOCABULARY).admits(5)


def test_special_tokens_and_bytes_that_spell_nothing_are_never_admitted() -> None:
    draft = Draft(Constraints(), 8, VOCABULARY)
    assert not any(draft.admits(token) for token in (11, 13, 14, 15))


def test_a_long_text_needs_no_more_tokens_than_there_are() -> None:
    limits = Constraints(min_length=40)
    Draft(limits, 10, VOCABULARY)
    with pytest.raises(UnwritableText, match="at least 10 tokens, and 9 are allowed"):
        Draft(limits, 9, VOCABULARY)


@pytest.mark.parametrize("most", [11, 30, 200, 100_000])
def test_limits_hold_however_far_they_are_apart(most: int) -> None:
    limits = Constraints(min_length=10, max_length=most, pattern="^(ab)+$")
    draft = Draft(limits, 200, VOCABULARY)
    while not draft.is_over:
        # it never ends by itself where anything else may come
        draft.add(max(admitted(draft)))
    assert is_valid(limits, draft.text.decode())
    assert len(draft.text) == min(most // 2 * 2, 400)


def test_a_pattern_that_no_token_spells_is_refused() -> None:
    with pytest.raises(UnwritableText, match="no tokens of this model"):
        Draft(Constraints(pattern="^z$"), 8, VOCABULARY)


def test_a_pattern_that_refers_back_is_refused_by_name() -> None:
    with pytest.raises(UnwritableText, match=r"no text can be written for the pattern.*refers"):
        Draft(Constraints(pattern=r"(a)\1"), 8, VOCABULARY)
