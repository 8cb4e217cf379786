from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

from deg_train.generate import StatementSource
from deg_train.generate.statements import _DEEDS, _STATES
from deg_train.records import check

OTHER = dict(_STATES) | {two: one for one, two in _STATES}
TURNING = re.compile(
    r"The opposite of this: |Answer the other way round: |Is no the right answer\? "
    r"|True if the answer to this is no: |Say whether the answer is no\. | \(yes means no.*"
)


def holds(context: str, question: str) -> bool:
    """Say whether what the question is about holds, read from the words of both."""
    stated = re.findall(r"(?i:the) ([a-z]+) (?:is|was|did)", question)
    (thing,) = set(stated or re.findall(r"(?:Is|Was|Did) the ([a-z]+)", question))
    (told,) = [
        line
        for line in re.split(r"(?<=\.)\s+(?:[-*] )?|\n", context)
        if re.match(rf"(?i)(?:- )?(?:the )?{thing}\b", line)
    ]
    for deed, _ in _DEEDS:
        if f" {deed}" in question:
            return " did not " not in told
    # the longest first: "in use" is no part of "unused", but "on" is one of many words
    asked = max((state for state in OTHER if re.search(rf"\b{state}\b", question)), key=len)
    said = max((state for state in OTHER if re.search(rf"\b{state}\b", told)), key=len)
    return (asked == said) != (f" not {said}" in told)


@given(seed=st.integers(0, 10**6))
def test_each_question_has_the_answer_that_its_words_ask_for(
    seed: int, is_turned_round: Callable[[str], bool]
) -> None:
    record = StatementSource().sample(Random(seed))
    check(record)
    Draft202012Validator(record.schema).validate(record.value)
    for name, leaf in record.schema["properties"].items():
        question = leaf["description"]
        if "Yes means" in question:
            (question,) = re.findall(r"Yes means: (.*)", question)
        bare = TURNING.sub("", question)
        is_turned = is_turned_round(bare) != (bare != question)
        assert record.value[name] is (holds(record.context, bare) != is_turned)


def test_yes_and_no_are_about_as_frequent() -> None:
    source, rng = StatementSource(), Random(0)
    answers = [value for _ in range(300) for value in source.sample(rng).value.values()]
    assert 0.45 < sum(answers) / len(answers) < 0.55
