"""Drafts: rendered documents that still know which of their pieces answers which question."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from deg_train.generate.fields import Field
from deg_train.generate.kinds import DECIDE_KINDS
from deg_train.generate.library import Domain
from deg_train.generate.setting import Setting, draw_setting
from deg_train.generate.template import Labelled, Node, Slot, Template, Wording
from deg_train.generate.values import expand, make_value

__all__ = ["Draft", "Fact", "Piece", "draw_text", "render"]

DROP_OPTIONAL = 0.4


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text; `fact` numbers the fact whose value it prints, -1 for none."""

    text: str
    fact: int = -1


@dataclass(frozen=True, slots=True)
class Fact:
    """What a document says about a field.

    `text` is the value as printed; `label` answers a decide field. A fact of a form without a
    domain brings its own `name`; `row` says in words which row of a table it stands in.
    """

    field: Field
    text: str = ""
    label: str = ""
    name: str | None = None
    row: str | None = None


@dataclass(slots=True)
class Draft:
    """A document in pieces, with its facts and what it might have said but does not."""

    pieces: list[Piece] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    absent: list[Field] = field(default_factory=list)
    domains: list[Domain] = field(default_factory=list)
    decoy_kinds: set[str] = field(default_factory=set)
    names: tuple[str, ...] = ()

    def say(self, text: str) -> None:
        """Add text that answers nothing."""
        self.pieces.append(Piece(text))

    def print(self, fact: Fact) -> int:
        """Add a fact and the piece that prints it; return the fact's number."""
        self.facts.append(fact)
        self.pieces.append(Piece(fact.text, len(self.facts) - 1))
        return len(self.facts) - 1

    def flatten(self) -> tuple[str, dict[int, list[tuple[int, int]]]]:
        """Return the text, and the spans of each fact in it."""
        spans: dict[int, list[tuple[int, int]]] = {}
        position = 0
        for piece in self.pieces:
            if piece.fact >= 0:
                spans.setdefault(piece.fact, []).append((position, position + len(piece.text)))
            position += len(piece.text)
        return "".join(piece.text for piece in self.pieces), spans


def draw_text(spec: Field, rng: Random, setting: Setting) -> str:
    """Draw a value of a field that is not decided, as a document prints it."""
    if spec.values:
        return expand(rng.choice(spec.values), rng)
    return make_value(spec.kind, rng, setting)


def render(template: Template, domain: Domain, rng: Random) -> Draft:
    """Fill a template: draw its optional lines, wordings, labels, values and decoys."""
    writer = _Writer(domain, rng, template.labels)
    lines = [line for line in template.lines if not line.optional or rng.random() >= DROP_OPTIONAL]
    for index, line in enumerate(lines):
        writer.write(line.nodes)
        if index < len(lines) - 1:
            writer.draft.say("\n")
    draft = writer.draft
    draft.domains.append(domain)
    printed = {fact.field.key for fact in draft.facts}
    draft.absent.extend(spec for spec in domain.fields.values() if spec.key not in printed)
    return draft


class _Writer:
    def __init__(self, domain: Domain, rng: Random, labels: dict[str, tuple[str, ...]]) -> None:
        self.draft = Draft()
        self._domain = domain
        self._rng = rng
        self._labels = labels
        self._setting = draw_setting(rng)
        self._drawn: dict[str, str] = {}
        self._numbers: dict[str, int] = {}

    def write(self, nodes: tuple[Node, ...]) -> None:
        for node in nodes:
            if isinstance(node, str):
                self.draft.say(node)
            elif isinstance(node, Wording):
                self.write(self._rng.choice(node.ways))
            elif isinstance(node, Labelled):
                label = self._label(node.key)
                self._decide(node.key)
                self.write(dict(node.ways)[label])
            elif node.decoy:
                self.draft.decoy_kinds.add(node.name)
                self.draft.say(make_value(node.name, self._rng, self._setting))
            else:
                self._print(node)

    def _print(self, slot: Slot) -> None:
        spec = self._domain.fields[slot.name]
        if spec.kind in DECIDE_KINDS:
            self._decide(slot.name)
            self.draft.say(self._label(slot.name))
        elif slot.name in self._numbers:
            number = self._numbers[slot.name]
            self.draft.pieces.append(Piece(self.draft.facts[number].text, number))
        else:
            fact = Fact(spec, self._distinct(spec))
            self._numbers[slot.name] = self.draft.print(fact)

    def _distinct(self, spec: Field) -> str:
        # if two fields said the same, a record could not teach which of them is asked
        text = ""
        printed = {fact.text for fact in self.draft.facts}
        for _ in range(4):
            text = draw_text(spec, self._rng, self._setting)
            if text not in printed:
                break
        return text

    def _decide(self, key: str) -> None:
        if key not in self._numbers:
            self._numbers[key] = len(self.draft.facts)
            self.draft.facts.append(Fact(self._domain.fields[key], label=self._label(key)))

    def _label(self, key: str) -> str:
        if key not in self._drawn:
            labels = self._labels.get(key) or self._domain.fields[key].labels
            self._drawn[key] = self._rng.choice(labels)
        return self._drawn[key]
