"""Decisions that training never sees: documents, questions and scales of domains of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from deg_train.generate.drafts import Fact, render
from deg_train.generate.library import ROOT, Domain, Library, load_library
from deg_train.generate.names import styled_label, styled_name
from deg_train.generate.negation import criteria, negated
from deg_train.generate.template import Template
from deg_train.records import Record

__all__ = ["UnseenDecisions", "choice", "scale", "unseen_library", "yes_no"]

Phrased = tuple[str, dict[str, Any], Any]
"""The name of a property, its schema, and the answer."""


@cache
def unseen_library() -> Library:
    """Return the domains under `unseen`, which no training source reads."""
    return load_library(ROOT / "unseen")


class UnseenDecisions:
    """A source of records with one decision each, all right answers equally frequent.

    Args:
        kind: `yes-no`, `score` or `choice`.
        phrase: Turns a fact of that kind into a property and its answer.
    """

    def __init__(self, kind: str, phrase: Callable[[Fact, Random], Phrased]) -> None:
        self._kind, self._phrase = kind, phrase
        domains = unseen_library().domains.values()
        self._templates = [(domain, each) for domain in domains for each in domain.templates]

    def records(self, count: int, seed: int) -> list[Record]:
        """Return the records of a seed, always the same, their answers in turn."""
        rng = Random(f"unseen/{self._kind}/{seed}")
        return [self._record(number, rng) for number in range(count)]

    def _record(self, number: int, rng: Random) -> Record:
        while True:
            domain, template = rng.choice(self._templates)
            found = self._drawn(domain, template, number, rng)
            if found is not None:
                return found

    def _drawn(self, domain: Domain, template: Template, number: int, rng: Random) -> Record | None:
        draft = render(template, domain, rng)
        facts = [fact for fact in draft.facts if fact.field.kind == self._kind]
        if not facts:
            return None
        fact = rng.choice(facts)
        name, leaf, answer = self._phrase(fact, rng)
        # yes and no in turn; of a longer scale the level that its turn asks for
        outcomes = (True, False) if self._kind == "yes-no" else fact.field.labels
        asked = answer if self._kind == "yes-no" else fact.label
        if asked != outcomes[number % len(outcomes)]:
            return None
        context, _ = draft.flatten()
        schema = {"type": "object", "properties": {name: leaf}, "required": [name]}
        return Record(context, schema, {name: answer}, {}, "generated")


def yes_no(fact: Fact, rng: Random, *, negation: bool = False) -> Phrased:
    """Ask a yes-no question, turned round with *negation*, at times with what yes and no mean."""
    name = styled_name(rng.choice(fact.field.names), rng)
    about, answer = rng.choice(fact.field.abouts), fact.label == "yes"
    if not negation:
        with_criteria = criteria(about, rng) if rng.random() < 0.2 else None
        return name, {"type": "boolean", "description": with_criteria or about}, answer
    turned = None
    while turned is None:
        roll = rng.random()
        turned = (
            criteria(about, rng, swapped=True)
            if roll < 0.2
            else negated(about, rng, held_out=roll < 0.6)
        )
        about = rng.choice(fact.field.abouts) if turned is None else about
    return (
        rng.choice(("answer", "result", "holds")),
        {
            "type": "boolean",
            "description": turned,
        },
        not answer,
    )


def scale(fact: Fact, rng: Random, *, labelled: bool) -> Phrased:
    """Ask for a level, with words for every level or for none."""
    spec = fact.field
    leaf: dict[str, Any] = {"type": "integer", "description": rng.choice(spec.abouts)}
    leaf |= {"minimum": spec.lowest, "maximum": spec.highest}
    if labelled:
        leaf["x-levels"] = {option.name: option.description for option in spec.options}
    return styled_name(rng.choice(spec.names), rng), leaf, int(fact.label)


def choice(fact: Fact, rng: Random) -> Phrased:
    """Ask for an option, mostly with a description of each."""
    spec = fact.field
    options = rng.sample(spec.options, len(spec.options))
    names = {option.name: styled_label(option.name, "lower") for option in options}
    leaf: dict[str, Any] = {"description": rng.choice(spec.abouts)}
    if rng.random() < 0.6:
        leaf["oneOf"] = [
            {"const": names[option.name], "description": option.description} for option in options
        ]
    else:
        leaf["enum"] = list(names.values())
    return styled_name(rng.choice(spec.names), rng), leaf, names[fact.label]
