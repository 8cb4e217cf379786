from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from deg_runtime.marks import around, segments

TEXT = "a" * 30
SPANS = st.dictionaries(
    st.integers(0, 9),
    st.tuples(st.integers(0, 29), st.integers(1, 30)).filter(lambda span: span[0] < span[1]),
)


@given(SPANS)
def test_each_character_is_owned_by_the_spans_that_cover_it(
    spans: dict[int, tuple[int, int]],
) -> None:
    place = 0
    for segment in segments(TEXT, spans):
        for _ in segment.text:
            owners = {key for key, (start, end) in spans.items() if start <= place < end}
            assert set(segment.owners) == owners
            place += 1
    assert place == len(TEXT)


@given(SPANS)
def test_each_span_opens_once(spans: dict[int, tuple[int, int]]) -> None:
    opened = [key for segment in segments(TEXT, spans) for key in segment.openers]
    assert sorted(opened) == sorted(spans)


def test_the_shortest_span_comes_first() -> None:
    middle = list(segments("from 3 to 5 May", {0: (0, 15), 1: (10, 15), 2: (5, 6)}))
    assert [segment.owners for segment in middle] == [(0,), (2, 0), (0,), (1, 0)]


def test_an_empty_text_has_no_segments() -> None:
    assert list(segments("", {})) == []


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (9, ("", "A-1", "")),
        (20, ("order", "A-1", "arrived")),
        (60, ("My last order", "A-1", "arrived broken.")),
        (2, ("", "A…1", "")),
    ],
)
def test_the_words_around_a_span(width: int, words: tuple[str, str, str]) -> None:
    text = "My  last order\nA-1 arrived broken."
    place = around(text, (15, 18), width)
    assert (place.before.strip(), place.inside, place.after.strip()) == words


@given(st.text(), st.integers(3, 80), st.data())
def test_the_words_around_a_span_fit(text: str, width: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    place = around(text, (start, end), width)
    assert len(place.before + place.inside + place.after) <= width
    assert "\n" not in place.before + place.inside + place.after
