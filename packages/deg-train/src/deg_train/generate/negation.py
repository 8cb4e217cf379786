"""Negation: a yes-no question turned round, so that its yes is the no of the one before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

__all__ = [
    "Clause",
    "affirmation",
    "affirmed",
    "clause_of",
    "criteria",
    "denial",
    "negated",
    "turned_round",
]


@dataclass(frozen=True, slots=True)
class Clause:
    """What a question asks, as its parts: `the bike`, `was`, `returned late`."""

    subject: str
    auxiliary: str
    rest: str

    @property
    def said(self) -> str:
        """The clause as a statement."""
        rest = re.sub(r"^any ", "", self.rest) if self.subject == "there" else self.rest
        return f"{self.subject} {self.auxiliary} {rest}"

    @property
    def denied(self) -> str:
        """The statement of the opposite."""
        # "must not" forbids: the opposite of a duty is its absence
        verb = {"must": "need not", "can": "cannot"}.get(self.auxiliary, f"{self.auxiliary} not")
        rest = self.rest.replace("something", "anything")
        return f"{self.subject} {verb} {rest}".replace(" not still ", " no longer ")


_AUXILIARY = "is are was were do does did has have can could may must will would should".split()
_PRONOUNS = "it they there this one we he she".split()
# subjects of which no single word after the article tells where they end
_LONG = (
    "the customer's identity",
    "the date or time",
    "the first partner",
    "the loan device",
    "the other party",
    "the same problem",
    "this bill",
    "a cover letter",
    "a loan device",
    "a parcel receipt",
    "a plus one",
    "a second visit",
    "a visit at the desk",
    "an extended warranty",
    "another sample",
    "applicants without a permit",
    "confidential data",
    "cover letters",
    "hold luggage",
    "partial deliveries",
    "police or authorities",
    "prior booking",
    "reverse charge",
    "school uniform",
    "step-free access",
)
_BARE = (
    "alcohol allergies animals applicants attendance booking breakfast catering children data "
    "driving entry food heating insurance officials outsiders parts photography police reception "
    "registration shipping substitution travelling visitors"
).split()
_HAS_ARTICLE = re.compile(r"(the|a|an|this|another) [a-z][a-z-]*", re.IGNORECASE)


def clause_of(question: str) -> Clause | None:
    """Read a question such as `Was the bike returned late?`, None where its parts are not clear."""
    auxiliary, _, tail = question.strip().removesuffix("?").partition(" ")
    is_question = question.rstrip().endswith("?") and "?" not in tail
    # "there are not no places" is nothing that anybody would ask
    if auxiliary.lower() not in _AUXILIARY or not is_question or " no " in question:
        return None
    for subject in (*_LONG, *_PRONOUNS, *_BARE):
        if tail.lower().startswith(subject + " "):
            return Clause(tail[: len(subject)], auxiliary.lower(), tail[len(subject) + 1 :])
    match = _HAS_ARTICLE.match(tail)
    if match is None or tail[match.end() : match.end() + 1] != " ":
        return None
    return Clause(match[0], auxiliary.lower(), tail[match.end() + 1 :])


# around a statement: the answer is yes where it holds
_AFFIRMING = (
    "Is it true that {0}?",
    "Is it so that {0}?",
    "Is it right to say that {0}?",
    "Can one say that {0}?",
    "Whether {0}",
    "{1}.",
    "True if {0}.",
    "True only when {0}",
    "Yes if {0}, no otherwise.",
    "Answer yes if {0}, and no if not.",
    "Return true if {0}, else false.",
    "Check that {0}.",
    "False unless {0}.",
    "No unless {0}.",
)
# and here where it does not
_DENYING = (
    "True unless {0}.",
    "Yes unless {0}",
    "False if {0}.",
    "False if {0}, otherwise true",
    "False only when {0}.",
    "No if {0}, yes otherwise.",
    "Answer no if {0}, and yes if not.",
    "Return false if {0}, else true.",
    "Is it untrue that {0}?",
    "Is it wrong to say that {0}?",
    "Would it be a mistake to say that {0}?",
    "Is this statement wrong: {0}?",
    "It is not so that {0}.",
    "Check that it is not the case: {0}.",
)
_TURNING_ROUND = (
    "True if the answer to this is no: {0}",
    "The opposite of this: {0}",
    "Is no the right answer? {0}",
    "Answer the other way round: {0}",
    "{0} (yes means no here, and no means yes)",
    "Say whether the answer is no. {0}",
)
_UNSEEN_AFFIRMING = ("Is it the case that {0}?", "Say yes if {0}, else no.")
_UNSEEN_DENYING = ("Is it false that {0}?",)
_UNSEEN_DENYING_CONDITIONS = ("Say no if {0}, else yes.", "This holds unless {0}.")
_UNSEEN_TURNING_ROUND = ("Would one have to say no to this? {0}",)


def negated(question: str, rng: Random, *, held_out: bool = False) -> str | None:
    """Return a question with the opposite answer, None where *question* has no known shape.

    Args:
        question: `Was it late?` or `True if it was late.`
        rng: Draws the wording.
        held_out: Whether to use the wordings that training never has.
    """
    condition = _condition_in(question)
    if condition is not None:
        ways = _UNSEEN_DENYING_CONDITIONS if held_out else _DENYING
        return _worded(rng.choice(ways), condition)
    if not question.rstrip().endswith("?"):
        return None
    clause = clause_of(question)
    if clause is None or rng.random() < 0.2:
        if not held_out:
            return turned_round(question, rng)
        return rng.choice(_UNSEEN_TURNING_ROUND).format(question)
    if held_out:
        return _opposite(clause, _UNSEEN_AFFIRMING, _UNSEEN_DENYING, rng)
    return denial(clause, rng)


def affirmed(question: str, rng: Random) -> str | None:
    """Return *question* in other words, with the same answer; None where it has no known shape.

    At times it is negated twice.
    """
    condition, clause = _condition_in(question), clause_of(question)
    if condition is not None:
        return _worded(rng.choice(_AFFIRMING), condition)
    return None if clause is None else affirmation(clause, rng)


def affirmation(clause: Clause, rng: Random) -> str:
    """Return a question whose yes is that *clause* holds, at times negated twice."""
    if rng.random() < 0.2:
        return _worded(rng.choice(_DENYING), clause.denied)
    return _worded(rng.choice(_AFFIRMING), clause.said)


def turned_round(question: str, rng: Random) -> str:
    """Return a question whose yes is that *question*, whatever its shape, has the answer no."""
    return rng.choice(_TURNING_ROUND).format(question)


def denial(clause: Clause, rng: Random) -> str:
    """Return a question whose yes is that *clause* does not hold."""
    return _opposite(clause, _AFFIRMING, _DENYING, rng)


def _opposite(
    clause: Clause, affirming: tuple[str, ...], denying: tuple[str, ...], rng: Random
) -> str:
    number = rng.randrange(len(affirming) + len(denying))
    if number < len(affirming):
        return _worded(affirming[number], clause.denied)
    return _worded(denying[number - len(affirming)], clause.said)


def _worded(way: str, statement: str) -> str:
    return way.format(statement, statement[:1].upper() + statement[1:])


def criteria(question: str, rng: Random, *, swapped: bool = False) -> str | None:
    """Return the question with lines that say what yes and no mean, turned round if *swapped*.

    None where the opposite of *question* cannot be put in words.
    """
    clause = clause_of(question)
    condition = _condition_in(question)
    if clause is not None:
        yes, no = clause.said, clause.denied
    elif condition is not None:
        yes, no = condition, f"not so: {condition}"
    else:
        return None
    heads = ("Which of the two holds?", "Decide by what yes and no mean.", "Which is the case?")
    head = rng.choice(heads) if swapped or rng.random() < 0.2 else question
    yes, no = (no, yes) if swapped else (yes, no)
    return f"{head}\nYes means: {yes}\nNo means: {no}"


def _condition_in(question: str) -> str | None:
    match = re.fullmatch(r"True (?:if|when) ([^,?]+?)\.?", question.strip())
    return match[1] if match else None
