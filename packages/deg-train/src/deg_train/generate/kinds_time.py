"""Values about time: dates, times and spans in many written forms."""

from __future__ import annotations

from datetime import date
from random import Random

from deg_train.generate.setting import Setting

__all__ = ["MAKERS", "SETTING_MAKERS"]

_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def make_date(rng: Random, setting: Setting) -> str:
    """Write a date that can be read in one way only."""
    return _write_date(setting.draw_date(rng), setting.writer(rng))


def make_date_numeric(rng: Random, setting: Setting) -> str:
    """Write a date in figures, sometimes one that can be read in two ways."""
    day, rng = setting.draw_date(rng), setting.writer(rng)
    separator = rng.choice(("/", "/", ".", "-"))
    first, second = rng.choice(((day.day, day.month), (day.month, day.day)))
    if rng.random() < 0.7:
        return f"{first:02}{separator}{second:02}{separator}{day.year}"
    return f"{first}{separator}{second}{separator}{day.year}"


def make_datetime(rng: Random, setting: Setting) -> str:
    """Write a date with a time of day, sometimes with its offset."""
    day = setting.draw_date(rng)
    hour, minute, second = rng.randrange(24), rng.randrange(60), rng.randrange(60)
    rng = setting.writer(rng)
    roll = rng.random()
    zone = rng.choice(("Z", "", "+00:00", "+01:00", "+02:00", "-05:00", "-08:00", "+05:30"))
    if roll < 0.3:
        seconds = f":{second:02}" if rng.random() < 0.8 else ""
        return f"{day.isoformat()}T{hour:02}:{minute:02}{seconds}{zone}"
    if roll < 0.5:
        seconds = f":{second:02}" if rng.random() < 0.5 else ""
        return f"{day.isoformat()} {hour:02}:{minute:02}{seconds}"
    if roll < 0.6:
        offset = rng.choice(("+0000", "+0100", "+0200", "-0500", "-0700", "GMT"))
        name, month = _WEEKDAYS[day.weekday()][:3], _MONTHS[day.month - 1][:3]
        return f"{name}, {day.day:02} {month} {day.year} {hour:02}:{minute:02}:{second:02} {offset}"
    joint = rng.choice((" at ", ", ", " ", ", at ", " - "))
    joint = joint if joint != " - " else " "
    return f"{_write_date(day, rng)}{joint}{_write_time(hour, minute, rng)}"


def make_time(rng: Random, setting: Setting) -> str:
    """Write a time of day."""
    hour, minute = rng.randrange(24), rng.choice((0, 0, 15, 30, 45, rng.randrange(60)))
    return _write_time(hour, minute, setting.writer(rng))


def make_duration(rng: Random) -> str:
    """Write how long something takes."""
    hours, minutes = rng.randint(1, 12), rng.choice((5, 10, 15, 20, 30, 40, 45, 50))
    unit = rng.choice(("days", "weeks", "months", "hours", "minutes", "years", "working days"))
    word = rng.choice(("two", "three", "four", "five", "six", "ten", "twelve"))
    return rng.choice(
        (
            f"{hours} h {minutes} min",
            f"{hours}h{minutes:02}",
            f"{rng.randint(2, 90)} {unit}",
            f"{rng.randint(2, 90)} {unit}",
            f"{word} {unit}",
            f"{minutes} minutes",
            f"{hours} hours and {minutes} minutes",
            f"{hours}:{minutes:02}:{rng.randrange(60):02}",
            rng.choice(
                ("half an hour", "an hour", "a fortnight", "a week", "two and a half hours")
            ),
            f"{rng.randint(2, 9)}-{rng.randint(10, 14)} {unit}",
            f"{rng.randint(1, 900)} ms",
        )
    )


def make_year(rng: Random) -> str:
    """Write a year."""
    return str(rng.randint(1900, 2030) if rng.random() < 0.3 else rng.randint(1990, 2028))


def make_month(rng: Random) -> str:
    """Name a month, sometimes with its year."""
    month = rng.choice(_MONTHS)
    roll = rng.random()
    if roll < 0.5:
        return month
    return f"{month if roll < 0.85 else month[:3]} {rng.randint(2012, 2027)}"


def make_weekday(rng: Random) -> str:
    """Name a day of the week."""
    name = rng.choice(_WEEKDAYS)
    return name if rng.random() < 0.8 else name[:3]


def _write_date(day: date, rng: Random) -> str:
    month, short = _MONTHS[day.month - 1], _MONTHS[day.month - 1][:3]
    weekday = _WEEKDAYS[day.weekday()]
    roll = rng.random()
    if roll < 0.2:
        return day.isoformat()
    if roll < 0.36:
        return rng.choice((f"{month} {day.day}, {day.year}", f"{short} {day.day}, {day.year}"))
    if roll < 0.52:
        return rng.choice((f"{day.day} {month} {day.year}", f"{day.day:02} {short} {day.year}"))
    if roll < 0.62:
        nth = f"{day.day}{_ordinal(day.day)}"
        return rng.choice(
            (
                f"{month} {nth}, {day.year}",
                f"{nth} {month} {day.year}",
                f"{nth} of {month} {day.year}",
            )
        )
    if roll < 0.72:
        return rng.choice(
            (
                f"{weekday}, {month} {day.day}, {day.year}",
                f"{weekday}, {day.day} {month} {day.year}",
                f"{weekday[:3]} {day.day} {short} {day.year}",
                f"{weekday} {day.day} {month} {day.year}",
            )
        )
    if roll < 0.78:
        return rng.choice(
            (f"{day.day:02}-{short}-{day.year}", f"{day.year}/{day.month:02}/{day.day:02}")
        )
    if roll < 0.8:
        return f"{month.upper()} {day.day}, {day.year}"
    return _write_figures(day if day.day > 12 else day.replace(day=13 + day.day), rng)


def _write_figures(day: date, rng: Random) -> str:
    separator = rng.choice(("/", ".", "-", "/"))
    if rng.random() < 0.35 and separator == "/":
        return f"{day.month:02}/{day.day:02}/{day.year}"
    return f"{day.day:02}{separator}{day.month:02}{separator}{day.year}"


def _ordinal(number: int) -> str:
    if number in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _write_time(hour: int, minute: int, rng: Random) -> str:
    if rng.random() < 0.55:
        return f"{hour:02}:{minute:02}"
    half = rng.choice((("AM", "PM"), ("am", "pm"), ("a.m.", "p.m.")))[hour >= 12]
    twelve = hour % 12 or 12
    if minute == 0 and rng.random() < 0.4:
        return f"{twelve} {half}" if rng.random() < 0.6 else f"{twelve}{half.replace('.', '')}"
    return f"{twelve}:{minute:02} {half}" if rng.random() < 0.8 else f"{twelve}:{minute:02}{half}"


MAKERS = {
    "duration": make_duration,
    "year": make_year,
    "month": make_month,
    "weekday": make_weekday,
}
SETTING_MAKERS = {
    "date": make_date,
    "date_numeric": make_date_numeric,
    "datetime": make_datetime,
    "time": make_time,
}
