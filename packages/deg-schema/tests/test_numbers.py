from decimal import Decimal

import pytest
from hypothesis import assume, given, settings, strategies as st

from deg_schema.failure import Failure
from deg_schema.number_spans import find_numbers
from deg_schema.numbers import parse_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("007", 7),
        ("-5", -5),
        ("\u22125", -5),
        ("\u20135", -5),
        ("+5", 5),
        ("(5)", -5),
        ("(1,234.50)", Decimal("-1234.50")),
        ("($5)", -5),
        ("$(5)", -5),
        ("(5) USD", -5),
        ("( 5 )", -5),
        ("(5.2)%", Decimal("-5.2")),
        ("\u20115", -5),
        ("\uff0d5", -5),
        ("1\u2007234", 1234),
        ("~5", 5),
        ("\u2248 5", 5),
        ("($1,200)", -1200),
        ("-$5", -5),
        ("$-5", -5),
        (".5", Decimal("0.5")),
        ("3.0", Decimal("3.0")),
        ("1,234,567.89", Decimal("1234567.89")),
        ("1 234.5", Decimal("1234.5")),
        ("1\u202f234\u202f567", 1234567),
        ("1\u00a0234", 1234),
        ("1\u2009234", 1234),
        ("1'234'567.5", Decimal("1234567.5")),
        ("1\u2019234", 1234),
        ("1.234,56", Decimal("1234.56")),
        ("12,34,567", 1234567),
        ("12%", 12),
        ("12.5 %", Decimal("12.5")),
        ("EUR 12", 12),
        ("12 EUR", 12),
        ("USD12", 12),
        ("US$7", 7),
        ("5€", 5),
        ("Rs. 500", 500),
        ("5,-", 5),
        ("#12", 12),
        ("5 kg", 5),
        ("5kg", 5),
        ("5-year", 5),
        ("2nd", 2),
        ("100 km/h", 100),
        ("20 °C", 20),
        ("12 working days", 12),
        ("1e5", 100000),
        ("1.5E3", 1500),
        ("2.5e-3", Decimal("0.0025")),
        ("6.02 x 10^23", 602 * 10**21),
        ("6.02×10²³", 602 * 10**21),
        (" 5 ", 5),
        ("9" * 30, int("9" * 30)),
    ],
)
def test_a_number_reads_as_written(text: str, value: int | Decimal) -> None:
    number = parse_number(text)
    assert number == value
    assert type(number) is type(value)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("", None),
        ("five", None),
        ("second to none", None),
        ("3-4 days", None),
        ("3-4", None),
        ("1/2", None),
        ("1 1/2", None),
        ("½", None),
        ("1½", None),
        ("11/12/1999", None),
        ("10:30", None),
        ("1.2.3", None),
        ("AB-12", None),
        ("1,2,3", None),
        ("10²", None),
        ("\u0663", None),
        ("\uff15", None),
        ("5 and 6", None),
        ("--5", None),
        ("-(5", None),
        ("-(5)", None),
        ("++5", None),
        ("- 5", None),
        ("#-5", None),
        ("SEK-500", None),
        ("5-%", None),
        ("1\u00b4234", None),
        ("1\u20442", None),
        ("0,123,456", None),
        ("1'23", None),
        ("NaN", None),
        ("1,23", "ambiguous_number"),
        ("1 234,56", "ambiguous_number"),
        ("192.168.100.200", "ambiguous_number"),
        ("(5 kg)", "ambiguous_number"),
        ("1.2 million", "number_word"),
        ("$5m", "number_word"),
        ("$1.2bn", "number_word"),
        ("5k", "number_word"),
        ("100M", "number_word"),
        ("5 dozen", "number_word"),
        ("5 and a half", "number_word"),
        ("100万", "number_word"),
        ("1.5B", "number_word"),
        ("5MM", "number_word"),
        ("\u20b95 Cr", "number_word"),
        ("5\nmillion", "number_word"),
        ("5 hundredths", "number_word"),
        ("5 Millionen", "number_word"),
        ("5 and three quarters", "number_word"),
        ("minus 5", "number_word"),
        ("1e400", "out_of_range"),
        ("1e99999", "out_of_range"),
        ("9" * 5000, "out_of_range"),
    ],
)
def test_what_is_no_plain_number_is_refused(text: str, detail: str | None) -> None:
    assert parse_number(text) == Failure(detail)


@pytest.mark.parametrize(
    ("text", "with_point", "with_comma"),
    [
        ("1,234", 1234, Decimal("1.234")),
        ("1.234", Decimal("1.234"), 1234),
        ("1,5", Failure("ambiguous_number"), Decimal("1.5")),
        ("1.5", Decimal("1.5"), Failure("ambiguous_number")),
        ("1.234.567", Failure("ambiguous_number"), 1234567),
        ("1,234,567", 1234567, 1234567),
        ("1.234,56", Decimal("1234.56"), Decimal("1234.56")),
        ("1,234.56", Decimal("1234.56"), Decimal("1234.56")),
        ("1 234,56", Failure("ambiguous_number"), Decimal("1234.56")),
        ("192.168.100.200", Failure("ambiguous_number"), Failure("ambiguous_number")),
    ],
)
def test_the_separator_decides_only_what_is_open(
    text: str, with_point: object, with_comma: object
) -> None:
    assert parse_number(text) == with_point
    assert parse_number(text, decimal_separator=",") == with_comma


@settings(deadline=None)
@given(st.integers(-(10**40), 10**40), st.sampled_from([",", "\u202f", "\u00a0", "'", " "]))
def test_a_grouped_integer_reads_back(number: int, separator: str) -> None:
    assert parse_number(f"{number:,}".replace(",", separator)) == number


@settings(deadline=None)
@given(
    st.decimals(-(10**12), 10**12, allow_nan=False, places=2),
    st.sampled_from(["{}", "${}", "{} EUR", "{}%", "{} kg", "EUR {}"]),
)
def test_a_decimal_reads_back_in_every_form(number: Decimal, form: str) -> None:
    assert parse_number(form.format(f"{number:,.2f}")) == number


@settings(deadline=None)
@given(st.decimals(0, 10**12, allow_nan=False, places=3))
def test_a_decimal_comma_reads_back(number: Decimal) -> None:
    text = f"{number:,.3f}".translate(str.maketrans(",.", ".,"))
    assert parse_number(text, decimal_separator=",") == number


SIGNED = ["{}", "-{}", "\u2212{}", "\u2013{}", "+{}", "({})"]
AROUND = ["{}", " {} ", "{}%", "{} kg", "{} EUR", "{}€", "{}kg", "{}-year", "{} per month"]


@settings(deadline=None)
@given(
    st.decimals(0, 10**15, allow_nan=False, places=2).filter(lambda number: number >= 1),
    st.sampled_from([",", ".", " ", "\u00a0", "\u202f", "'", "\u2019", ""]),
    st.sampled_from(".,"),
    st.sampled_from(SIGNED),
    st.sampled_from(AROUND),
)
def test_a_number_reads_back_from_every_style(
    number: Decimal, grouping: str, mark: str, sign: str, around: str
) -> None:
    assume(grouping != mark)
    assume(sign != "({})" or around in AROUND[:2])
    digits = f"{number:,.2f}".translate(str.maketrans({",": grouping, ".": mark}))
    value = number if sign in ("{}", "+{}") else -number
    assert parse_number(around.format(sign.format(digits)), decimal_separator=mark) == value


@settings(deadline=None)
@given(st.integers(1, 10**15), st.sampled_from(["", ".5", ".25"]))
def test_the_indian_grouping_reads_back(number: int, fraction: str) -> None:
    last, rest = f"{number:,}".replace(",", "")[-3:], str(number)[:-3]
    groups = [rest[max(0, end - 2) : end] for end in range(len(rest), 0, -2)][::-1]
    assert parse_number(",".join([*groups, last]) + fraction) == Decimal(f"{number}{fraction}")


@settings(deadline=None)
@given(
    st.decimals(-(10**9), 10**9, allow_nan=False, places=2),
    st.integers(0, 12),
    st.sampled_from([0xFF10, 0x0660, 0x06F0, 0x0966]),
)
def test_digits_of_other_scripts_are_no_number(
    number: Decimal, position: int, other_zero: int
) -> None:
    text = f"{number:,.2f}"
    digits = [index for index, character in enumerate(text) if character.isdigit()]
    index = digits[position % len(digits)]
    mixed = text[:index] + chr(other_zero + int(text[index])) + text[index + 1 :]
    assert isinstance(parse_number(mixed), Failure)
    assert find_numbers(mixed) == []


@settings(deadline=None)
@given(st.integers(1, 10**9))
def test_accounting_brackets_mean_minus(number: int) -> None:
    assert parse_number(f"({number:,})") == -number


@settings(deadline=None)
@given(st.integers(-999, 999), st.integers(0, 20))
def test_a_power_of_ten_is_exact(digits: int, exponent: int) -> None:
    assert parse_number(f"{digits}e{exponent}") == digits * 10**exponent


@settings(deadline=None)
@given(st.text() | st.text("0123456789.,-+() eE%$'/x^\u00b2\u00bdkM", max_size=30))
def test_no_text_raises(text: str) -> None:
    for separator in ".,":
        assert isinstance(parse_number(text, decimal_separator=separator), int | Decimal | Failure)
