import json

import pytest
from hypothesis import given, strategies as st

from deg_schema.candidates import find_candidates
from deg_schema.plan import Constraints, FieldPlan
from deg_schema.reading import Reading, read_span
from deg_schema.request import Options

NUMBER = FieldPlan(("n",), "extract.number", "number")
INTEGER = FieldPlan(("n",), "extract.number", "integer")
DATE = FieldPlan(("d",), "extract.date", "string", format="date")
DATE_TIME = FieldPlan(("t",), "extract.date", "string", format="date-time")
SPAN = FieldPlan(("s",), "extract.span", "string")
NO_OPTIONS = Options()


def _bounded(field: FieldPlan, **bounds: object) -> FieldPlan:
    constraints = Constraints(**bounds)  # type: ignore[arg-type]
    return FieldPlan(
        field.path, field.mode, field.type, format=field.format, constraints=constraints
    )


@pytest.mark.parametrize(
    ("field", "text", "printed"),
    [
        (NUMBER, "5", "5"),
        (NUMBER, "3.0", "3.0"),
        (NUMBER, "0.1", "0.1"),
        (NUMBER, "1e5", "100000"),
        (NUMBER, "(5)", "-5"),
        (INTEGER, "3.0", "3"),
        (INTEGER, "9" * 30, "9" * 30),
        (DATE, "5 March 2024", '"2024-03-05"'),
        (DATE, "2024-03-05 14:30", '"2024-03-05"'),
        (DATE_TIME, "2024-03-05T14:30Z", '"2024-03-05T14:30:00Z"'),
        (SPAN, " as it is ", '" as it is "'),
    ],
)
def test_a_value_prints_as_it_is_written(field: FieldPlan, text: str, printed: str) -> None:
    reading = read_span(field, text, NO_OPTIONS)
    assert reading.reason is None
    assert json.dumps(reading.value) == printed


@pytest.mark.parametrize(
    ("field", "text", "detail"),
    [
        (NUMBER, "3-4 days", None),
        (NUMBER, "1.2 million", "number_word"),
        (NUMBER, "0.1000000000000000055511151231257827", "out_of_range"),
        (NUMBER, "1e-400", "out_of_range"),
        (INTEGER, "3.5", "not_an_integer"),
        (DATE, "2/5/2019", "ambiguous_date"),
        (DATE, "5 March", "partial_date"),
        (DATE_TIME, "2024-03-05", "no_time"),
    ],
)
def test_what_cannot_be_read_says_so(field: FieldPlan, text: str, detail: str | None) -> None:
    assert read_span(field, text, NO_OPTIONS) == Reading(None, "unparsable", detail)


@pytest.mark.parametrize(
    ("field", "text", "keyword"),
    [
        (_bounded(NUMBER, minimum=5), "4.9", "minimum"),
        (_bounded(NUMBER, maximum=5), "5.1", "maximum"),
        (_bounded(NUMBER, exclusive_minimum=5), "5", "exclusiveMinimum"),
        (_bounded(NUMBER, exclusive_maximum=5), "5", "exclusiveMaximum"),
        (_bounded(NUMBER, multiple_of=0.1), "0.35", "multipleOf"),
        (_bounded(SPAN, min_length=3), "ab", "minLength"),
        (_bounded(SPAN, max_length=1), "ab", "maxLength"),
        (_bounded(SPAN, pattern="^a$"), "ab", "pattern"),
        (_bounded(DATE, pattern="^2024"), "5 March 2023", "pattern"),
        (FieldPlan(("s",), "extract.span", "string", format="email"), "joe", "format"),
    ],
)
def test_a_violated_keyword_is_named(field: FieldPlan, text: str, keyword: str) -> None:
    assert read_span(field, text, NO_OPTIONS) == Reading(None, keyword)


def test_bounds_hold_as_they_are_written() -> None:
    assert read_span(_bounded(NUMBER, multiple_of=0.1, maximum=0.3), "0.3", NO_OPTIONS).value == 0.3


def test_options_decide_what_the_text_leaves_open() -> None:
    options = Options(date_order="DMY", default_offset="+02:00", decimal_separator=",")
    assert read_span(NUMBER, "1.234,5", options) == Reading(1234.5)
    assert read_span(DATE, "2/5/2019", options) == Reading("2019-05-02")
    assert read_span(DATE_TIME, "2/5/2019 9:00", options) == Reading(
        "2019-05-02T09:00:00+02:00", assumed_offset=True
    )


def _values(field: FieldPlan, text: str, options: Options = NO_OPTIONS) -> list[object]:
    readings = [read_span(field, text[s:e], options) for s, e in find_candidates(field, text)]
    whole = read_span(field, text, options)
    return [reading.value for reading in (*readings, whole) if reading.reason is None]


# restated from public reports about other date and number readers
@pytest.mark.parametrize("text", ["15/4/2019", "16/4/2019", "24/4/2019", "2/5/2019"])
def test_a_day_beyond_twelve_needs_no_order(text: str) -> None:
    day, month, _ = text.split("/")
    value = f"2019-{int(month):02}-{int(day):02}"
    assert _values(DATE, text) == ([value] * 2 if int(day) > 12 else [])
    assert _values(DATE, text, Options(date_order="DMY")) == [value] * 2


@pytest.mark.parametrize("text", ["2026-08-31", "2026-05-08"])
def test_iso_dates_ignore_the_order(text: str) -> None:
    assert _values(DATE, text, Options(date_order="DMY")) == [text] * 2


@pytest.mark.parametrize(
    "text",
    [
        "2.3, 4.1, 4.3",
        "100M",
        "73 20",
        "32° 34'S",
        "a",
        "to",
        "car",
        "may be more fully described in the Appendices",
        "13190 SW 68th Parkway, Suite 200",
    ],
)
def test_no_date_is_made_of_what_holds_none(text: str) -> None:
    assert _values(DATE, text) == []
    assert _values(DATE_TIME, text) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("-5", [-5]),
        ("1e5", [100000]),
        ("(5)", [-5]),
        ("9" * 30, [int("9" * 30)]),
        ("3-4 days", []),
        ("second to none", []),
    ],
)
def test_a_number_is_the_one_that_is_written(text: str, values: list[int]) -> None:
    assert _values(NUMBER, text) == values * 2


@given(
    st.sampled_from([NUMBER, INTEGER, DATE, DATE_TIME, SPAN]),
    st.text() | st.text("0123456789.,-/: TZMarch$%()", max_size=30),
)
def test_reading_never_raises(field: FieldPlan, text: str) -> None:
    reading = read_span(field, text, NO_OPTIONS)
    assert (reading.value is None) is (reading.reason is not None)
