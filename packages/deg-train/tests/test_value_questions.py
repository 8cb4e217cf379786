from __future__ import annotations

from collections.abc import Callable
from random import Random

from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

from deg_train.generate.value_questions import with_value_questions
from deg_train.records import Record, check

CONTEXT = "order 7Q of Ann Lee, sent from Rome"
SPANS = {"/order number": ((6, 8),), "/buyer": ((12, 19),), "/town": ((31, 35),)}
TEXT = {"type": "string"}
RECORD = Record(
    CONTEXT,
    {
        "type": "object",
        "properties": {
            "order number": TEXT,
            "buyer": TEXT,
            "town": TEXT,
            "phone": {"type": ["string", "null"]},
            "colour": {"enum": ["red", "blue"]},
            "17": TEXT,
        },
    },
    {"order number": "7Q", "buyer": "Ann Lee", "town": "Rome", "phone": None, "17": None},
    SPANS,
    "made",
)
SAID = {"order number": "7Q", "buyer": "Ann Lee", "town": "Rome"}


def statement(question: str) -> bool:
    """Say whether what the question is about holds, be it asked for or denied."""
    (words,) = [name for name in (*SAID, "phone") if f"the {name} " in question.lower()]
    named = [text for text in SAID.values() if text in question]
    return SAID.get(words) == named[0] if named else words in SAID


@given(seed=st.integers(0, 10**6))
def test_each_question_has_the_answer_that_its_words_ask_for(
    seed: int, is_turned_round: Callable[[str], bool]
) -> None:
    made = with_value_questions(RECORD, Random(seed))
    check(made)
    Draft202012Validator(made.schema).validate(made.value | {"colour": "red", "17": ""})
    added = made.schema["properties"].keys() - RECORD.schema["properties"].keys()
    assert 1 <= len(added) <= 4
    for name in added:
        question = made.schema["properties"][name]["description"]
        assert made.value[name] is (statement(question) != is_turned_round(question))


def test_yes_and_no_negated_and_plain_are_about_as_frequent(
    is_turned_round: Callable[[str], bool],
) -> None:
    answers, negated = [], []
    for seed in range(400):
        made = with_value_questions(RECORD, Random(seed))
        for name in made.schema["properties"].keys() - RECORD.schema["properties"].keys():
            answers.append(made.value[name])
            question = made.schema["properties"][name]["description"]
            negated.append(is_turned_round(question))
    for flags in (answers, negated):
        assert 0.42 < sum(flags) / len(flags) < 0.58


def test_what_has_nothing_to_ask_about_stays_as_it_is() -> None:
    schema = {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}}
    record = Record("red", schema, {"colour": "red"}, {}, "made")
    assert with_value_questions(record, Random(0)) == record
