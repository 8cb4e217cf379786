from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from deg_train.answered_fields import Pair
from deg_train.decide_metrics import (
    choice_accuracy,
    decide_calibration,
    noul_accuracy,
    noul_f1,
    option_flips,
    score_error,
)
from deg_train.extract_metrics import (
    date_exact,
    exact_spans,
    extract_calibration,
    null_agreement,
    number_exact,
    span_agreement,
    token_f1,
)
from deg_train.metrics import measure_all
from deg_train.records import Record
from deg_train.reliability import expected_calibration_error

CONTEXT = "Ann Lee paid 1,200 to Bob and 1,200 to Ann Lee"


def pair(
    mode: str,
    gold: Any,
    answer: Any,
    *,
    spans: tuple[tuple[int, int], ...] = (),
    name: str = "x",
    **meta: Any,
) -> Pair:
    pointer = "/" + name.replace("/", "~1")
    schema = {"type": "object", "properties": {name: {"type": "string"}}}
    record = Record(CONTEXT, schema, {name: gold}, {pointer: spans} if spans else {}, "made")
    value = {} if answer is None and mode.startswith("extract") else {name: answer}
    return record, {"value": value, "meta": {pointer: {"mode": mode, **meta}}}


def span(gold: str | None, answer: str | None, **meta: Any) -> Pair:
    start = CONTEXT.index(gold) if gold else 0
    spans = ((start, start + len(gold)),) if gold else ()
    return pair("extract.span", gold, answer, spans=spans, **meta)


def test_a_span_is_exact_by_its_text_or_its_place() -> None:
    pairs = [span("Ann Lee", "Ann Lee"), span("Ann Lee", "Ann"), span("Bob", None)]
    assert exact_spans(pairs).value == pytest.approx(1 / 3)
    assert exact_spans(pairs).count == 3
    placed = pair("extract.number", 1200, 1200.5, spans=((13, 18),), span=[13, 18])
    assert exact_spans([placed]).value == 1


def test_absent_values_are_no_part_of_exact_spans() -> None:
    assert exact_spans([span(None, "Bob")]).count == 0


def test_token_f1_counts_shared_words() -> None:
    measure = token_f1([span("Ann Lee", "ann"), span("Bob", "Bob"), span("Bob", None)])
    assert measure.value == pytest.approx((2 / 3 + 1 + 0) / 3)


def test_span_agreement_counts_wrong_and_missed_slots() -> None:
    pairs = [span("Ann Lee", "Ann Lee"), span("Bob", "Ann"), span("Bob", None), span(None, "Bob")]
    agreement = span_agreement(pairs)
    assert agreement.precision == pytest.approx(1 / 3)
    assert agreement.recall == pytest.approx(1 / 3)
    assert agreement.count == 4


def test_null_agreement_counts_absent_fields() -> None:
    agreement = null_agreement([span(None, None), span("Bob", None), span(None, "Bob")])
    assert (agreement.precision, agreement.recall, agreement.f1) == (0.5, 0.5, 0.5)


def test_numbers_and_dates_are_exact_by_value() -> None:
    assert number_exact([pair("extract.number", 1200, 1200.0)]).value == 1
    assert number_exact([pair("extract.number", 1, True)]).value == 0
    assert date_exact([pair("extract.date", "2024-05-01", "2024-05-02")]).value == 0


def test_null_is_an_option_like_any_other() -> None:
    pairs = [pair("decide.choice", None, None), pair("decide.choice", "a", None)]
    assert choice_accuracy(pairs).value == 0.5


def test_true_is_not_the_option_one() -> None:
    assert choice_accuracy([pair("decide.choice", 1, True)]).value == 0


def test_a_decision_without_gold_is_not_measured() -> None:
    record, response = pair("decide.choice", "a", "a")
    unlabelled = Record(record.context, record.schema, {}, {}, "made")
    assert choice_accuracy([(unlabelled, response)]).count == 0


def test_noul_is_measured_over_all_fields_together() -> None:
    answers = [(True, True), (True, False), (False, True), (False, False), (False, False)]
    pairs = [pair("decide.noul", gold, answer) for gold, answer in answers]
    assert noul_accuracy(pairs).value == pytest.approx(0.6)
    assert noul_f1(pairs).f1 == pytest.approx(0.5)


def test_score_error_is_the_mean_distance() -> None:
    pairs = [pair("decide.score", 3, 1), pair("decide.score", 2, 2), pair("decide.score", None, 2)]
    measure = score_error(pairs)
    assert (measure.value, measure.count) == (1, 2)


def test_scales_are_told_apart_by_the_words_for_their_levels() -> None:
    record, _ = pair("decide.score", 2, 0)
    leaf = {"type": "integer", "minimum": 0, "maximum": 3}

    def asked(leaf: dict[str, Any], answer: int) -> Pair:
        # a reference, as models that were printed have
        properties = {"x": {"$ref": "#/$defs/scale"}}
        schema = {"type": "object", "properties": properties, "$defs": {"scale": leaf}}
        return replace(record, schema=schema), pair("decide.score", 2, answer)[1]

    pairs = [asked(leaf | {"x-levels": {"0": "calm"}}, 0), asked(leaf, 1)]
    assert score_error(pairs, labelled=True).value == 2
    assert score_error(pairs, labelled=False).value == 1


def test_an_answer_flips_where_the_order_of_options_changes_it() -> None:
    def asked(options: list[str], answer: str) -> Pair:
        record, response = pair("decide.choice", "a", answer)
        schema = {"type": "object", "properties": {"x": {"enum": options}}}
        return replace(record, schema=schema), response

    pairs = [asked(["a", "b"], "a"), asked(["b", "a"], "b")]
    pairs += [asked(["a", "c"], "a"), asked(["c", "a"], "a"), asked(["a", "d"], "d")]
    assert option_flips(pairs).value == 0.5
    assert option_flips(pairs).count == 2


def test_noul_calibration_takes_the_chosen_side() -> None:
    pairs = [pair("decide.noul", False, False, probability=0.1)]
    calibration = decide_calibration(pairs)
    assert calibration.error == pytest.approx(0.1)
    assert calibration.confidence == pytest.approx(0.9)


def test_decide_calibration_can_take_one_mode() -> None:
    pairs = [
        pair("decide.noul", True, True, probability=1.0),
        pair("decide.choice", "a", "b", probability=1.0),
    ]
    assert decide_calibration(pairs).error == 0.5
    assert decide_calibration(pairs, "decide.noul").error == 0


def test_a_right_null_is_a_right_answer_to_calibrate() -> None:
    pairs = [span(None, None, confidence=1.0), span("Bob", "Bob", confidence=1.0)]
    assert extract_calibration(pairs).error == 0
    assert extract_calibration([span("Bob", None, confidence=1.0)]).error == 1


def test_names_with_a_slash_are_found() -> None:
    assert choice_accuracy([pair("decide.choice", "a", "a", name="a/b")]).value == 1


def test_bins_are_of_equal_width() -> None:
    # within a bin over- and underconfidence even out, across bins they add up
    same_bin = expected_calibration_error([(0.5, True), (0.5, False)])
    other_bins = expected_calibration_error([(0.05, True), (0.95, False)])
    assert same_bin.error == 0
    assert other_bins.error == pytest.approx(0.95)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1))
def test_calibration_error_is_at_least_the_overall_gap(judged: list[tuple[float, bool]]) -> None:
    calibration = expected_calibration_error(judged)
    gap = abs(calibration.confidence - calibration.accuracy)
    assert gap - 1e-9 <= calibration.error <= 1 + 1e-9
    assert calibration.count == len(judged)


def test_nothing_to_measure_is_not_a_number() -> None:
    assert math.isnan(exact_spans([]).value)
    assert math.isnan(expected_calibration_error([]).error)
    assert measure_all([]) == {}


def test_all_measures_are_json_with_their_counts() -> None:
    pairs = [
        span("Bob", None, confidence=0.4),
        pair("decide.noul", False, False, probability=0.2),
    ]
    measured = measure_all(pairs)
    assert json.loads(json.dumps(measured, allow_nan=False)) == measured
    assert all(each["count"] > 0 for each in measured.values())
    assert measured["null_agreement"]["precision"] == 0
