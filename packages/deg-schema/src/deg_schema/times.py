"""Times of day and zones as people write them, read to the tail of an RFC 3339 date-time.

Read: `14:30`, `14:30:05.25`, `2:30 pm`, `2 p.m.`, `14h30`, then `Z`, `UTC`, `GMT`, `+02:00`,
`-0500`, `UTC+2`, or an abbreviation that means one offset everywhere. Refused by name: an
abbreviation that several regions share (`CST`, `IST`, `PST`), a region (`Europe/Paris`), and a
tail that may be the end of a range as well as an offset (`09:00-10:30`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from deg_schema.dates import GAP
from deg_schema.failure import Failure
from deg_schema.lazy import lazy

__all__ = ["TIME", "TimeOfDay", "read_time"]

_OFFSETS = {
    "UTC": "Z", "GMT": "Z", "Z": "Z", "WET": "+00:00", "WEST": "+01:00", "CET": "+01:00",
    "CEST": "+02:00", "EET": "+02:00", "EEST": "+03:00", "MSK": "+03:00", "SAST": "+02:00",
    "CAT": "+02:00", "EAT": "+03:00", "WAT": "+01:00", "PKT": "+05:00", "WIB": "+07:00",
    "HKT": "+08:00", "SGT": "+08:00", "AWST": "+08:00", "JST": "+09:00", "KST": "+09:00",
    "ACST": "+09:30", "ACDT": "+10:30", "AEST": "+10:00", "AEDT": "+11:00", "NZST": "+12:00",
    "NZDT": "+13:00", "EST": "-05:00", "EDT": "-04:00", "MDT": "-06:00", "PDT": "-07:00",
    "AKST": "-09:00", "AKDT": "-08:00", "HST": "-10:00", "NDT": "-02:30", "HDT": "-09:00",
    "BRT": "-03:00", "TRT": "+03:00", "IDT": "+03:00", "NPT": "+05:45", "MYT": "+08:00",
    "PHT": "+08:00",
}  # fmt: skip
_SHARED = "CST|CDT|PST|MST|IST|BST|AST|ADT|GST|SST|AMT|ECT|ET|CT|MT|PT|NST"
_PLACE = r"[A-Z][A-Za-z]{2,11}(?:/[A-Z][A-Za-z_]{2,20}){1,2}"
_REGION = rf"{_PLACE}|(?:[A-Z][a-z]{{3,11}} ){{1,2}}[Tt]ime"
# the half of the day in words, without which the hour is another one
_HALF_IN_WORDS = (
    rf"{GAP}?(?ai:midnight|tonight|(?:in{GAP}the|this|that){GAP}(?:afternoon|evening)|at{GAP}night)"
)

_HALF = rf"(?ai:[ap](?:m\b|\.{GAP}?m\b\.?))"
_CLOCK = (
    r"(?P<hour>[0-9]{1,2})(?:"
    r":(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,18}))?)?"
    rf"(?:{GAP}?(?P<half>{_HALF})|{GAP}?(?ai:h|hrs|uhr)\b|(?!{_HALF_IN_WORDS}))"
    rf"|(?:\.(?P<dot_minute>[0-9]{{2}}))?{GAP}?(?P<dot_half>{_HALF})"
    rf"|{GAP}?[hH](?:{GAP}?(?P<h_minute>[0-9]{{2}}))?)"
)
_NAMED = rf"(?P<named>{'|'.join(sorted(_OFFSETS, key=len, reverse=True))})"
_SIGNED = r"(?P<sign>[-+\u2212])(?P<zone_hour>[0-9]{2})(?::?(?P<zone_minute>[0-9]{2}))?"
_NAMED_SIGNED = (
    rf"(?:UTC|GMT){GAP}?(?P<named_sign>[-+\u2212])(?P<named_hour>[0-9]{{1,2}})"
    r"(?::?(?P<named_minute>[0-9]{2}))?"
)
_ZONE = (
    rf"(?:{GAP}?[(\[]?(?:{_NAMED_SIGNED}|(?P<unclear>{_SHARED}|{_REGION})|(?:(?<=[0-9])z|{_NAMED}))"
    rf"(?![^\W_])[)\]]?|{GAP}?{_SIGNED}(?:{GAP}?\([A-Z]{{3,5}}\)|\[{_PLACE}\])?)"
)
TIME = rf"{_CLOCK}(?P<zone>{_ZONE})?(?![^\W_]|[:.][0-9])"

_TIME = lazy(TIME)


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """A time as RFC 3339 writes it, and its offset or None where the text names none."""

    clock: str
    offset: str | None


def read_time(text: str, *, is_iso: bool = False) -> TimeOfDay | Failure:
    """Read the one time that *text* is; *is_iso* where a `T` says that an offset may follow."""
    written = _TIME().fullmatch(text)
    if written is None:
        return Failure()
    clock, offset = _clock(written), _offset(written, is_iso=is_iso)
    if isinstance(clock, Failure):
        return clock
    return offset if isinstance(offset, Failure) else TimeOfDay(clock, offset)


def _clock(written: re.Match[str]) -> str | Failure:
    hour = int(written["hour"])
    minute = int(written["minute"] or written["dot_minute"] or written["h_minute"] or 0)
    half = (written["half"] or written["dot_half"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            return Failure("out_of_range")
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    second = written["second"] or "00"
    # a leap second is judged with its date and offset
    if hour > 23 or minute > 59 or int(second) > 60:
        return Failure("out_of_range")
    fraction = f".{written['fraction']}" if written["fraction"] else ""
    return f"{hour:02}:{minute:02}:{second}{fraction}"


def _offset(written: re.Match[str], *, is_iso: bool) -> str | Failure | None:
    if written["unclear"]:
        return Failure("ambiguous_zone")
    if written["zone"] is None:
        return None
    if written["named_sign"]:
        return _signed(written["named_sign"], written["named_hour"], written["named_minute"])
    if written["sign"] is None:
        return _OFFSETS[written["named"] or "Z"]
    # "09:00-10:30" is the span of a meeting far more often than a time in Hawaii
    if written["sign"] != "+" and not is_iso and written["second"] is None:
        return Failure("ambiguous_offset")
    return _signed(written["sign"], written["zone_hour"], written["zone_minute"])


def _signed(sign: str, hour: str, minute: str | None) -> str | Failure:
    if int(hour) > 23 or int(minute or 0) > 59:
        return Failure("out_of_range")
    return f"{'+' if sign == '+' else '-'}{int(hour):02}:{minute or '00'}"
