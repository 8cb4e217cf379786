"""NLU++: queries to a bank and a hotel, each with several intents told by yes-no questions."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from deg_train.records import Record
from deg_train.sources.confusable import Confusables
from deg_train.sources.draft import Draft, Span, fixed_string
from deg_train.sources.files import as_published, read_json
from deg_train.sources.wording import Wording, load_abouts, load_wordings, wrap

__all__ = ["HELD_OUT_FOLDS", "NluPlusPlus"]

HELD_OUT_FOLDS = (18, 19)

_DOMAINS = ("banking", "hotels")
_NUM_FOLDS = 20


@dataclass(frozen=True, slots=True)
class _Query:
    text: str
    domain: str
    intents: tuple[str, ...]
    slots: dict[str, Span]


class NluPlusPlus:
    """Queries of two domains; the last two folds of each are the test split."""

    name = "nlupp"

    def __init__(self, folder: Path, split: Literal["train", "test"] = "train"):
        ontology = read_json(folder, "ontology.json")
        published = [
            (domain, read_json(folder, f"{domain}/fold{fold}.json"))
            for fold in range(_NUM_FOLDS)
            for domain in _DOMAINS
            if (fold in HELD_OUT_FOLDS) == (split == "test")
        ]
        with as_published(folder):
            self._intents = {key: each["description"] for key, each in ontology["intents"].items()}
            self._domain_intents = _by_domain(ontology["intents"])
            self._domain_slots = _by_domain(ontology["slots"])
            self._queries = [_query(each, domain) for domain, rows in published for each in rows]
        texts: defaultdict[str, list[str]] = defaultdict(list)
        for query in self._queries:
            for intent in query.intents:
                texts[intent].append(query.text)
        self._confusables = Confusables(texts)

    def sample(self, rng: random.Random) -> Record:
        """Draw a query and yes-no questions about its intents, or questions for its slots."""
        query = rng.choice(self._queries)
        document, shift = wrap(query.text, rng)
        draft = Draft(self.name, document, rng)
        if rng.random() < 0.85 or not query.slots:
            for intent in self._draw_intents(query, rng):
                wording = _yes_no(intent, self._intents[intent], rng)
                draft.decide(wording, intent in query.intents)
        if query.slots or rng.random() < 0.25:
            for slot in self._draw_slots(query, rng):
                span = query.slots.get(slot)
                spans = [] if span is None else [(span[0] + shift, span[1] + shift)]
                draft.extract(_SLOTS[slot], spans, integer=0.35 * (slot in _WHOLE_NUMBERS))
        return draft.record()

    def records(self, limit: int | None = None, seed: int = 0) -> list[Record]:
        """List queries in a seeded order, asked for every intent and slot of their domain."""
        queries = list(self._queries)
        random.Random(seed).shuffle(queries)
        return [self._fixed(query) for query in queries[:limit]]

    def _draw_intents(self, query: _Query, rng: random.Random) -> list[str]:
        holding = rng.sample(query.intents, min(len(query.intents), rng.randint(1, 3)))
        # a query holds few of the intents that a form asks about: yes must be the rare answer
        count = rng.choice((3, 5, 9, 14, 20))
        lacking = [i for i in self._domain_intents[query.domain] if i not in query.intents]
        near: list[str] = []
        for intent in holding:
            ranked = self._confusables.nearest.get(intent, ())
            near += [each for each in ranked[:6] if each in lacking and each not in near]
        drawn = rng.sample(near, min(len(near), count // 2))
        others = [each for each in lacking if each not in drawn]
        return holding + drawn + rng.sample(others, min(len(others), count - len(drawn)))

    def _draw_slots(self, query: _Query, rng: random.Random) -> list[str]:
        present = rng.sample(list(query.slots), min(len(query.slots), rng.randint(1, 4)))
        absent = [slot for slot in self._domain_slots[query.domain] if slot not in query.slots]
        return present + rng.sample(absent, min(len(absent), rng.choice((0, 1, 1, 2, 2, 3))))

    def _fixed(self, query: _Query) -> Record:
        intents = self._domain_intents[query.domain]
        properties: dict[str, Any] = {
            intent: {"type": "boolean", "description": self._intents[intent]} for intent in intents
        }
        value: dict[str, bool | str | None] = {each: each in query.intents for each in intents}
        spans: dict[str, tuple[Span, ...]] = {}
        for slot in self._domain_slots[query.domain]:
            properties[slot] = fixed_string(_SLOTS[slot].abouts[0])
            span = query.slots.get(slot)
            value[slot] = None if span is None else query.text[slice(*span)]
            if span is not None:
                spans[f"/{slot}"] = (span,)
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        return Record(query.text, schema, value, spans, self.name)


def _query(example: dict[str, Any], domain: str) -> _Query:
    text = example["text"]
    slots = {}
    for slot, found in example.get("slots", {}).items():
        start, end = found["span"]
        if text[start:end].strip() == text[start:end] != "":
            slots[slot] = (start, end)
    return _Query(text, domain, tuple(example.get("intents", ())), slots)


def _by_domain(entries: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    return {
        domain: [key for key, each in entries.items() if {"general", domain} & {*each["domain"]}]
        for domain in _DOMAINS
    }


def _yes_no(intent: str, description: str, rng: random.Random) -> Wording:
    style = rng.random()
    if style < 0.35:
        return Wording((intent,), (description,))
    name = rng.choice((intent, intent, f"is_{intent}", f"has_{intent}", f"intent_{intent}"))
    if style > 0.80:
        name = rng.choice(("answer", "flag", "holds", "match", "q1", "result", "label"))
    if style < 0.45:
        return Wording((name,), (description[0].upper() + description[1:],))
    return Wording((name,), (_question(intent, description, rng),))


def _question(intent: str, description: str, rng: random.Random) -> str:
    if intent in _INTENTS and rng.random() < 0.5:
        clause = rng.choice(_INTENTS[intent].split(" | "))
        return rng.choice(_CLAUSES).format(clause=clause)
    goal = description.removeprefix("is the intent ").rstrip("?")
    goal = goal.replace("asking to ", "to ask to ")
    matter = _ABOUT.sub("", goal)
    if matter != goal:
        return rng.choice(_ASKING).format(matter=matter, goal=goal)
    return rng.choice(_DOING).format(matter=matter.removeprefix("to "))


# "to ask something related to gym" and "asking about some limit" are about the gym and the limit
_ABOUT = re.compile(
    r"^(?:asking|to ask|to talk)(?! to\b| or\b)"
    r"(?: about)?(?: something (?:about|related to))?(?: about)?(?: some (?=room))? "
)

_CLAUSES = (
    "Is it true that {clause}?",
    "True if {clause}.",
    "True when {clause}",
    "Whether {clause}",
    "Does the text show that {clause}?",
    "{clause}: yes or no?",
    "Set if {clause}.",
)

_ASKING = (
    "Is the user asking about {matter}?",
    "Does the user ask about {matter}?",
    "Is this about {matter}?",
    "True if the user is asking about {matter}.",
    "The message concerns {matter}",
    "Whether it is about {matter}",
    "Is {matter} a topic of the message?",
    "The intent is {goal}.",
    "Does the intent fit this: {goal}?",
)

_DOING = (
    "Does the user want to {matter}?",
    "Is the user trying to {matter}?",
    "True if the user wants to {matter}.",
    "Does the speaker mean to {matter}?",
    "Whether the message is there to {matter}",
    "The intent is to {matter}.",
    "One of the aims is to {matter}",
    "Is one of the intents to {matter}?",
)

_WHOLE_NUMBERS = frozenset({"number", "kids", "adults", "people", "rooms"})

_INTENTS = load_abouts("nlupp_intents")
_SLOTS = load_wordings("nlupp")
