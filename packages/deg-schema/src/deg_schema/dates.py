"""Dates as people write them, read to ISO 8601 or refused by name.

Read: `2026-08-31`, `2026/8/31`, `20260831`, `31/8/2026` and `8/31/2026` (and `.` or `-`),
`31 August 2026`, `31st of Aug., 2026`, `August 31st, 2026`, `31-Aug-2026`, `2026 Aug 31`, each
after a weekday if there is one, and `Aug 31 14:30:00 2026` as logs write it. Refused: two-digit
years, dates without a year or a day, and a numeric date that has two readings and no order to
choose by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Literal

from deg_schema.failure import Failure
from deg_schema.lazy import lazy

__all__ = [
    "GAP",
    "STAMP",
    "WEEKDAY",
    "DateOrder",
    "find_dates",
    "find_numeric_dates",
    "parse_date",
]

DateOrder = Literal["DMY", "MDY"]

GAP = r"[ \t\u00a0\u202f]"
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_MONTH = (
    r"(?P<name>(?ai:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?))"
)
WEEKDAY = (
    r"(?ai:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?"
    rf"|sat(?:urday)?|sun(?:day)?)\.?,?{GAP}{{0,3}}(?:the{GAP})?"
)
_DAY = r"(?P<day>[0-3]?[0-9])(?ai:st|nd|rd|th)?"
_YEAR = r"(?P<year>[0-9]{4}|['\u2019]?[0-9]{2})"
_BLANK = rf"(?:{GAP}{{1,3}}|\n)"
_COMMA = rf"(?:,{_BLANK}?|{_BLANK})"

# "1/2/2024-3/2/2024" and "2024-02-01/2024-02-03" are two dates each
_OPEN = r"(?<![^\W_])(?:(?<!\d[./\-,:])|(?<=[./][0-9]{4}-))"
# in a row of values, a comma ends the one before
_OPEN_DIGITS = r"(?<![^\W_])(?:(?<!\d[./\-:])|(?<=[./][0-9]{4}-))"
_OPEN_ISO = rf"(?:{_OPEN_DIGITS}|(?<=-[0-9]{{2}}/))"
# "5-7 March 2024" ends on a date
_AFTER_DASH = r"(?<![^\W_])(?<!\d[./,:])"
_RANGE_END = (
    r"[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4}(?![^\W_])|[0-9]{4}-[0-9]{2}-[0-9]{2}(?![^\W_])"
    rf"|[0-9]{{1,2}}{GAP}(?ai:{_MONTHS})"
)
# a time, a zone or a sentence may follow; more digits make it another thing
_CLOSE = (
    rf"(?=[Tt][0-9]|[Zz](?![^\W_])|(?::[0-9]{{2}}){{3}}(?![0-9])|[-/](?:{_RANGE_END})"
    rf"|(?![^\W_]|[./\-\u2010\u2011:]\d|{GAP}?[aApP]\.?[mM]\b|{GAP}?B\.?C\b))"
)
# hyphens, and the one that breaks no line
_MARK = r"[./\-\u2010\u2011]"
_NUMERIC = lazy(
    rf"{_OPEN_DIGITS}(?P<first>[0-9]{{1,2}})(?P<mark>{GAP}?{_MARK}{GAP}?)(?P<second>[0-9]{{1,2}})(?P=mark)"
    rf"(?P<year>[0-9]{{4}}|[0-9]{{2}}){_CLOSE}"
)
_YEAR_FIRST = lazy(
    rf"{_OPEN_ISO}(?P<year>[0-9]{{4}})(?P<mark>{_MARK})(?P<month>[0-9]{{1,2}})(?P=mark)"
    rf"(?P<day>[0-9]{{1,2}}){_CLOSE}"
)
_COMPACT = lazy(
    rf"{_OPEN}(?P<year>(?:19|20)[0-9]{{2}})(?P<month>0[1-9]|1[0-2])(?P<day>[0-3][0-9]){_CLOSE}"
)
_NAMED = (
    lazy(
        rf"{_AFTER_DASH}{_DAY}(?:{GAP}{{1,3}}|-|/|\.{GAP}?|)(?:(?ai:day{GAP})?(?ai:of){GAP})?"
        rf"{_MONTH}(?:\.?,?{_BLANK}{{1,2}}|\.?-|/|\.|,|)(?:(?ai:of){GAP})?{_YEAR}{_CLOSE}"
    ),
    lazy(
        rf"{_OPEN}{_MONTH}(?:\.?{_BLANK}{{1,2}}(?:(?ai:the){GAP})?|\.?-|\.|/){_DAY}"
        rf"(?:{_COMMA}|-|/)(?:(?ai:of){GAP})?{_YEAR}{_CLOSE}"
    ),
    lazy(rf"{_OPEN}(?P<year>[0-9]{{4}})(?:{_COMMA}|-|/){_MONTH}(?:\.?{GAP}|-|/){_DAY}{_CLOSE}"),
)
STAMP = lazy(
    rf"{_OPEN}{_MONTH}{GAP}{{1,2}}(?P<day>[0-3]?[0-9]){GAP}(?P<clock>[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}})"
    rf"{GAP}(?:(?P<zone>[A-Z]{{3,5}}){GAP})?(?P<year>[0-9]{{4}}){_CLOSE}"
)
_PARTIAL = (
    lazy(rf"{_OPEN}{_DAY}(?:{GAP}|-)(?:(?ai:of){GAP})?{_MONTH}(?![^\W_])"),
    lazy(rf"{_OPEN}{_MONTH}(?:\.?{GAP}(?:(?ai:the){GAP})?|-){_DAY}(?![^\W_]|[.,:/-][0-9])"),
    lazy(rf"{_OPEN}{_MONTH}\.?{_COMMA}(?P<year>[0-9]{{4}})(?![^\W_]|[.:/-][0-9])"),
)
_WHOLE = (_NUMERIC, _YEAR_FIRST, _COMPACT, *_NAMED, STAMP)
_LEAD = lazy(rf"(?:{WEEKDAY}|(?ai:the){GAP}|(?ai:on){GAP})?")
_NUMERIC_PARTIAL = lazy(r"[0-9]{1,2}[/.\-][0-9]{1,2}\.?|[0-9]{4}|[0-9]{4}-[0-9]{2}")

_Span = tuple[int, int]


def parse_date(text: str, *, date_order: DateOrder | None = None) -> str | Failure:
    """Read the one date that *text* is, to `YYYY-MM-DD`.

    Without *date_order* a numeric date is read only where one order alone makes it a date. The
    weekday is not checked against the date: the date is what is written.
    """
    stripped = text.strip()
    lead = _LEAD().match(stripped)
    assert lead is not None
    body = stripped[lead.end() :]
    for pattern in _WHOLE:
        written = pattern().fullmatch(body)
        if written is not None:
            return _value(written, date_order)
    is_partial = any(pattern().fullmatch(body.rstrip(".")) for pattern in _PARTIAL)
    return Failure("partial_date" if is_partial or _NUMERIC_PARTIAL().fullmatch(body) else None)


def find_dates(text: str) -> list[_Span]:
    """Return the span of every date in *text*, in document order, without weekday or time.

    A date that will be refused by name, such as `5 March` for its missing year, is among them.
    """
    found = [match.span() for pattern in _WHOLE + _PARTIAL for match in pattern().finditer(text)]
    found.sort(key=lambda span: (span[0], -span[1]))
    return list(_without_overlaps(found))


def find_numeric_dates(text: str) -> Iterator[_Span]:
    """Yield the span of every date of digits alone, with a mark between them."""
    for pattern in (_NUMERIC, _YEAR_FIRST):
        for match in pattern().finditer(text):
            yield match.span()


def _without_overlaps(spans: list[_Span]) -> Iterator[_Span]:
    end = 0
    for span in spans:
        if span[0] >= end:
            yield span
            end = span[1]


def _value(written: re.Match[str], date_order: DateOrder | None) -> str | Failure:
    parts = written.groupdict()
    year = parts["year"]
    if len(year) != 4:
        return Failure("two_digit_year")
    if parts.get("first") is None:
        name = parts.get("name")
        month = _MONTHS.index(name[:3].lower()) // 4 + 1 if name else int(parts["month"])
        return _iso(int(year), month, int(parts["day"])) or Failure("out_of_range")
    return _numeric_value(int(year), int(parts["first"]), int(parts["second"]), date_order)


def _numeric_value(
    year: int, first: int, second: int, date_order: DateOrder | None
) -> str | Failure:
    readings: set[str | None] = set()
    if date_order != "DMY":
        readings.add(_iso(year, first, second))
    if date_order != "MDY":
        readings.add(_iso(year, second, first))
    readings.discard(None)
    if len(readings) > 1:
        return Failure("ambiguous_date")
    return readings.pop() or Failure("out_of_range") if readings else Failure("out_of_range")


def _iso(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None
