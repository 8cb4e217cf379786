from __future__ import annotations

import random

from hypothesis import given, strategies as st

from deg_train.sources.confusable import Confusables, nearest_labels

TEXTS = {
    "change_pin": ["change my pin", "new pin please"],
    "pin_blocked": ["my pin is blocked", "unblock pin"],
    "exchange_rate": ["which rate for euros", "dollar rate"],
    "refund": ["money back", "return my money"],
}


def test_labels_with_shared_rare_words_are_nearest() -> None:
    assert nearest_labels(TEXTS, 1)["change_pin"] == ("pin_blocked",)


def test_a_label_is_not_near_to_itself() -> None:
    for label, near in nearest_labels(TEXTS, 9).items():
        assert label not in near


@given(seed=st.integers(), count=st.integers(0, 8), share=st.floats(0, 1))
def test_drawn_labels_are_distinct_and_wrong(seed: int, count: int, share: float) -> None:
    drawn = Confusables(TEXTS).draw(random.Random(seed), "refund", count, share=share)
    assert len(drawn) == min(count, 3)
    assert len({*drawn, "refund"}) == len(drawn) + 1


def test_excluded_labels_are_never_drawn() -> None:
    without = frozenset({"pin_blocked"})
    drawn = Confusables(TEXTS).draw(random.Random(0), "change_pin", 9, without=without)
    assert sorted(drawn) == ["exchange_rate", "refund"]
