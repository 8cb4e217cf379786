from __future__ import annotations

from random import Random

from hypothesis import given, strategies as st

from deg_train.generate.drafts import Fact
from deg_train.generate.fields import Field
from deg_train.generate.kinds import KINDS
from deg_train.generate.names import styled_label, words_of
from deg_train.generate.phrasing import Naming, as_text, phrase

NAMES = ("due_date", "deadline", "pay_by", "last_day", "term_end")
ABOUTS = ("When it is due.", "Last day to pay", "Which day is the limit?")


@given(st.sampled_from(sorted(KINDS)), st.integers(0, 10**6), st.booleans())
def test_only_the_allowed_names_and_abouts_are_used(kind: str, seed: int, unseen: bool) -> None:
    spec = Field("k", kind, NAMES, ABOUTS)
    question = phrase(spec, Fact(spec, "x1"), Naming(unseen), Random(seed))
    assert question is not None
    is_held_out = words_of(question.name) in {words_of(name) for name in NAMES[-2:]}
    assert is_held_out == unseen
    described = "limit" in question.schema.get("description", "limit").lower()
    assert described or not unseen


def test_a_field_whose_held_out_names_are_trained_elsewhere_is_not_asked() -> None:
    spec = Field("k", "date", NAMES, ABOUTS)
    trained = frozenset({("last", "day"), ("term", "end")})
    assert phrase(spec, None, Naming(unseen=True, trained=trained), Random(1)) is None


def test_a_row_of_a_table_is_named_in_the_description() -> None:
    spec = Field("k", "amount", NAMES, ())
    question = phrase(spec, Fact(spec, "3", row="for bolts"), Naming(), Random(1))
    assert question is not None
    assert "for bolts" in question.schema["description"].lower()


def test_as_text_keeps_the_notes_and_whether_null_is_allowed() -> None:
    leaf = {"description": "d", "anyOf": [{"type": "number"}, {"type": "null"}]}
    assert as_text(leaf) == {"description": "d", "type": ["string", "null"]}
    assert as_text({"type": "number", "minimum": 2}) == {"type": "string"}


@given(st.sampled_from(NAMES), st.sampled_from(("snake", "camel", "pascal", "kebab", "upper")))
def test_a_styled_name_has_the_same_words(name: str, style: str) -> None:
    words = words_of(name)
    assert words_of(styled_label(name, style).replace("_", " ")) == words
