"""The five string formats, exactly as their RFCs spell them and to the last character."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from datetime import date

from deg_schema.lazy import lazy

__all__ = ["FORMATS", "is_format"]

_DATE = lazy(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_DATE_TIME = lazy(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})[Tt](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})"
    r":(?P<second>[0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|(?P<sign>[+-])(?P<zone_hour>[0-9]{2}):(?P<zone_minute>[0-9]{2}))"
)
_UUID = lazy(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")

_ATOM = r"[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_EMAIL = lazy(
    rf"(?P<local>{_ATOM}(?:\.{_ATOM})*|\"(?:[ !#-\[\]-~]|\\[ -~])*\")"
    rf"@(?P<domain>{_LABEL}(?:\.{_LABEL})*|\[(?P<literal>[^\[\]\\]+)\])"
)

_PLAIN = r"[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2}"
_URI = lazy(
    rf"[A-Za-z][A-Za-z0-9+.\-]*:"
    rf"(?://(?:(?:{_PLAIN}|:)*@)?(?:\[(?P<literal>[^\[\]]*)\]|(?:{_PLAIN})*)(?::[0-9]*)?"
    rf"(?:/(?:{_PLAIN}|[:@])*)*|(?!//)(?:{_PLAIN}|[:@/])*)"
    rf"(?:\?(?:{_PLAIN}|[:@/?])*)?(?:\#(?:{_PLAIN}|[:@/?])*)?"
)
_FUTURE_ADDRESS = lazy(r"[vV][0-9A-Fa-f]+\.[A-Za-z0-9\-._~!$&'()*+,;=:]+")


def is_format(name: str, value: object) -> bool:
    """Say whether a text is a valid `date`, `date-time`, `email`, `uri` or `uuid`.

    As in JSON Schema, a format says nothing about what is no text.
    """
    return not isinstance(value, str) or FORMATS[name](value)


def _is_date(text: str) -> bool:
    written = _DATE().fullmatch(text)
    return written is not None and _is_day(*map(int, written.groups()))


def _is_day(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        # the calendar of Python has no year 0, that of RFC 3339 does
        return year == 0 and _is_day(2000, month, day)
    return True


def _is_date_time(text: str) -> bool:
    written = _DATE_TIME().fullmatch(text)
    if written is None or not _is_date(written["date"]):
        return False
    hour, minute, second = (int(written[part]) for part in ("hour", "minute", "second"))
    zone_hour, zone_minute = int(written["zone_hour"] or 0), int(written["zone_minute"] or 0)
    if hour > 23 or minute > 59 or zone_hour > 23 or zone_minute > 59 or second > 60:
        return False
    offset = (zone_hour * 60 + zone_minute) * (-1 if written["sign"] == "-" else 1)
    # leap seconds are inserted at the end of a day in UTC, wherever that is on this clock
    return second < 60 or (hour * 60 + minute - offset) % 1440 == 1439


def _is_email(text: str) -> bool:
    written = _EMAIL().fullmatch(text)
    if written is None or len(written["local"]) > 64 or len(written["domain"]) > 255:
        return False
    literal = written["literal"]
    if literal is None:
        return True
    if literal[:5].lower() == "ipv6:":
        return _is_address(ipaddress.IPv6Address, literal[5:])
    return _is_address(ipaddress.IPv4Address, literal)


def _is_uri(text: str) -> bool:
    written = _URI().fullmatch(text)
    if written is None:
        return False
    literal = written["literal"]
    if literal is None or _FUTURE_ADDRESS().fullmatch(literal):
        return True
    return _is_address(ipaddress.IPv6Address, literal)


def _is_uuid(text: str) -> bool:
    return _UUID().fullmatch(text) is not None


def _is_address(kind: Callable[[str], object], text: str) -> bool:
    # a zone (`%eth0`) is valid to the library and to no RFC of ours
    if not text.isascii() or "%" in text:
        return False
    try:
        kind(text)
    except ValueError:
        return False
    return True


FORMATS: dict[str, Callable[[str], bool]] = {
    "date": _is_date,
    "date-time": _is_date_time,
    "email": _is_email,
    "uri": _is_uri,
    "uuid": _is_uuid,
}
