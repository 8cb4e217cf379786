import json
from typing import get_args

import pytest
from hypothesis import given, settings, strategies as st

from deg_schema.candidates import find_candidates, has_candidates
from deg_schema.plan import FieldPlan, Mode
from deg_schema.reading import read_span
from deg_schema.request import Options

NUMBER = FieldPlan(("n",), "extract.number", "number")
DATE = FieldPlan(("d",), "extract.date", "string", format="date")
DATE_TIME = FieldPlan(("t",), "extract.date", "string", format="date-time")
EMAIL, URI, UUID = (
    FieldPlan(("s",), "extract.span", "string", format=name) for name in ("email", "uri", "uuid")
)
FIELDS = [NUMBER, DATE, DATE_TIME, EMAIL, URI, UUID]
REASONS = {"unparsable", "format"}

CHARACTERS = "12-\u2013()%$/.,:@TZ\u00bd\u00b2\u00e9\u0663\0\ud800\U0001f600{\"'\\\n "
WORDS = ["12", "2024", "1,234.5", "am", "5th", "March", "of", "million", "a1", "e5", "x10^"]
REPEATED = [
    "1 ",
    "1.",
    "1,234",
    "123 ",
    "1/2/",
    "1-",
    "12:30 ",
    "1e5",
    "a@",
    "a.b@",
    "a-",
    "http://",
] + [
    "http://x)",
    "+1 555 ",
    "AB12 ",
    "minus ",
    "( 1 )",
    "Mar 5 14:30:00 ",
    "2024-03-05/",
    "5 March ",
    "mon ",
    "2024-03-05 14:30:00 ",
    "20240305",
    "x",
]
pieces = st.sampled_from([*CHARACTERS, *WORDS, "joe", "x.y", "https://"])
texts = st.text() | st.lists(pieces, max_size=25).map("".join)


@pytest.mark.parametrize("mode", get_args(Mode))
def test_only_grammars_have_candidates(mode: Mode) -> None:
    assert has_candidates(FieldPlan(("a",), mode, "string")) is (
        mode in ("extract.number", "extract.date")
    )


def test_a_plain_string_has_none_to_find() -> None:
    with pytest.raises(ValueError, match=r"extract\.span field of format None"):
        find_candidates(FieldPlan(("a",), "extract.span", "string"), "text")


@pytest.mark.parametrize(
    ("field", "found"),
    [
        (NUMBER, ["5"]),
        (DATE, ["2024-03-05"]),
        (DATE_TIME, ["2024-03-05 14:30 UTC"]),
        (EMAIL, ["joe@x.com"]),
        (URI, ["https://x.y/z"]),
        (UUID, ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"]),
    ],
)
def test_each_kind_of_field_has_its_own(field: FieldPlan, found: list[str]) -> None:
    text = "5 on 2024-03-05 14:30 UTC joe@x.com https://x.y/z. 2eb8aa08-aa98-11ea-b4aa-73b441d16380"
    assert [text[start:end] for start, end in find_candidates(field, text)] == found


def test_the_escapes_of_a_json_context_join_no_word() -> None:
    context = json.dumps({"a": 'x\njoe@x.com\nhttps://x.y/z\n5 "-5" \\5'})
    for field, found in [
        (EMAIL, ["joe@x.com"]),
        (URI, ["https://x.y/z"]),
        (NUMBER, ["5", "-5"]),
    ]:
        assert [context[slice(*span)] for span in find_candidates(field, context)] == found


@settings(deadline=None)
@given(st.sampled_from(FIELDS), texts, st.sampled_from(".,"))
def test_a_candidate_is_a_slice_that_reads_or_fails_by_name(
    field: FieldPlan, text: str, separator: str
) -> None:
    options = Options(decimal_separator=separator)
    spans = find_candidates(field, text)
    assert spans == sorted(spans, key=lambda span: (span[0], -span[1]))
    for start, end in spans:
        assert 0 <= start < end <= len(text)
        reading = read_span(field, text[start:end], options)
        assert (reading.value is None) is (reading.reason in REASONS)
        json.dumps(reading.value, allow_nan=False)


# the ratio of the times at two lengths is measured by tools/scan_time.py
@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.format or field.type)
def test_there_are_no_more_candidates_than_characters(field: FieldPlan) -> None:
    for piece in [*CHARACTERS, *WORDS, *REPEATED]:
        text = (piece * 2000)[:2000]
        assert len(set(find_candidates(field, text))) <= len(text), ascii(piece)


@pytest.mark.parametrize("piece", ["1", "-", "1,", "(", "a@"])
def test_a_megabyte_of_one_piece_is_searched_and_holds_nothing(piece: str) -> None:
    text = (piece * 2**20)[: 2**20]
    for field in (NUMBER, EMAIL):
        assert len(find_candidates(field, text)) <= 1
        assert read_span(field, text, Options()).value is None
