import pytest
from hypothesis import given, strategies as st

from deg_schema.trim import trim_span


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("  Paris, ", "Paris"),
        ("Paris.", "Paris"),
        ("Plan B.", "Plan B"),
        ("- item;", "item"),
        ("\u2022 item", "item"),
        ("| cell |", "cell"),
        (": value\n", "value"),
        ('"Dune"', "Dune"),
        ("\u201cDune\u201d,", "Dune"),
        ("'Dune'", "Dune"),
        ('"Dune', "Dune"),
        ("(foo", "foo"),
        ("foo).", "foo"),
        ('foo."', "foo"),
        ("\ufefffoo\u200b", "foo"),
        ("the Smiths'", "the Smiths"),
        ("...", ""),
        ("", ""),
    ],
)
def test_what_a_token_carried_in_goes(text: str, kept: str) -> None:
    start, end = trim_span(text, 0, len(text))
    assert text[start:end] == kept


@pytest.mark.parametrize(
    "text",
    [
        "Acme Inc.",
        "5 p.m.",
        "the U.S.",
        "(555) 123-4567",
        "foo (bar)",
        "[x]",
        "-5",
        ".5",
        "6'2\"",
        'the 27"',
        "it's",
        "Who is there?",
        "C++",
        "100%",
        "#12",
        "$5",
        "@name",
    ],
)
def test_what_belongs_to_the_words_stays(text: str) -> None:
    assert trim_span(text, 0, len(text)) == (0, len(text))


def test_only_the_span_is_looked_at() -> None:
    assert trim_span("(a) b, c)", 4, 6) == (4, 5)


@given(st.text(), st.integers(0, 20), st.integers(0, 20))
def test_a_trimmed_span_lies_inside_and_stays(text: str, start: int, length: int) -> None:
    start = min(start, len(text))
    end = min(start + length, len(text))
    first, last = trim_span(text, start, end)
    assert start <= first <= last <= end
    assert trim_span(text, first, last) == (first, last)
