from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from deg_train.generate.library import default_library
from deg_train.generate.negation import affirmed, clause_of, criteria, negated
from deg_train.generate.unseen import unseen_library


@pytest.mark.parametrize(
    ("question", "denied"),
    [
        ("Was the bike returned late?", "the bike was not returned late"),
        ("Must the other party sign?", "the other party need not sign"),
        ("Can one still enrol?", "one cannot still enrol"),
        ("Is the matter still going on?", "the matter is no longer going on"),
        ("Did the donor eat something?", "the donor did not eat anything"),
    ],
)
def test_the_opposite_of_a_question(question: str, denied: str) -> None:
    clause = clause_of(question)
    assert clause is not None
    assert clause.denied == denied


@pytest.mark.parametrize("question", ["Legal steps ahead?", "Was anybody hurt?", "True if late."])
def test_what_is_no_clear_question_is_left_alone(question: str) -> None:
    assert clause_of(question) is None


def test_a_condition_is_turned_round() -> None:
    ways = {negated("True if it is late.", Random(seed)) for seed in range(200)}
    assert "False if it is late." in ways
    assert "True unless it is late." in ways
    assert negated("lateness", Random(0)) is None


@pytest.mark.parametrize("question", ["True if it is late.", "Is it late?"])
def test_other_words_keep_the_answer_and_a_negation_turns_it(
    question: str, is_turned_round: Callable[[str], bool]
) -> None:
    said = {affirmed(question, Random(seed)) for seed in range(300)}
    denied = {negated(question, Random(seed)) for seed in range(300)}
    assert len(said) > 10
    assert len(denied) > 10
    assert not any(is_turned_round(each) for each in said if each is not None)
    by_statement = [each for each in denied if each is not None and question not in each]
    assert all(map(is_turned_round, by_statement))


def test_wordings_of_the_evaluation_are_never_trained() -> None:
    for question in ("True if it is late.", "Is it late?", "Legal steps ahead?"):
        ways = (negated, affirmed)
        seen = {way(question, Random(seed)) for way in ways for seed in range(300)} - {None}
        unseen = {negated(question, Random(seed), held_out=True) for seed in range(80)}
        assert not seen & unseen


def test_criteria_say_what_yes_and_no_mean() -> None:
    plain, swapped = (criteria("Is it late?", Random(0), swapped=each) for each in (False, True))
    assert plain == "Is it late?\nYes means: it is late\nNo means: it is not late"
    assert swapped is not None
    assert swapped.endswith("\nYes means: it is not late\nNo means: it is late")


def test_most_questions_of_the_library_can_be_turned_round() -> None:
    for library in (default_library(), unseen_library()):
        abouts = [
            about
            for domain in library.domains.values()
            for spec in domain.fields.values()
            if spec.kind == "yes-no"
            for about in spec.abouts
        ]
        assert sum(negated(about, Random(0)) is not None for about in abouts) > 0.85 * len(abouts)
