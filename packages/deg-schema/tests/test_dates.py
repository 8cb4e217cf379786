from datetime import date

import pytest
from hypothesis import given, settings, strategies as st

from deg_schema.dates import find_dates, find_numeric_dates, parse_date
from deg_schema.failure import Failure

ORDINALS = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd", 31: "st"}
FORMS = [
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d %B %Y",
    "%d %b %Y",
    "%d. %B %Y",
    "%d %b. %Y",
    "%d-%b-%Y",
    "%d%b%Y",
    "%d/%b/%Y",
    "%B %d, %Y",
    "%b %d %Y",
    "%b. %d, %Y",
    "%B %d,%Y",
    "%Y %B %d",
    "%Y-%b-%d",
    "%A, %d %B %Y",
    "%a %d %b %Y",
    "%A, %B %d, %Y",
    "%A the %dth of %B %Y",
    "the %dth day of %B, %Y",
    "%B the %dth, %Y",
]
days = st.dates(date(1000, 1, 1))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-08-31", "2026-08-31"),
        ("2026-8-1", "2026-08-01"),
        ("20260831", "2026-08-31"),
        ("15. 4. 2019", "2019-04-15"),
        ("1st Sept 2026", "2026-09-01"),
        ("Tues., 3rd of March, 2026", "2026-03-03"),
        ("MARCH 3RD 2026", "2026-03-03"),
        ("3 march\n2026", "2026-03-03"),
        ("29 February 2024", "2024-02-29"),
        ("2024-03-05Z", None),
        ("2024\u201103\u201105", "2024-03-05"),
        ("Tue Mar  5 14:30:00 2024", "2024-03-05"),
        ("Mar 5 14:30:00 CET 2024", "2024-03-05"),
        ("5/5/2026", "2026-05-05"),
    ],
)
def test_a_date_reads_as_written(text: str, value: str | None) -> None:
    assert parse_date(text) == (value or Failure())


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("2/5/2019", "ambiguous_date"),
        ("02-05-2019", "ambiguous_date"),
        ("31/02/2019", "out_of_range"),
        ("2026-02-29", "out_of_range"),
        ("30 February 2024", "out_of_range"),
        ("0000-01-01", "out_of_range"),
        ("15/4/19", "two_digit_year"),
        ("5 March '24", "two_digit_year"),
        ("Mar 5, 24", "two_digit_year"),
        ("5 March", "partial_date"),
        ("March 5th", "partial_date"),
        ("March 2024", "partial_date"),
        ("15/4", "partial_date"),
        ("2024", "partial_date"),
        ("15/4-2019", None),
        ("5 Mars 2024", None),
        ("augu\u017ft 5, 2024", None),
        ("\u0665 March 2024", None),
        ("2024-W10", None),
        ("soon", None),
        ("", None),
    ],
)
def test_what_is_no_whole_date_is_refused(text: str, detail: str | None) -> None:
    assert parse_date(text) == Failure(detail)


@pytest.mark.parametrize("text", ["15/4/2019", "16/4/2019", "24/4/2019"])
def test_one_valid_order_needs_no_option(text: str) -> None:
    assert parse_date(text) == parse_date(text, date_order="DMY")
    assert parse_date(text, date_order="MDY") == Failure("out_of_range")


def test_the_order_decides_an_open_date() -> None:
    assert parse_date("2/5/2019", date_order="DMY") == "2019-05-02"
    assert parse_date("2/5/2019", date_order="MDY") == "2019-02-05"


@pytest.mark.parametrize("text", ["2026-08-31", "2026-05-08"])
def test_iso_dates_ignore_the_order(text: str) -> None:
    assert parse_date(text, date_order="DMY") == text


@pytest.mark.parametrize(
    "text",
    [
        "2.3, 4.1, 4.3",
        "100M",
        "73 20",
        "32° 34'S",
        "a",
        "to",
        "car",
        "may be more fully described in the Appendices",
        "13190 SW 68th Parkway, Suite 200",
        "2024-03-05-001",
        "1.2.2024.5",
        "version 10.11.12.2024",
        "x1/2/2024",
        "12:05-03-2024",
    ],
)
def test_what_only_looks_like_a_date_is_not_found(text: str) -> None:
    assert find_dates(text) == []
    assert isinstance(parse_date(text), Failure)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("on Friday, 5 March 2024, at", ["5 March 2024"]),
        ("2024-03-05T14:30Z", ["2024-03-05"]),
        ("from 5-7 March 2024.", ["7 March 2024"]),
        ("2026-08-31, 5 May; March 2024", ["2026-08-31", "5 May", "March 2024"]),
        ("log_2024-03-05.txt", ["2024-03-05"]),
        ("5 March 14:30", ["5 March"]),
        ("1 Jan 2024\u201331 Dec 2024", ["1 Jan 2024", "31 Dec 2024"]),
        ("5 March 2024-6 March 2024", ["5 March 2024", "6 March 2024"]),
        ("13/3/2024-14/3/2024", ["13/3/2024", "14/3/2024"]),
        ("2024-03-05/2024-03-06", ["2024-03-05", "2024-03-06"]),
        ("7,2024-03-05,2024-03-06", ["2024-03-05", "2024-03-06"]),
        ("15 March 44 BC, 15 March 2024 BC", ["15 March", "15 March"]),
        ("Tue Mar 5 14:30:00 2024 by", ["Mar 5 14:30:00 2024"]),
        ("[05/Mar/2024:14:30:00 +0000]", ["05/Mar/2024"]),
    ],
)
def test_dates_are_found_without_what_surrounds_them(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in find_dates(text)] == found


def test_numeric_dates_are_digits_alone() -> None:
    spans = find_numeric_dates("5 May 2024, 1/2/2024, 2024-03-05")
    assert sorted(spans) == [(12, 20), (22, 32)]


@settings(deadline=None)
@given(days, st.sampled_from(FORMS))
def test_a_date_reads_back_from_every_form(day: date, form: str) -> None:
    text = day.strftime(form.replace("th", ORDINALS.get(day.day, "th")))
    text = text.replace(f"{ORDINALS.get(day.day, 'th')}e ", "the ")
    assert parse_date(text) == day.isoformat()
    context = f"It was signed on {text}, in ink."
    ((start, end),) = find_dates(context)
    assert parse_date(context[start:end]) == day.isoformat()


@settings(deadline=None)
@given(days, st.sampled_from(FORMS), st.integers(0, 20), st.sampled_from([0xFF10, 0x0660, 0x0966]))
def test_digits_of_other_scripts_are_no_date(
    day: date, form: str, position: int, other_zero: int
) -> None:
    text = day.strftime(form)
    digits = [index for index, character in enumerate(text) if character.isdigit()]
    index = digits[position % len(digits)]
    mixed = text[:index] + chr(other_zero + int(text[index])) + text[index + 1 :]
    assert isinstance(parse_date(mixed), Failure)
    for start, end in find_dates(mixed):
        assert isinstance(parse_date(mixed[start:end]), Failure)


@settings(deadline=None)
@given(days, st.sampled_from("/.-"), st.booleans())
def test_a_numeric_date_reads_back_in_its_order(day: date, mark: str, padded: bool) -> None:
    width = 2 if padded else 1
    day_first = f"{day.day:0{width}}{mark}{day.month:0{width}}{mark}{day.year}"
    month_first = f"{day.month:0{width}}{mark}{day.day:0{width}}{mark}{day.year}"
    assert parse_date(day_first, date_order="DMY") == day.isoformat()
    assert parse_date(month_first, date_order="MDY") == day.isoformat()


WORDS = [
    "5",
    "31",
    "12th",
    "March",
    "Feb.",
    "2024,",
    "1999",
    "5/3/2024",
    "2024-03-05",
    "of",
    "Mon,",
]
WORDS += ["14:30:05", "CET", "24", "the", "x"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=6))
def test_what_the_parser_reads_is_found(words: list[str]) -> None:
    # by brute force over every run of words
    text = " ".join(words)
    found = find_dates(text)
    for first in range(len(words)):
        for last in range(first + 1, len(words) + 1):
            start = len(" ".join([*words[:first], ""]))
            end = len(" ".join(words[:last]))
            if isinstance(parse_date(text[start:end], date_order="DMY"), str):
                assert any(left < end and start < right for left, right in found), text[start:end]


@settings(deadline=None)
@given(st.text() | st.text("0123456789/.- ,stndrhMarchy'", max_size=40))
def test_no_text_raises(text: str) -> None:
    assert isinstance(parse_date(text), str | Failure)
    for start, end in find_dates(text):
        assert 0 <= start < end <= len(text)
