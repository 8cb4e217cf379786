"""A date with a time of day, in either order, read to RFC 3339."""

from __future__ import annotations

import re
from dataclasses import dataclass

from deg_schema.dates import GAP, STAMP, WEEKDAY, DateOrder, find_dates, parse_date
from deg_schema.failure import Failure
from deg_schema.formats import is_format
from deg_schema.lazy import lazy
from deg_schema.times import TIME, TimeOfDay, read_time

__all__ = ["DateTime", "find_datetimes", "parse_datetime"]

_WORD = r"(?ai:at|from|@|time:?|kl\.?|[-\u2013\u2014|,;])"
_JOIN = (
    rf"(?:{GAP}{{0,3}},?{GAP}{{0,3}}(?:{_WORD}{GAP}{{0,3}}){{0,2}}|:{GAP}{{0,3}}|_"
    rf"|\n(?ai:time):?{GAP}{{0,3}})"
)
_BASIC = (
    r"(?P<basic>(?P<basic_hour>[0-9]{2})(?P<basic_minute>[0-9]{2})(?P<basic_second>[0-9]{2})?"
    r"(?P<basic_rest>[.,][0-9]{1,18})?(?P<basic_zone>[Zz]|[-+\u2212][0-9]{2}(?::?[0-9]{2})?)?)"
    r"(?![^\W_]|[:.][0-9])"
)
_TIME_AFTER = lazy(rf"(?P<join>[Tt]|{_JOIN})(?P<time>{TIME})|[Tt]{_BASIC}")
_TIME_BEFORE = lazy(
    rf"(?<![^\W_])(?<![0-9][.:,/\-])(?P<time>{TIME})(?:{GAP}{{0,3}}[,;]?{GAP}{{0,3}})"
    rf"(?:(?ai:on){GAP})?(?:{WEEKDAY})?(?:(?ai:the){GAP})?"
)
_LEAD = lazy(rf"(?:(?ai:on){GAP})?(?:{WEEKDAY}|(?ai:the){GAP})?")
_OFFSET_AFTER = lazy(rf"(?:{GAP}(?P<offset>[-+\u2212][0-9]{{2}}:?[0-9]{{2}})(?![^\W_]|[:.][0-9]))?")
_RANGE_WITH_ZONE = lazy(rf"{GAP}?[-\u2013\u2014]{GAP}?(?:{TIME.replace('(?P<', '(?P<end_')})")

_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DateTime:
    """A moment as RFC 3339 writes it, and whether its offset was not in the text."""

    text: str
    assumed_offset: bool


def parse_datetime(
    text: str, *, date_order: DateOrder | None = None, default_offset: str = "Z"
) -> DateTime | Failure:
    """Read the one moment that *text* is; *default_offset* stands in where it names no zone."""
    stripped = text.strip()
    spans = find_dates(stripped)
    for start, end in spans:
        time = _time_around(stripped, start, end)
        if time is not None:
            day = parse_date(stripped[start:end], date_order=date_order)
            return _combine(day, time, default_offset)
    day = parse_date(stripped, date_order=date_order)
    return Failure(day.detail if isinstance(day, Failure) else "no_time")


def find_datetimes(text: str) -> list[tuple[_Span, _Span]]:
    """Return every date of *text* beside the span that holds its time too.

    The two are equal where no time stands next to the date.
    """
    before = {match.end(): match.start() for match in _TIME_BEFORE().finditer(text)}
    spans, taken = [], 0
    for start, end in find_dates(text):
        moment_end = _end_of_moment(text, start, end)
        moment = (start, moment_end or end)
        if moment_end is None and before.get(start, -1) >= taken:
            moment = (before[start], end)
        spans.append(((start, end), moment))
        taken = moment[1]
    return spans


def _end_of_moment(text: str, start: int, end: int) -> int | None:
    """Return where the time after, or inside, a date at [start, end) ends."""
    stamp = STAMP().match(text, start)
    if stamp is not None:
        offset = _OFFSET_AFTER().match(text, end)
        assert offset is not None
        return end if stamp["zone"] else offset.end()
    after = _TIME_AFTER().match(text, end)
    return _end_of_time(text, after) if after is not None else None


def _end_of_time(text: str, time: re.Match[str]) -> int | None:
    """Return where a time ends, or None where its zone stands only after the end of a range."""
    end = time.end()
    is_iso = time["join"] in {None, "T", "t"}
    if time["sign"] and time["sign"] != "+" and time["second"] is None and not is_iso:
        # no zone is thirteen hours behind: "14:00-15:30" is a range, and its start is a time
        end = time.start("zone") if int(time["zone_hour"]) > 12 else end
    closing = _RANGE_WITH_ZONE().match(text, end)
    return None if closing is not None and closing["end_zone"] is not None else end


def _time_around(text: str, start: int, end: int) -> TimeOfDay | Failure | None:
    """Read the time of a date at [start, end), where the text is that date and a time alone."""
    if _LEAD().fullmatch(text, 0, start):
        stamp = STAMP().match(text, start)
        offset = _OFFSET_AFTER().fullmatch(text, end)
        if stamp is not None and offset is not None:
            return read_time(f"{stamp['clock']} {stamp['zone'] or offset['offset'] or ''}".strip())
        after = _TIME_AFTER().fullmatch(text, end)
        if after is not None and after["basic"]:
            return read_time(_extended(after), is_iso=True)
        if after is not None:
            return read_time(after["time"], is_iso=after["join"] in {"T", "t"})
    before = _TIME_BEFORE().fullmatch(text, 0, start)
    if before is not None and end == len(text):
        return read_time(before["time"])
    return None


def _extended(time: re.Match[str]) -> str:
    """Return a time such as `143000Z` with its colons."""
    second = f":{time['basic_second']}" if time["basic_second"] else ""
    rest = f"{time['basic_rest'] or ''}{time['basic_zone'] or ''}"
    return f"{time['basic_hour']}:{time['basic_minute']}{second}{rest}"


def _combine(
    day: str | Failure, time: TimeOfDay | Failure, default_offset: str
) -> DateTime | Failure:
    if isinstance(day, Failure):
        return day
    if isinstance(time, Failure):
        return time
    text = f"{day}T{time.clock}{time.offset or default_offset}"
    if not is_format("date-time", text):
        return Failure("out_of_range")
    return DateTime(text, assumed_offset=time.offset is None)
