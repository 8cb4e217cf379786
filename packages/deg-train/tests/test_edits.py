from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from deg_train.generate import DocumentSource, ListSource
from deg_train.generate.edits import Edit, edited, free_stretches, start_lines
from deg_train.records import Record, check

SOURCES = (DocumentSource("train"), ListSource("train"))


def texts(record: Record) -> dict[str, list[str]]:
    return {
        pointer: [record.context[slice(*place)] for place in places]
        for pointer, places in record.spans.items()
    }


@given(st.sampled_from(SOURCES), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_values_read_the_same_after_any_edits_between_them(
    source: DocumentSource | ListSource, seed: int
) -> None:
    rng = Random(seed)
    record = source.sample(rng)
    edits = []
    for start, end in free_stretches(record):
        first, last = sorted((rng.randint(start, end), rng.randint(start, end)))
        edits.append(Edit(first, last, rng.choice(("", "x", "\n", "some words"))))
    changed = edited(record, edits)
    check(changed)
    assert texts(changed) == texts(record)


def test_an_edit_that_touches_a_value_is_a_mistake() -> None:
    record = Record("to Ann Lee", {}, {"x": "Ann Lee"}, {"/x": ((3, 10),)}, "made")
    assert edited(record, [Edit(3, 3, "> ")]).spans == {"/x": ((5, 12),)}
    assert edited(record, [Edit(10, 10, "!")]).spans == {"/x": ((3, 10),)}
    with pytest.raises(AssertionError, match="touches the value"):
        edited(record, [Edit(4, 5, "m")])


def test_the_words_beside_a_value_are_not_free() -> None:
    record = Record("we owe EUR 5 net to them", {}, {"x": 5}, {"/x": ((11, 12),)}, "made")
    assert [record.context[slice(*each)] for each in free_stretches(record)] == [
        "we owe ",
        " to them",
    ]


def test_every_line_starts_with_the_prefix() -> None:
    record = Record("a\nAnn\n", {}, {"x": "Ann"}, {"/x": ((2, 5),)}, "made")
    quoted = start_lines(record, "> ")
    assert quoted is not None
    assert quoted.context == "> a\n> Ann\n> "
    assert texts(quoted) == texts(record)


def test_a_value_over_two_lines_cannot_be_quoted() -> None:
    record = Record("Ann\nLee", {}, {"x": "Ann\nLee"}, {"/x": ((0, 7),)}, "made")
    assert start_lines(record, "> ") is None
