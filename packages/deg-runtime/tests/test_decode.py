from __future__ import annotations

import math
import time
from typing import Any

import pytest
import torch
from torch import Tensor

from deg_model import (
    MAX_SPAN_TOKENS,
    ContextState,
    EncodedContext,
    Heads,
    SpanKeys,
    SpanScores,
    State,
)
from deg_runtime.decode import decode
from deg_schema import (
    Decided,
    Extracted,
    FieldPlan,
    Missing,
    Options,
    Outcome,
    compile_schema,
    parse_options,
)

# T context tokens, S starts, W span lengths

Span = tuple[int, int]


class Peaks:
    """Span scores, a token a character, that give chosen spans a probability."""

    def __init__(self, num_tokens: int, peaks: dict[Span, float], null: float) -> None:
        self.width = min(MAX_SPAN_TOKENS, num_tokens)
        self.peaks = peaks
        self.log_null = math.log(null)
        self.log_start = torch.full((num_tokens,), -math.inf)
        for start in {start for start, _ in peaks}:
            self.log_start[start] = math.log(self.start(start))

    def start(self, start: int) -> float:
        return sum(p for span, p in self.peaks.items() if span[0] == start)

    def log_end(self, starts: list[int]) -> Tensor:
        log_end_SW = torch.full((len(starts), self.width), -math.inf)
        for (start, end), probability in self.peaks.items():
            if start in starts and end - start <= self.width:
                share = probability / self.start(start)
                log_end_SW[starts.index(start), end - start - 1] = math.log(share)
        return log_end_SW


def by_character(context: str) -> ContextState:
    num_tokens = len(context)
    encoded = EncodedContext(
        ids=(0,) * num_tokens,
        first=0,
        starts=tuple(range(num_tokens)),
        ends=tuple(range(1, num_tokens + 1)),
    )
    heads = Heads(8, 8).requires_grad_(False)
    keys = SpanKeys(torch.zeros(num_tokens, 8), heads.extract, heads.anchor)
    return ContextState(encoded, State(), keys)


def field_of(leaf: dict[str, Any], *, required: bool = False) -> FieldPlan:
    schema = {"type": "object", "properties": {"x": leaf}, "required": ["x"] if required else []}
    (field,) = compile_schema(schema).fields
    return field


def outcome(
    leaf: dict[str, Any],
    context: str,
    words: dict[str, float] | dict[Span, float],
    *,
    null: float = 0.1,
    required: bool = False,
    **options: Any,
) -> Outcome:
    """Decode one field whose model believes in *words*, each where it stands first."""
    peaks: dict[Span, float] = {}
    for place, probability in words.items():
        if isinstance(place, str):
            start = context.index(place)
            place = (start, start + len(place))
        peaks[place] = probability
    scores: Any = Peaks(len(context), peaks, null)
    field = field_of(leaf, required=required)
    return decode(field, scores, context, by_character(context), parse_options(options))


STRING: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
DATE: dict[str, Any] = {"type": "string", "format": "date"}
MOMENT: dict[str, Any] = {"type": "string", "format": "date-time"}
EMAIL: dict[str, Any] = {"type": "string", "format": "email"}


def test_a_decision_is_its_probabilities() -> None:
    found = decode(
        field_of({"type": "boolean"}), torch.tensor([0.75, 0.25]), "", by_character(""), Options()
    )
    assert found == Decided((0.75, 0.25))


def test_the_likeliest_words_are_taken_with_their_probability() -> None:
    found = outcome(STRING, "Ann met Bob", {"Ann": 0.2, "Bob": 0.6})
    assert isinstance(found, Extracted)
    assert (found.value, found.span) == ("Bob", (8, 11))
    assert found.confidence == pytest.approx(0.6)


def test_words_are_trimmed_of_what_their_tokens_carried_in() -> None:
    found = outcome(STRING, "by Ann, ok", {" Ann,": 0.8})
    assert isinstance(found, Extracted)
    assert (found.value, found.span) == ("Ann", (3, 6))


def test_words_that_trimming_leaves_nothing_of_are_passed_over() -> None:
    found = outcome(STRING, "Ann - Bob", {" - ": 0.6, "Bob": 0.3})
    assert isinstance(found, Extracted)
    assert found.value == "Bob"


def test_only_what_the_grammar_finds_can_be_a_number() -> None:
    found = outcome(NUMBER, "AB-12 costs 1,250.50 euro", {"12": 0.7, "1,250.50": 0.2})
    assert isinstance(found, Extracted)
    assert (found.value, found.span) == (1250.5, (12, 20))


@pytest.mark.parametrize("context", ["", "   \n", "no digits here"])
def test_without_candidates_nothing_is_found(context: str) -> None:
    assert outcome(NUMBER, context, {}, null=0.9) == Missing("not_found", pytest.approx(0.9))


def test_a_context_without_tokens_holds_no_words() -> None:
    assert outcome(STRING, "", {}, null=1.0) == Missing("not_found", 1.0)


@pytest.mark.parametrize(
    ("leaf", "required", "is_found"),
    [
        (STRING, False, False),
        ({"type": ["string", "null"]}, True, False),
        ({"type": ["string", "null"]}, False, False),
        (STRING, True, True),
    ],
)
def test_only_a_field_that_may_not_be_null_ignores_a_likelier_null(
    leaf: dict[str, Any], required: bool, is_found: bool
) -> None:
    found = outcome(leaf, "Ann met Bob", {"Ann": 0.3}, null=0.6, required=required)
    assert isinstance(found, Extracted) == is_found
    assert is_found or found == Missing("not_found", pytest.approx(0.6))


@pytest.mark.parametrize(
    ("margin", "is_found"), [(None, True), (0, True), (0.6, True), (0.8, False), (-9, True)]
)
def test_null_margin_says_how_much_likelier_than_null_a_span_must_be(
    margin: float | None, is_found: bool
) -> None:
    # log 0.6 - log 0.3 = 0.69
    found = outcome(STRING, "Ann met Bob", {"Ann": 0.6}, null=0.3, null_margin=margin)
    assert isinstance(found, Extracted) == is_found


def test_null_margin_leaves_a_required_field_alone() -> None:
    found = outcome(STRING, "Ann", {"Ann": 0.6}, null=0.3, required=True, null_margin=100)
    assert isinstance(found, Extracted)


def test_a_draw_with_null_goes_to_the_words() -> None:
    assert isinstance(outcome(STRING, "Ann", {"Ann": 1}, null=1), Extracted)


@pytest.mark.parametrize(
    ("leaf", "context"),
    [(STRING, "ab ab ab ab"), (NUMBER, "7 or 7 or 7"), (EMAIL, "a@b.co, a@b.co")],
)
def test_a_draw_goes_to_the_first_in_the_document(leaf: dict[str, Any], context: str) -> None:
    word = context.replace(",", " ").split()[0]
    starts = [i for i in range(len(context)) if context.startswith(word, i)]
    peaks = {(i, i + len(word)): 0.2 for i in reversed(starts)}
    found = outcome(leaf, context, peaks, null=0.1)
    assert isinstance(found, Extracted)
    assert found.span == (0, len(word))


def test_of_a_hundred_equal_words_the_first_is_taken() -> None:
    context = "ab " * 100
    peaks = {(3 * i, 3 * i + 2): 0.009 for i in range(100)}
    found = outcome(STRING, context, peaks, null=0.001)
    assert isinstance(found, Extracted)
    assert found.span == (0, 2)


@pytest.mark.parametrize(
    ("leaf", "context", "words", "reason", "detail"),
    [
        (DATE, "on 03/05/2026.", "03/05/2026", "unparsable", "ambiguous_date"),
        (MOMENT, "on 3 May 2026.", "3 May 2026", "unparsable", "no_time"),
        ({"type": "integer"}, "it is 2.5 m", "2.5", "unparsable", "not_an_integer"),
        (NUMBER | {"maximum": 5}, "it is 12 m", "12", "maximum", None),
        (STRING | {"minLength": 9}, "it is red", "red", "minLength", None),
        (STRING | {"pattern": "^[0-9]+$"}, "it is red", "red", "pattern", None),
    ],
)
def test_the_reason_that_refused_the_likeliest_place_is_told(
    leaf: dict[str, Any], context: str, words: str, reason: str, detail: str | None
) -> None:
    found = outcome(leaf, context, {words: 0.7}, null=0.2)
    assert found == Missing(reason, pytest.approx(0.7), detail)
    unlikely = outcome(leaf, context, {words: 0.2}, null=0.7)
    assert unlikely == Missing("not_found", pytest.approx(0.7))


def test_a_valid_place_comes_before_a_likelier_refused_one() -> None:
    found = outcome(DATE, "03/05/2026 or 4 May 2026", {"03/05/2026": 0.6, "4 May 2026": 0.3})
    assert isinstance(found, Extracted)
    assert found.value == "2026-05-04"


def test_a_refused_place_tells_its_reason_where_the_valid_one_is_less_likely_than_null() -> None:
    words = {"03/05/2026": 0.6, "4 May 2026": 0.1}
    found = outcome(DATE, "03/05/2026 or 4 May 2026", words, null=0.3)
    assert found == Missing("unparsable", pytest.approx(0.6), "ambiguous_date")


def test_a_required_field_without_a_valid_place_is_missing_with_the_reason() -> None:
    assert outcome(DATE, "no date", {}, null=0.9, required=True) == Missing(
        "not_found", pytest.approx(0.9)
    )
    found = outcome(DATE, "on 03/05/2026", {"03/05/2026": 0.1}, null=0.9, required=True)
    assert found == Missing("unparsable", pytest.approx(0.1), "ambiguous_date")


@pytest.mark.parametrize(("order", "day"), [("MDY", "2026-03-05"), ("DMY", "2026-05-03")])
def test_date_order_reads_a_date_of_two_readings(order: str, day: str) -> None:
    found = outcome(DATE, "on 03/05/2026", {"03/05/2026": 0.7}, date_order=order)
    assert isinstance(found, Extracted)
    assert found.value == day


def test_default_offset_is_added_to_a_time_without_one_and_told() -> None:
    context = "at 2026-05-03 17:30."
    words = {"2026-05-03 17:30": 0.7}
    found = outcome(MOMENT, context, words, default_offset="+02:00")
    assert isinstance(found, Extracted)
    assert (found.value, found.assumed_offset) == ("2026-05-03T17:30:00+02:00", True)


def test_default_offset_leaves_a_written_offset_alone() -> None:
    context = "at 2026-05-03T17:30:00+05:30."
    words = {"2026-05-03T17:30:00+05:30": 0.7}
    found = outcome(MOMENT, context, words, default_offset="+02:00")
    assert isinstance(found, Extracted)
    assert (found.value, found.assumed_offset) == ("2026-05-03T17:30:00+05:30", False)


@pytest.mark.parametrize(("separator", "value"), [(".", 1234), (",", 1.234)])
def test_decimal_separator_reads_a_number_of_two_readings(separator: str, value: float) -> None:
    found = outcome(NUMBER, "it is 1,234 m", {"1,234": 0.7}, decimal_separator=separator)
    assert isinstance(found, Extracted)
    assert found.value == value


def test_an_admission_number_is_not_glued_to_the_date_before_it() -> None:
    context = "admitted on 11/12/1999 under admission number 12345"
    peaks = {(i, j): 0.001 for i in range(12, 22) for j in range(i + 1, 23)}
    found = outcome({"type": "integer"}, context, peaks | {(46, 51): 0.001}, null=1e-9)
    assert isinstance(found, Extracted)
    assert found.value == 12345


@pytest.mark.parametrize("required", [True, False])
def test_a_number_longer_than_a_span_is_exact_or_unparsable(required: bool) -> None:
    # all the weight is on the longest span, which is a piece of the number
    piece = {(4, 4 + MAX_SPAN_TOKENS): 0.9}
    found = outcome(NUMBER, "n = " + "9" * 8000, piece, null=0.1, required=required)
    assert isinstance(found, Missing)
    exact = outcome(NUMBER, "n = " + "7" * 200, piece, null=0.1, required=True)
    assert isinstance(exact, Extracted)
    assert (exact.value, exact.confidence) == (int("7" * 200), 0)


@pytest.mark.parametrize("leaf", [NUMBER, {"type": "integer"}, STRING, DATE, EMAIL])
def test_decoding_takes_time_linear_in_the_document(leaf: dict[str, Any]) -> None:
    field = field_of(leaf)
    torch.manual_seed(0)
    heads = Heads(64, 64).requires_grad_(False)

    def seconds(num_numbers: int) -> float:
        context = "".join(f"no {i} is " for i in range(1000, 1000 + num_numbers))
        state = by_character(context)
        keys = SpanKeys(torch.randn(len(context), 64), heads.extract, heads.anchor)
        scores = SpanScores(torch.randn(64), keys, 1.0)
        began = time.process_time()
        decode(field, scores, context, state, Options())
        return time.process_time() - began

    seconds(10)
    assert seconds(3000) < 30 * seconds(300) + 0.1
