import pytest
from hypothesis import given, settings, strategies as st

from deg_schema.failure import Failure
from deg_schema.times import TimeOfDay, read_time


@pytest.mark.parametrize(
    ("text", "clock", "offset"),
    [
        ("14:30", "14:30:00", None),
        ("9:05", "09:05:00", None),
        ("14:30:05", "14:30:05", None),
        ("14:30:05.250", "14:30:05.250", None),
        ("14:30:05,25", "14:30:05.25", None),
        ("2:30 pm", "14:30:00", None),
        ("2:30:15 P.M.", "14:30:15", None),
        ("2.30pm", "14:30:00", None),
        ("2 a.m.", "02:00:00", None),
        ("12 am", "00:00:00", None),
        ("12 pm", "12:00:00", None),
        ("14h30", "14:30:00", None),
        ("14:30h", "14:30:00", None),
        ("14:30 Uhr", "14:30:00", None),
        ("2:30 p. m.", "14:30:00", None),
        ("14:30 [UTC]", "14:30:00", "Z"),
        ("14:30 BRT", "14:30:00", "-03:00"),
        ("14 h 30", "14:30:00", None),
        ("14h", "14:00:00", None),
        ("14:30Z", "14:30:00", "Z"),
        ("14:30 UTC", "14:30:00", "Z"),
        ("14:30 (GMT)", "14:30:00", "Z"),
        ("14:30 CEST", "14:30:00", "+02:00"),
        ("2 pm EST", "14:00:00", "-05:00"),
        ("14:30+02:00", "14:30:00", "+02:00"),
        ("14:30 +0530", "14:30:00", "+05:30"),
        ("14:30:00-05:00", "14:30:00", "-05:00"),
        ("14:30:00 \u22120500", "14:30:00", "-05:00"),
        ("14:30:00 +0100 (CET)", "14:30:00", "+01:00"),
        ("14:30 UTC+2", "14:30:00", "+02:00"),
        ("14:30 GMT-03:30", "14:30:00", "-03:30"),
    ],
)
def test_a_time_reads_as_written(text: str, clock: str, offset: str | None) -> None:
    assert read_time(text) == TimeOfDay(clock, offset)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("24:00", "out_of_range"),
        ("14:60", "out_of_range"),
        ("14:30:61", "out_of_range"),
        ("13 pm", "out_of_range"),
        ("0 am", "out_of_range"),
        ("14:30+25:00", "out_of_range"),
        ("14:30 CST", "ambiguous_zone"),
        ("14:30 (IST)", "ambiguous_zone"),
        ("2 pm PT", "ambiguous_zone"),
        ("14:30 Europe/Paris", "ambiguous_zone"),
        ("2 pm Eastern Time", "ambiguous_zone"),
        ("09:00-10:30", "ambiguous_offset"),
        ("14", None),
        ("1430", None),
        ("half past two", None),
        ("12:00 midnight", None),
        ("3:30 in the afternoon", None),
        ("8:00 tonight", None),
        ("14:30 America/Argentina/Buenos_Aires", "ambiguous_zone"),
        ("\u0661\u0664:30", None),
        ("14:30 XYZ", None),
    ],
)
def test_what_is_no_certain_time_is_refused(text: str, detail: str | None) -> None:
    assert read_time(text) == Failure(detail)


def test_a_t_makes_the_tail_an_offset() -> None:
    assert read_time("09:00-10:30", is_iso=True) == TimeOfDay("09:00:00", "-10:30")


@settings(deadline=None)
@given(st.text("0123456789:.hapmZUTC+- ", max_size=20) | st.text())
def test_no_text_raises(text: str) -> None:
    assert isinstance(read_time(text), TimeOfDay | Failure)
