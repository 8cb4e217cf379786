from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from deg_schema.keywords import KNOWN
from deg_schema.spelling import meant_word

WORDS = sorted(KNOWN)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("fromat", "format"),
        ("desciption", "description"),
        ("requireds", "required"),
        ("propertys", None),
        ("enums", "enum"),
        ("minlength", "minLength"),
        ("max_length", "maxLength"),
        ("multiple-of", "multipleOf"),
        ("ref", "$ref"),
        ("anyof", "anyOf"),
        ("colour", None),
        ("tpe", "type"),
        ("typ", "type"),
        ("", None),
        ("x" * 100_000, None),
    ],
)
def test_a_slip_is_read_as_what_was_meant(text: str, word: str | None) -> None:
    assert meant_word(text, KNOWN) == word


@given(st.sampled_from(WORDS))
def test_a_word_means_itself(word: str) -> None:
    assert meant_word(word, KNOWN) == word


@given(st.sampled_from([word for word in WORDS if len(word) > 5]), st.data())
def test_a_letter_that_is_missing_is_found(word: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(word) - 1))
    assert meant_word(word[:index] + word[index + 1 :], KNOWN) is not None
