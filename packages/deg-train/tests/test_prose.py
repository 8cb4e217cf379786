from __future__ import annotations

from random import Random

from hypothesis import given, settings, strategies as st

from deg_train.generate.prose import HELD_OUT_TOPICS, TOPICS, draw_prose


@given(st.integers(1, 9000), st.integers(0, 10**6))
@settings(deadline=None)
def test_prose_is_as_long_as_wanted(length: int, seed: int) -> None:
    text = draw_prose(length, Random(seed), TOPICS)
    assert length <= len(text) + 2
    assert text == text.strip()
    assert len(text) < length + 1200


def test_topics_of_the_evaluation_are_never_trained() -> None:
    names = [topic.name for topic in (*TOPICS, *HELD_OUT_TOPICS)]
    assert len(set(names)) == len(names)
    seen = {subject for topic in TOPICS for subject in topic.subjects}
    assert not seen & {subject for topic in HELD_OUT_TOPICS for subject in topic.subjects}


def test_prose_holds_no_number() -> None:
    assert not any(map(str.isdigit, draw_prose(20_000, Random(3), (*TOPICS, *HELD_OUT_TOPICS))))
