"""Statements: short texts of plain facts, and yes-no questions that say, deny or turn them round.

What a question asks can be looked up here word by word, so that nothing is left to learn but how it
is asked: in the other documents negation comes on top of what is hard to judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from deg_train.generate.names import styled_name
from deg_train.generate.negation import (
    Clause,
    affirmation,
    criteria,
    denial,
    turned_round,
)
from deg_train.records import Record

__all__ = ["StatementSource"]

_MOST_FACTS, _LEAST_ASKED, _MOST_ASKED = 5, 4, 9

_THINGS = (
    *"gate lamp shop kettle bridge window invoice letter road pool garden ticket oven".split(),
    *"parcel lift phone printer battery train table room contract sample report screen".split(),
    *"pump valve cable file account form fridge roof boat tent piano clock carpet vase".split(),
    *"bottle cupboard pavement engine brake mirror ladder curtain passage corridor cellar".split(),
)
_STATES = (
    ("open", "closed"),
    ("on", "off"),
    ("full", "empty"),
    ("warm", "cold"),
    ("wet", "dry"),
    ("clean", "dirty"),
    ("locked", "unlocked"),
    ("broken", "intact"),
    ("new", "old"),
    ("free", "occupied"),
    ("heavy", "light"),
    ("loud", "quiet"),
    ("complete", "incomplete"),
    ("visible", "hidden"),
    ("safe", "dangerous"),
    ("cheap", "expensive"),
    ("ready", "unready"),
    ("long", "short"),
    ("wide", "narrow"),
    ("present", "missing"),
    ("blocked", "clear"),
    ("up to date", "out of date"),
    ("in use", "unused"),
    ("accepted", "rejected"),
    ("in order", "faulty"),
)
_PEOPLE = (
    *"driver guest teacher nurse neighbour customer buyer clerk manager visitor student".split(),
    *"pilot witness tenant lawyer engineer gardener captain cashier trainer baker author".split(),
    *"cook sister colleague chairman plumber editor referee patient farmer singer".split(),
)
# what somebody does, and how it is told that it was done
_DEEDS = (
    ("sign the form", "signed the form"),
    ("pay the bill", "paid the bill"),
    ("answer the letter", "answered the letter"),
    ("bring a bag", "brought a bag"),
    ("arrive on time", "arrived on time"),
    ("call the office", "called the office"),
    ("lock the door", "locked the door"),
    ("ask for help", "asked for help"),
    ("accept the offer", "accepted the offer"),
    ("leave early", "left early"),
    ("wear a hat", "wore a hat"),
    ("return the key", "returned the key"),
    ("read the manual", "read the manual"),
    ("take the bus", "took the bus"),
    ("mention the price", "mentioned the price"),
    ("finish the work", "finished the work"),
    ("order lunch", "ordered lunch"),
    ("lose the ticket", "lost the ticket"),
    ("send a photo", "sent a photo"),
    ("attend the meeting", "attended the meeting"),
    ("drive the van", "drove the van"),
    ("book a room", "booked a room"),
    ("complain about the noise", "complained about the noise"),
    ("know the rules", "knew the rules"),
    ("thank the staff", "thanked the staff"),
    ("water the plants", "watered the plants"),
)
_JOINTS = (" ", "\n", "\n- ", " ", "\n* ")
_NAMES = ("answer", "check", "holds", "is_so", "result", "question", "flag", "q", "decision")


@dataclass(frozen=True, slots=True)
class _Fact:
    """A sentence of a text.

    Attributes:
        told: The sentence.
        clauses: What may be asked about it, and whether it holds.
    """

    told: str
    clauses: tuple[tuple[Clause, bool], ...]


class StatementSource:
    """An endless source of records about short texts of plain facts."""

    def sample(self, rng: Random) -> Record:
        """Draw a record."""
        count = rng.randint(1, _MOST_FACTS)
        things = rng.sample(_THINGS, count)
        people = rng.sample(_PEOPLE, count)
        facts = [
            _state(thing, rng) if rng.random() < 0.6 else _deed(person, rng)
            for thing, person in zip(things, people, strict=True)
        ]
        joint = rng.choice(_JOINTS)
        context = ("- " if joint == "\n- " else "") + joint.join(fact.told for fact in facts)
        properties: dict[str, Any] = {}
        value: dict[str, bool] = {}
        for number in range(rng.randint(_LEAST_ASKED, _MOST_ASKED)):
            clause, holds = rng.choice(rng.choice(facts).clauses)
            question, answer = _asked(clause, holds, rng)
            name = styled_name(f"{rng.choice(_NAMES)}_{number + 1}", rng)
            properties[name] = {"type": "boolean", "description": question}
            value[name] = answer
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        return Record(context, schema, value, {}, "generated")


def _state(thing: str, rng: Random) -> _Fact:
    own, other = rng.sample(rng.choice(_STATES), 2)
    subject, verb = f"the {thing}", rng.choice(("is", "is", "was"))
    told = f"The {thing} {verb} {own}."
    roll = rng.random()
    if roll < 0.25:
        told = f"The {thing} {verb} not {other}."
    elif roll < 0.45:
        told = f"{thing.capitalize()}: {own}."
    clauses = (Clause(subject, verb, own), True), (Clause(subject, verb, other), False)
    return _Fact(told, clauses)


def _deed(person: str, rng: Random) -> _Fact:
    deed, done = rng.choice(_DEEDS)
    is_done = rng.random() < 0.5
    told = f"The {person} {done}." if is_done else f"The {person} did not {deed}."
    return _Fact(told, ((Clause(f"the {person}", "did", deed), is_done),))


def _asked(clause: Clause, holds: bool, rng: Random) -> tuple[str, bool]:
    plain = f"{clause.auxiliary.capitalize()} {clause.subject} {clause.rest}?"
    roll = rng.random()
    if roll < 0.20:
        return plain, holds
    if roll < 0.45:
        return affirmation(clause, rng), holds
    if roll < 0.80:
        return denial(clause, rng), not holds
    if roll < 0.86:
        return turned_round(plain, rng), not holds
    swapped = roll < 0.95
    return criteria(plain, rng, swapped=swapped) or plain, holds != swapped
