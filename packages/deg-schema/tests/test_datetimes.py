from datetime import datetime

import pytest
from hypothesis import given, settings, strategies as st

from deg_schema.datetimes import DateTime, find_datetimes, parse_datetime
from deg_schema.failure import Failure
from deg_schema.formats import is_format

FORMS = [
    "%Y-%m-%dT%H:%M:%S{}",
    "%Y-%m-%d %H:%M:%S {}",
    "%d %B %Y at %I:%M:%S %p {}",
    "%d %b %Y, %H:%M:%S{}",
    "%A, %d %B %Y %H:%M:%S ({})",
    "%B %d, %Y %I:%M:%S%p {}",
    "%d/%b/%Y:%H:%M:%S {}",
    "%H:%M:%S {} on %d %B %Y",
    "%I:%M:%S %p {}, %A, %B %d, %Y",
    "%Y/%m/%d - %H:%M:%S{}",
    "%Y-%m-%d_%H:%M:%S {}",
    "%Y-%m-%d %H:%M:%S[{}]",
]
ZONES = {"Z": "Z", "UTC": "Z", "GMT+2": "+02:00", "CET": "+01:00", "NZST": "+12:00"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2024-03-05T14:30:00Z", "2024-03-05T14:30:00Z"),
        ("2024-03-05t14:30z", "2024-03-05T14:30:00Z"),
        ("2024-03-05T14:30:00.123456+0530", "2024-03-05T14:30:00.123456+05:30"),
        ("2024-03-05T09:00-05:00", "2024-03-05T09:00:00-05:00"),
        ("2024-03-05 14:30:00 -0500", "2024-03-05T14:30:00-05:00"),
        ("5 March 2024 at 2pm CET", "2024-03-05T14:00:00+01:00"),
        ("Fri, 5 Mar 2024 14:30:00 +0000", "2024-03-05T14:30:00+00:00"),
        ("at 2024-03-05", None),
        ("1998-12-31T23:59:60Z", "1998-12-31T23:59:60Z"),
        ("5 March 2024\nTime: 14:30 UTC", "2024-03-05T14:30:00Z"),
        ("20240305T143000Z", "2024-03-05T14:30:00Z"),
        ("2024-03-05T1430+0100", "2024-03-05T14:30:00+01:00"),
        ("20240305T143000.25-05:00", "2024-03-05T14:30:00.25-05:00"),
        ("Tue Mar  5 14:30:00 2024 +0100", "2024-03-05T14:30:00+01:00"),
        ("Tue Mar 5 14:30:00 UTC 2024", "2024-03-05T14:30:00Z"),
        ("2024-03-05T14:30:00+01:00[Europe/Paris]", "2024-03-05T14:30:00+01:00"),
        ("5 March 2024, 2:30 p. m. CET", "2024-03-05T14:30:00+01:00"),
    ],
)
def test_a_moment_with_its_zone_reads_as_written(text: str, value: str | None) -> None:
    expected = DateTime(value, assumed_offset=False) if value else Failure()
    assert parse_datetime(text) == expected


@pytest.mark.parametrize("offset", ["Z", "+02:00"])
def test_a_moment_without_a_zone_takes_the_default(offset: str) -> None:
    moment = parse_datetime("15/4/2019, 14h30", default_offset=offset)
    assert moment == DateTime(f"2019-04-15T14:30:00{offset}", assumed_offset=True)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("5 March 2024", "no_time"),
        ("2024-03-05", "no_time"),
        ("5 March", "partial_date"),
        ("5 March 14:30", "partial_date"),
        ("2/5/2019 14:30", "ambiguous_date"),
        ("2/5/19 14:30", "two_digit_year"),
        ("2024-03-05 14:30 CST", "ambiguous_zone"),
        ("2024-03-05T14:30:00[Europe/Paris]", "ambiguous_zone"),
        ("Tue Mar 5 14:30:00 PST 2024", "ambiguous_zone"),
        ("20240305T250000Z", "out_of_range"),
        ("2024-03-05 12:00 midnight", None),
        ("2024-03-05 3:30 in the afternoon", None),
        ("2024-03-05 09:00-10:30", "ambiguous_offset"),
        ("2024-02-30T10:00:00Z", "out_of_range"),
        ("2024-03-05T25:00:00Z", "out_of_range"),
        ("2024-03-05T12:00:60Z", "out_of_range"),
        ("14:30", None),
        ("2024-03-05 14:30 or later", None),
        ("", None),
    ],
)
def test_what_is_no_whole_moment_is_refused(text: str, detail: str | None) -> None:
    assert parse_datetime(text) == Failure(detail)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("due 5 March 2024 at 2 pm.", "5 March 2024 at 2 pm"),
        ("at 2:30 pm on Friday, March 5th, 2024:", "2:30 pm on Friday, March 5th, 2024"),
        ("5 March 2024, 14:00\u201315:30", "5 March 2024, 14:00"),
        ("5 March 2024, 14:00-15:30", "5 March 2024, 14:00"),
        ("5 March 2024, 14:00\u201315:30 CET", "5 March 2024"),
        ("5 March 2024\n14:30 is near", "5 March 2024"),
        ("5 March 2024 only", "5 March 2024"),
        ("5 March 2024 at 3:30 this afternoon", "5 March 2024"),
        ("5 March 2024 14:30 Uhr.", "5 March 2024 14:30 Uhr"),
        ("Tue Mar 5 14:30:00 2024 +0100 by", "Mar 5 14:30:00 2024 +0100"),
        ("20240305T143000Z.", "20240305T143000Z"),
    ],
)
def test_the_time_beside_a_date_belongs_to_it(text: str, found: str) -> None:
    ((_, (start, end)),) = find_datetimes(text)
    assert text[start:end] == found


def test_a_time_belongs_to_one_date() -> None:
    text = "2024-03-04 10:00 2024-03-05"
    assert [moment for _, moment in find_datetimes(text)] == [(0, 16), (17, 27)]


@settings(deadline=None)
@given(
    st.datetimes(datetime(1000, 1, 1)),
    st.sampled_from(FORMS),
    st.sampled_from(sorted(ZONES)),
)
def test_a_moment_reads_back_from_every_form(moment: datetime, form: str, zone: str) -> None:
    read = parse_datetime(moment.strftime(form).format(zone))
    expected = DateTime(f"{moment:%Y-%m-%dT%H:%M:%S}{ZONES[zone]}", assumed_offset=False)
    assert read == expected
    context = f"It arrived: {moment.strftime(form).format(zone)}, at last."
    ((_, (start, end)),) = find_datetimes(context)
    assert parse_datetime(context[start:end]) == expected


@settings(deadline=None)
@given(st.text() | st.text("0123456789/-:. TZapm,March", max_size=40))
def test_no_text_raises(text: str) -> None:
    read = parse_datetime(text)
    assert isinstance(read, Failure) or is_format("date-time", read.text)
    for day, moment in find_datetimes(text):
        assert 0 <= moment[0] <= day[0] < day[1] <= moment[1] <= len(text)
