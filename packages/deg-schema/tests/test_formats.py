import json
import string
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from deg_schema.formats import FORMATS, is_format

# the cases of the official suite, copied with its licence
SUITE = json.loads((Path(__file__).parent / "format_cases.json").read_text("utf-8"))["cases"]
CASES = [
    pytest.param(name, text, verdict == "valid", id=f"{name}-{ascii(text)}")
    for name, verdicts in SUITE.items()
    for verdict, texts in verdicts.items()
    for text in texts
]


@pytest.mark.parametrize(("name", "text", "valid"), CASES)
def test_every_case_of_the_official_suite_holds(name: str, text: str, valid: bool) -> None:
    assert is_format(name, text) is valid


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("value", [12, 13.7, {}, [], False, None], ids=repr)
def test_a_format_says_nothing_about_what_is_no_text(name: str, value: object) -> None:
    assert is_format(name, value)


@pytest.mark.parametrize("ending", ["\n", "\r\n", " ", "\0", "\u2028"])
def test_nothing_slips_through_at_the_end(ending: str) -> None:
    for name, verdicts in SUITE.items():
        for text in verdicts["valid"]:
            assert not is_format(name, text + ending), (name, text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("email", f"{'a' * 65}@example.com"),
        ("email", f"a@{'b' * 64}.com"),
        ("email", "a@-b.com"),
        ("email", "a@b.com."),
        ("email", "a@[IPv6:fe80::1%eth0]"),
        ("email", "a@ex\u00e4mple.com"),
        ("uri", "http://[fe80::1%25eth0]/"),
        ("uri", "http://[::1"),
        ("uri", "x:[]"),
        ("uuid", "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}"),
        ("date-time", "2026-02-30T00:00:00Z"),
        ("date-time", "2026-01-01T00:00:00\u22121:00"),
    ],
)
def test_near_misses_are_refused(name: str, text: str) -> None:
    assert not is_format(name, text)


@pytest.mark.parametrize("text", ["a:", "http://", "x://[v1.a:b]", "urn:a?b#c", "http://a:/b//c"])
def test_unusual_uris_are_valid(text: str) -> None:
    assert is_format("uri", text)


@settings(deadline=None)
@given(st.sampled_from(sorted(FORMATS)), st.text() | st.text(string.printable))
def test_no_text_raises(name: str, text: str) -> None:
    assert is_format(name, text) in (True, False)


@settings(deadline=None)
@given(st.uuids())
def test_every_uuid_is_one(value: object) -> None:
    assert is_format("uuid", str(value))


@settings(deadline=None)
@given(st.datetimes())
def test_every_moment_of_the_library_is_a_date_time(value: object) -> None:
    assert is_format("date-time", f"{value:%Y-%m-%dT%H:%M:%S.%fZ}".rjust(27, "0"))
