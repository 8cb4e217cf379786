from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given, settings, strategies as st

from deg_train.generate.turning import turned, with_criteria
from deg_train.records import Record

LATE = {"type": "boolean", "description": "Is the bike late?"}


def record_of(value: dict[str, Any], **leaves: Any) -> Record:
    schema = {"type": "object", "properties": leaves, "required": list(leaves)}
    return Record("The bike came on time.", schema, value, {}, "made")


@given(st.integers(0, 10**6), st.booleans())
@settings(deadline=None)
def test_a_turned_question_has_the_other_answer(seed: int, answer: bool) -> None:
    made = turned(record_of({"late": answer}, late=LATE), Random(seed))
    for name, leaf in made.schema["properties"].items():
        # one that is kept beside has its name, and may be in other words
        assert made.value[name] == (answer if name == "late" else not answer)
        assert leaf["type"] == "boolean"
    assert set(made.schema["required"]) == set(made.schema["properties"]) == set(made.value)
    assert 1 <= len(made.value) <= 2


def test_what_is_not_known_stays_unknown() -> None:
    leaf = {**LATE, "type": ["boolean", "null"]}
    assert set(turned(record_of({"late": None}, late=leaf), Random(2)).value.values()) == {None}


def test_questions_in_groups_are_turned_in_their_group() -> None:
    group = {"type": "object", "properties": {"late": LATE}, "required": ["late"]}
    for seed in range(20):
        made = turned(record_of({"trip": {"late": False}}, trip=group), Random(seed))
        assert True in made.value["trip"].values()


def test_probabilities_change_sides() -> None:
    record = record_of({"late": True}, late=LATE)
    record = Record(record.context, record.schema, record.value, {}, "made", {"/late": (0.8, 0.2)})
    made = turned(record, Random(0))
    (name,) = made.schema["properties"].keys() - {"late"}
    assert made.probabilities[f"/{name}"] == (0.2, 0.8)


def test_criteria_leave_the_answer() -> None:
    record = record_of({"late": True}, late=LATE)
    made = with_criteria(record, Random(0))
    assert made.value == record.value
    assert "No means: the bike is not late" in made.schema["properties"]["late"]["description"]
