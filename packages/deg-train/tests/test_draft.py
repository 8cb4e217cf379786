from __future__ import annotations

import random

import pytest
from hypothesis import given, strategies as st

from deg_train.sources.draft import Draft, one_text, whole_number
from deg_train.sources.wording import Option, Wording, restyle, spoken, wrap, write_options


@pytest.mark.parametrize(
    ("context", "text", "number"),
    [
        ("for 13 people", "13 people", "13"),
        ("at 8:15", "8:15", None),
        ("on the 5th", "5th", None),
        ("it is 7.", "7", "7"),
        ("pay 7.50", "7", None),
        ("room 007", "007", None),
        ("two of us", "two", None),
        ("(4)", "4", "4"),
        ("pay $4", "4", None),
    ],
)
def test_a_whole_number_stands_alone(context: str, text: str, number: str | None) -> None:
    start = context.index(text)
    span = whole_number(context, (start, start + len(text)))
    assert (None if span is None else context[slice(*span)]) == number


def test_spans_with_other_texts_have_no_one_answer() -> None:
    assert one_text("ann ann bob", [(0, 3), (4, 7)])
    assert not one_text("ann ann bob", [(0, 3), (8, 11)])


def test_a_name_asked_twice_gets_a_number() -> None:
    draft = Draft("made", "a text", random.Random(0))
    for _ in range(3):
        draft.decide(Wording(("flag",), ("Is it?",)), True)
    names = {name.lower() for name in draft.record().schema["properties"]}
    assert len(draft.record().schema["properties"]) == 3
    assert all(name.startswith("flag") for name in names)


@given(seed=st.integers())
def test_a_choice_without_an_answer_offers_a_fallback(seed: int) -> None:
    draft = Draft("made", "a text", random.Random(seed))
    draft.choose(Wording(("topic",)), [Option("cat"), Option("dog")], None)
    record = draft.record()
    (leaf,) = record.schema["properties"].values()
    (answer,) = record.value.values()
    options = leaf.get("enum") or [
        branch["const"] for branch in leaf.get("oneOf", leaf.get("anyOf"))
    ]
    assert options[-1] == answer
    assert len(options) == 3


@given(seed=st.integers(), count=st.integers(2, 60))
def test_option_texts_are_distinct(seed: int, count: int) -> None:
    options = [Option(f"label_{place}", f"about {place}") for place in range(count)]
    written = write_options(options, random.Random(seed))
    assert len({value for value, _ in written}) == count


@given(st.text(max_size=30), st.integers())
def test_a_wrapped_text_is_where_it_is_said_to_be(text: str, seed: int) -> None:
    document, start = wrap(text, random.Random(seed))
    assert document[start : start + len(text)] == text


@pytest.mark.parametrize(
    ("label", "words"),
    [("AddToPlaylist", "add to playlist"), ("pin_blocked", "pin blocked"), ("why?", "why")],
)
def test_spoken_labels_are_words(label: str, words: str) -> None:
    assert spoken(label) == words


def test_names_come_in_many_styles() -> None:
    rng = random.Random(0)
    styles = {restyle("due_date", rng) for _ in range(300)}
    assert styles == {
        "due_date", "dueDate", "DueDate", "due-date", "due date", "Due date", "DUE_DATE",
    }  # fmt: skip
