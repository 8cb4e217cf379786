"""What moves no answer, to the last bit, with the default model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from deg_runtime import load
from deg_serve import Settings

pytestmark = pytest.mark.slow

STATE = "Order 4471: I was charged twice, please refund me today."
DECIDED: dict[str, Any] = {
    "twice": {"type": "noul", "instructions": "Was the customer charged twice?"},
    "team": {
        "type": "choice",
        "instructions": "Which team?",
        "criteria": {"billing": "charges", "tech": None, "sales": None},
    },
    "urgency": {"type": "score", "instructions": "How urgent?", "criteria": ["can wait", "today"]},
    "order": {"type": "extract", "instructions": "The order.", "value_type": "integer"},
}
QUESTIONS: dict[str, Any] = {
    **DECIDED,
    "reply": {"type": "generate", "instructions": "A short reply.", "max_tokens": 12},
}


class Asked:
    """Asks about one document."""

    def __init__(self, served: Any) -> None:
        self._served = served
        self.answers = self.ask(QUESTIONS)

    def ask(self, questions: dict[str, Any]) -> dict[str, Any]:
        request = {"model": "deg-latest", "state": STATE, "questions": questions}
        response = self._served.http.post("/v1/systemone", json=request, timeout=570)
        answers: dict[str, Any] = response.json()["answers"]
        return answers


@pytest.fixture(scope="module")
def asked(serve: Any) -> Iterator[Asked]:
    with serve(load(), Settings(timeout=570)) as served:
        yield Asked(served)


def test_other_ids_and_another_order_of_questions(asked: Asked) -> None:
    renamed = {f"{name}/\U0001f642~": question for name, question in reversed(QUESTIONS.items())}
    answers = asked.ask(renamed)
    assert {name: answers[f"{name}/\U0001f642~"] for name in QUESTIONS} == asked.answers


@pytest.mark.parametrize("name", DECIDED)
def test_a_question_asked_alone(asked: Asked, name: str) -> None:
    assert asked.ask({name: QUESTIONS[name]}) == {name: asked.answers[name]}


def test_another_order_of_the_options(asked: Asked) -> None:
    criteria = dict(reversed(QUESTIONS["team"]["criteria"].items()))
    assert asked.ask({"team": {**QUESTIONS["team"], "criteria": criteria}}) == {
        "team": asked.answers["team"]
    }


def test_levels_from_the_other_end(asked: Asked) -> None:
    levels = QUESTIONS["urgency"]["criteria"][::-1]
    answer = asked.ask({"urgency": {**QUESTIONS["urgency"], "criteria": levels}})["urgency"]
    before = asked.answers["urgency"]["probabilities"]
    assert list(answer["probabilities"].values()) == list(before.values())[::-1]


def test_the_same_question_twice(asked: Asked) -> None:
    answers = asked.ask({"one": QUESTIONS["team"], "two": QUESTIONS["team"]})
    assert answers["one"] == answers["two"] == asked.answers["team"]
