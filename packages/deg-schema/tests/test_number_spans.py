import pytest
from hypothesis import given, strategies as st

from deg_schema.number_spans import find_numbers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Total: $1,234.50 due.", ["1,234.50"]),
        ("5, 6; 7! 12%.", ["5", "6", "7", "12"]),
        ("USD100, US$7, EUR 5,-", ["100", "7", "5"]),
        ("5kg, 5-year, 16GB, 3rd, 20 °C", ["5", "5", "16", "3", "20"]),
        ("No.5 #7 p.12 .5", ["5", "7", "12", ".5"]),
        ("\u5171100\u5143", ["100"]),
        ("1e5 2.5E-3 6.02×10²³", ["1e5", "2.5E-3", "6.02×10²³"]),
        ("2 x $5.00", ["2", "5.00"]),
        ("10 – 15 and 900 - 1000", ["10", "15", "900", "1000"]),
        ("5 March 2024", ["5", "2024"]),
    ],
)
def test_numbers_are_found_without_what_surrounds_them(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in find_numbers(text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("-5, \u22127, x:-5 and - 5", ["-5", "\u22127", "-5", "5"]),
        ("-$5.00 or $-5", ["-$5.00", "-5"]),
        ("-EUR 5", ["-EUR 5"]),
        ("(5)", ["(5)"]),
        ("Net loss (1,234.5)", ["(1,234.5)"]),
        ("Loss ($1,200)", ["($1,200)"]),
        ("thirty (30) days, twenty-five (25)", ["30", "25"]),
        ("VAT (20%)", ["20"]),
        ("1,200 (20%)", ["1,200"]),
        ("(5 items) f(5) Smith (2019)", ["5"]),
        ("(1) one, (2) two", []),
        ("(5) million", []),
    ],
)
def test_signs_and_brackets_belong_to_the_number(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in find_numbers(text)] == found


@pytest.mark.parametrize(
    "text",
    [
        "3-4 days",
        "3–4, 3—4, 3~4",
        "50%-60%",
        "$10-$20, 10€-20€",
        "1/2, 1 / 2, 1 1/2, 1½",
        "AB-12 INV-2041 A4 a1b2 x_5 5_x",
        "v1.2.3",
        "11/12/1999, 1.2.2024, 2024-03-05",
        "10:30, 10 am, 10:30pm, 14h30",
        "2024-03-05T14:30:00Z",
        "+1-816-555-1212, (555) 123-4567, +49 30 123456",
        "https://x.y/12/34?x=5 joe12@3x.com",
        "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
        "10.0.0.1",
        "1920x1080 3×4 2^10 10² a5",
        "1,2,3",
        "5-",
        "\u0663 \uff15 5\u0663",
        "second to none",
    ],
)
def test_digits_of_a_longer_token_are_no_number(text: str) -> None:
    assert find_numbers(text) == []


@pytest.mark.parametrize("text", ["1.2 million", "$5m", "5k", "100M", "5 dozen", "100万"])
def test_a_number_keeps_the_word_that_multiplies_it(text: str) -> None:
    assert find_numbers(f"about {text}.") == [(6, 6 + len(text))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2 345 678", ["2 345 678", "2", "345", "678"]),
        ("12 000", ["12 000"]),
        ("1 234,56", ["1 234,56", "1", "234,56"]),
        ("2 34", ["2", "34"]),
        ("2  345", ["2", "345"]),
        (" ".join(["123"] * 9), ["123"] * 9),
    ],
)
def test_blanks_may_group_or_separate(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in find_numbers(text)] == found


@given(st.integers(-(10**15), 10**15), st.sampled_from(["{}", "a {} b", "x: {}.", "{} kg", "{}%"]))
def test_a_lone_number_is_found_exactly(number: int, form: str) -> None:
    text = form.format(f"{number:,}")
    assert [text[start:end] for start, end in find_numbers(text)] == [f"{number:,}"]
