import pytest
from hypothesis import given, settings, strategies as st

from deg_schema.scales import has_scale, has_sign_word, sign_word_before


@pytest.mark.parametrize(
    "text",
    [
        " million",
        "-million",
        "k",
        "M",
        " Mrd",
        "\u00a0billion",
        "\r\n million",
        " and a half",
        "万",
    ],
)
def test_a_word_that_multiplies_is_taken_whole(text: str) -> None:
    assert has_scale(f"5{text}.", 1, money=False) == 1 + len(text)


@pytest.mark.parametrize("text", ["", " m", " items", " Millionaires", " K", "\nMillions", "m"])
def test_a_unit_multiplies_nothing(text: str) -> None:
    assert has_scale(f"5{text}", 1, money=False) is None


@pytest.mark.parametrize("text", ["m", " b", "T", " Cr", "K", " grand"])
def test_some_letters_multiply_money_alone(text: str) -> None:
    assert has_scale(f"$5{text}", 2, money=True) == 2 + len(text)


@pytest.mark.parametrize(
    ("text", "start"),
    [("minus 5", 0), ("is Negative  5", 3), ("minus\n5", 0), ("terminus 5", None)],
)
def test_a_sign_may_be_a_word(text: str, start: int | None) -> None:
    assert sign_word_before(text, len(text) - 1) == start
    assert has_sign_word(text) is (start == 0)


@settings(deadline=None)
@given(st.text(), st.integers(0, 20), st.booleans())
def test_no_text_raises(text: str, position: int, money: bool) -> None:
    end = has_scale(text, position, money=money)
    assert end is None or position < end <= len(text)
    start = sign_word_before(text, position)
    assert start is None or 0 <= start < position
