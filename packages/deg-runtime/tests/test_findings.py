from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from deg_runtime.findings import Finding, findings, visible
from deg_schema import Decided, Extracted, Missing, Outcome, assemble, compile_schema


def _finding(field: dict[str, Any], outcome: Outcome, **more: Any) -> Finding:
    schema = {"type": "object", "properties": {"field": field}, **more}
    plan = compile_schema(schema)
    response = assemble(plan, schema, {"/field": outcome}, model="m", prompt_tokens=1)
    return findings(response, schema)[0]


def test_a_choice_has_a_bar_an_option() -> None:
    field = {"oneOf": [{"const": "late", "description": "not in time"}, {"const": 3}]}
    finding = _finding(field, Decided((0.75, 0.25)))
    assert [(bar.label, bar.probability) for bar in finding.bars] == [("late", 0.75), ("3", 0.25)]
    assert finding.answer_note == "not in time"
    assert finding.sureness == 0.75


def test_a_score_shows_what_the_level_means() -> None:
    field = {"type": "integer", "minimum": 0, "maximum": 2, "x-levels": {"2": "furious"}}
    finding = _finding(field, Decided((0.1, 0.2, 0.7)))
    assert (finding.shown_value, finding.answer_note) == ("2", "furious")


def test_null_is_the_last_bar_of_a_score() -> None:
    field = {"type": ["integer", "null"], "minimum": 0, "maximum": 1, "x-levels": {}}
    finding = _finding(field, Decided((0.1, 0.2, 0.7)))
    assert [bar.label for bar in finding.bars] == ["0", "1", "null"]
    assert finding.bars[-1].is_answer


@pytest.mark.parametrize(("yes", "value"), [(0.9, True), (0.1, False)])
def test_how_sure_a_yes_or_no_is_follows_the_answer(yes: float, value: bool) -> None:
    finding = _finding({"type": "boolean"}, Decided((yes, 1 - yes)))
    assert finding.value is value
    assert finding.sureness == pytest.approx(0.9)


def test_an_extraction_keeps_its_place() -> None:
    finding = _finding({"type": "string"}, Extracted("A-1", (4, 7), 0.6))
    assert (finding.span, finding.sureness, finding.reason) == ((4, 7), 0.6, None)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Missing("not_found", 0.9), "nothing in the document"),
        (Missing("unparsable", 0.9, "ambiguous_date"), "ambiguous date"),
        (Missing("maximum", 0.9), "breaks 'maximum'"),
    ],
)
def test_a_missing_value_says_why(outcome: Missing, words: str) -> None:
    finding = _finding({"type": "string"}, outcome)
    assert words in (finding.reason or "")
    assert finding.shown_value == "left out"


def test_a_value_that_is_null_is_not_left_out() -> None:
    finding = _finding({"type": ["string", "null"]}, Missing("not_found", 1.0), required=["field"])
    assert finding.shown_value == "null"


def test_a_nested_field_is_named_by_its_path() -> None:
    nested = {"type": "object", "properties": {"city": {"type": "string"}}}
    schema = {"type": "object", "properties": {"seller": nested}}
    outcomes = {"/seller/city": Missing("not_found", 1.0)}
    response = assemble(compile_schema(schema), schema, outcomes, model="m", prompt_tokens=1)
    assert [finding.name for finding in findings(response, schema)] == ["seller › city"]


@given(st.text(st.characters(exclude_categories=[])))
def test_a_shown_text_commands_nothing(text: str) -> None:
    shown = visible(text)
    assert len(shown) == len(text)
    assert all(char.isprintable() or not char.isascii() or char in "\t\n\r" for char in shown)
