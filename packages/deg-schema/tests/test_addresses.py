import pytest
from hypothesis import given, strategies as st

from deg_schema.addresses import find_emails, find_uris, find_uuids

UUID = "2eb8aa08-aa98-11ea-b4aa-73b441d16380"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mail joe@x.com.", ["joe@x.com"]),
        ("<joe@x.com>, 'ann@y.org'!", ["joe@x.com", "ann@y.org"]),
        ("**joe.b+tag@x.co.uk**", ["joe.b+tag@x.co.uk"]),
        ("email=joe@x.com; mailto:ann@y.org?subject=1", ["joe@x.com", "ann@y.org"]),
        ("git@github.com:o/r", ["git@github.com"]),
        ('"joe bloggs"@example.com', ['"joe bloggs"@example.com']),
        ("joe@[127.0.0.1]", ["joe@[127.0.0.1]"]),
        ("m\u00fcller@x.com joe@m\u00fcnchen.de", []),
        ("a@b@c.com", []),
        ("joe@x.com-", []),
        ("https://user@example.com/", []),
        ("@name and x @ y", []),
        (f"{'a' * 65}@x.com", []),
    ],
)
def test_emails_are_found_whole(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in find_emails(text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://x.y/z.", ["https://x.y/z"]),
        ("(https://x.y)", ["https://x.y"]),
        ("(https://x.y/a_(b)).", ["https://x.y/a_(b)"]),
        ("[t](https://x.y/z), <http://a.b/c?d=e&f=g>", ["https://x.y/z", "http://a.b/c?d=e&f=g"]),
        ('"https://x.y", **https://z.y**', ["https://x.y", "https://z.y"]),
        ("http://[::1]/", ["http://[::1]/"]),
        ("mailto:joe@x.com, tel:+1-816-555-1212", ["mailto:joe@x.com", "tel:+1-816-555-1212"]),
        ("urn:isbn:0451450523", ["urn:isbn:0451450523"]),
        ("https://x.y/f\u00fcr", []),
        ("https://x.y/{id} http:// www.x.com note:this 1http://x.y", []),
    ],
)
def test_uris_are_found_without_the_punctuation_around(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in find_uris(text)] == found


@pytest.mark.parametrize(
    ("text", "count"),
    [(f"({UUID.upper()}).", 1), (f"urn:uuid:{UUID}", 1), (f"x{UUID}", 0), (f"{UUID}-1", 0)],
)
def test_uuids_are_found_whole(text: str, count: int) -> None:
    assert len(list(find_uuids(text))) == count


@given(st.text() | st.text("ab1@.:/()-'\" \u00e9", max_size=40))
def test_no_text_raises(text: str) -> None:
    for find in (find_emails, find_uris, find_uuids):
        for start, end in find(text):
            assert 0 <= start < end <= len(text)
