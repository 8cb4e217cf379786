import re

import pytest
from hypothesis import given, settings, strategies as st

from deg_schema.failure import Failure
from deg_schema.number_spans import find_numbers
from deg_schema.numbers import parse_number


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
        ("~5, 1e5kg, 5 -3 2", ["5", "1e5", "5", "-3", "2"]),
        ("5€ 234 57EUR -8", ["5", "234", "57", "-8"]),
        ("12\u00a034 and 1\u00a0234", ["12", "34", "1\u00a0234"]),
        ("grew +1239 last year", ["+1239"]),
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
        ("( 5 ), (1,234 )", ["( 5 )", "(1,234 )"]),
        ("-(5), ++5, - 5", ["5"]),
        ("\u20115 \u00b0C, 10 \u2212 5", ["\u20115", "10"]),
        ("5 \u20145", ["5"]),
        ("USD (5), (5) USD, EUR(-234)", ["(5)", "(5)", "(-234)"]),
        ("minus 5, negative $6", ["minus 5", "negative $6"]),
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
        "1\u00b4234, 1\u20442, 5\u00b710^3, 5*10**3, 5€50",
        "\uff12,345 1.\uff15",
        "DE89 3704 0044 0532 0130 00",
        "SEK-500",
    ],
)
def test_digits_of_a_longer_token_are_no_number(text: str) -> None:
    assert find_numbers(text) == []


@pytest.mark.parametrize(
    "text",
    ["1.2 million", "$5m", "5k", "100M", "1.5B", "100万", "5\nmillion", "5 and a half", "$5 Cr"],
)
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


BEFORE = [
    "",
    "-",
    "+",
    "\u2212",
    "(",
    "( ",
    "$",
    "-$",
    "$-",
    "EUR ",
    "(USD ",
    "~",
    "#",
    "$(",
    "--",
    "/",
]
AFTER = [
    "",
    "%",
    " %",
    ")",
    " )",
    "kg",
    " kg",
    "€",
    " USD",
    "e5",
    "x10^3",
    "-",
    ")%",
    ") EUR",
    ",-",
    "th",
]
# telephones; a remark, or an item of a list, in brackets
NO_NUMBER = r"\+[0-9]{8}|\(.*%|\([0-9.]{1,2}\)"


@settings(deadline=None)
@given(
    st.sampled_from(BEFORE),
    st.text("0123456789.,' \u202f", min_size=1, max_size=8),
    st.sampled_from(AFTER),
    st.sampled_from(["{}", "is {}", "is {}, it", "a\n{}\n5"]),
)
def test_what_the_parser_reads_is_found(before: str, digits: str, after: str, form: str) -> None:
    written = f"{before}{digits}{after}".strip()
    value, text = parse_number(written), form.format(written)
    if not isinstance(value, Failure) and not re.search(NO_NUMBER, written):
        assert value in [parse_number(text[start:end]) for start, end in find_numbers(text)]


@settings(deadline=None)
@given(st.integers(-(10**15), 10**15), st.sampled_from(["{}", "a {} b", "x: {}.", "{} kg", "{}%"]))
def test_a_lone_number_is_found_exactly(number: int, form: str) -> None:
    text = form.format(f"{number:,}")
    assert [text[start:end] for start, end in find_numbers(text)] == [f"{number:,}"]
