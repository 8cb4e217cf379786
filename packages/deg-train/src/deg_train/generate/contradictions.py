"""Contradictions: documents that first say yes and then no, or that take back what they said."""

from __future__ import annotations

from random import Random
from typing import Any

from deg_train.generate.documents import is_held_out
from deg_train.generate.drafts import render
from deg_train.generate.fields import Field
from deg_train.generate.library import Domain, default_library
from deg_train.generate.names import reserved_names, seen_abouts, seen_names, styled_name
from deg_train.generate.phrasing import Naming
from deg_train.generate.template import Labelled, Node, Template, Wording
from deg_train.records import Record

__all__ = ["ContradictionSource"]

_CORRECTIONS = (
    "Correction: ",
    "Update: the above is out of date. ",
    "Sorry, I got one thing wrong above. ",
    "P.S. That has changed since: ",
    "Amended later: ",
    "EDIT: not right any more. ",
)
_REPEATS = ("", "Elsewhere it says: ", "A second note reads: ", "But also: ", "Another page: ")


class ContradictionSource:
    """An endless source of records whose documents say two things about one yes-no question.

    What a later line corrects counts. Of two lines with equal weight neither does: the answer is
    null where that is an option, and yes and no are equally likely where it is not.
    """

    def __init__(self) -> None:
        library = default_library()
        self._naming = Naming(reserved=reserved_names(library))
        self._choices = [
            (domain, template, domain.fields[node.key], ways)
            for domain in library.domains.values()
            for template in domain.templates
            if not is_held_out(template)
            for line in template.lines
            if not line.optional
            for node in line.nodes
            if isinstance(node, Labelled) and domain.fields[node.key].kind == "yes-no"
            for ways in [_plain_ways(node)]
            if ways.keys() == {"yes", "no"}
        ]

    def sample(self, rng: Random) -> Record:
        """Draw a record."""
        domain, template, spec, ways = rng.choice(self._choices)
        said = _said(domain, template, spec, rng)
        text, first = said
        second = "no" if first == "yes" else "yes"
        is_corrected = rng.random() < 0.6
        link = rng.choice(_CORRECTIONS if is_corrected else _REPEATS)
        context = f"{text.rstrip()}\n\n{link}{rng.choice(ways[second])}"
        leaf: dict[str, Any] = {"description": rng.choice(seen_abouts(spec))}
        name = styled_name(
            self._naming.vary(rng.choice(seen_names(spec)), leaf["description"], rng), rng
        )
        schema = {"type": "object", "properties": {name: leaf}, "required": [name]}
        if is_corrected:
            leaf["type"] = "boolean" if rng.random() < 0.8 else ["boolean", "null"]
            return Record(context, schema, {name: second == "yes"}, {}, "generated")
        if rng.random() < 0.5:
            leaf["type"] = ["boolean", "null"]
            return Record(context, schema, {name: None}, {}, "generated")
        leaf["type"] = "boolean"
        even: dict[str, tuple[float, ...]] = {
            f"/{name.replace('~', '~0').replace('/', '~1')}": (0.5, 0.5)
        }
        return Record(context, schema, {name: True}, {}, "generated", even)


def _said(domain: Domain, template: Template, spec: Field, rng: Random) -> tuple[str, str]:
    """Return a document of the template, and what it says about the field."""
    draft = render(template, domain, rng)
    (label,) = {fact.label for fact in draft.facts if fact.field.key == spec.key}
    return draft.flatten()[0], label


def _plain_ways(node: Labelled) -> dict[str, list[str]]:
    """Return for each label the sentences that need no value: whole ones alone make sense later."""
    found = {}
    for label, nodes in node.ways:
        texts = [text for text in _texts(nodes) if text[:1].isupper() and text[-1:] in ".!"]
        if texts:
            found[label] = texts
    return found


def _texts(nodes: tuple[Node, ...]) -> list[str]:
    texts = [""]
    for node in nodes:
        if isinstance(node, str):
            texts = [text + node for text in texts]
        elif isinstance(node, Wording):
            ways = [way for each in node.ways for way in _texts(each)]
            texts = [text + way for text in texts for way in ways]
        else:
            return []
    return texts
