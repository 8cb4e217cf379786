"""Asking: choose what to ask about a draft, present and absent, and write the record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from deg_train.generate.drafts import Draft
from deg_train.generate.fields import Field
from deg_train.generate.gold import is_parsed, read_slot
from deg_train.generate.kinds import DECIDE_KINDS
from deg_train.generate.library import Domain
from deg_train.generate.names import content_words, spellings, styled_name, words_of
from deg_train.generate.phrasing import Naming, Question, as_text, phrase
from deg_train.records import Record, step

__all__ = ["ask"]

Span = tuple[int, int]


def ask(
    draft: Draft,
    naming: Naming,
    is_asked: Callable[[Field], bool],
    stranger: Domain,
    rng: Random,
) -> Record | None:
    """Make a record of the draft, or None where nothing can be asked about it."""
    sheet, silence = _Sheet(draft, rng), _Silence(draft)
    present = [number for number, fact in enumerate(draft.facts) if is_asked(fact.field)]
    chosen = rng.sample(present, min(len(present), rng.randint(4, 8)))
    # few wordings carry a label, and they alone teach decisions
    chosen += [
        number
        for number in present
        if number not in chosen
        and draft.facts[number].field.kind in DECIDE_KINDS
        and rng.random() < 0.7
    ]
    for number in chosen:
        fact = draft.facts[number]
        question = phrase(fact.field, fact, naming, rng)
        if question is not None and not silence.is_vague(question):
            sheet.add_present(question, number)
    if not sheet.leaves:
        return None
    for spec in _absent_fields(draft, silence, stranger, is_asked, rng):
        question = phrase(spec, None, naming, rng)
        if question is not None:
            sheet.add_absent(question)
    for name in draft.names:
        sheet.add_absent(Question(styled_name(name, rng), {"type": "string"}, False))
    if rng.random() < 0.05:
        _ask_about_mention(sheet, draft, silence, naming, is_asked, rng)
    return sheet.finish()


class _Sheet:
    """The questions of a record while they are collected."""

    def __init__(self, draft: Draft, rng: Random) -> None:
        self.leaves: dict[str, dict[str, Any]] = {}
        self._context, self._slots = draft.flatten()
        self._facts = draft.facts
        self._rng = rng
        self._values: dict[str, Any] = {}
        self._spans: dict[str, tuple[Span, ...]] = {}
        self._required: set[str] = set()

    def add_present(self, question: Question, number: int) -> None:
        if question.name in self.leaves and number >= 0 and self._facts[number].row is not None:
            question = replace(question, name=f"{question.name}_{len(self.leaves)}")
        if question.name in self.leaves:
            return
        if question.decided:
            self._add(question, question.answer, self._rng.random() < 0.7)
            return
        slots = self._slots[number]
        start, end = slots[0]
        schema, value, spans = question.schema, self._context[start:end], slots
        if is_parsed(schema):
            read = [read_slot(schema, self._context, slot) for slot in slots]
            found = [reading for reading in read if reading is not None]
            if found:
                value = found[0][0]
                spans = [span for reading, span in found if reading == value]
            else:
                question = Question(question.name, as_text(schema), question.nullable)
        self._add(question, value, self._rng.random() < 0.55)
        self._spans[question.name] = tuple(spans)

    def add_absent(self, question: Question) -> None:
        if question.name not in self.leaves:
            # a required one must be nullable, or the schema could not be met
            self._add(question, None, question.nullable and self._rng.random() < 0.5)

    def _add(self, question: Question, value: Any, required: bool) -> None:
        self.leaves[question.name] = question.schema
        if value is not None or question.nullable:
            self._values[question.name] = value
        if required:
            self._required.add(question.name)

    def finish(self) -> Record:
        names = self._rng.sample(list(self.leaves), len(self.leaves))
        group: list[str] = []
        if len(names) >= 4 and self._rng.random() < 1 / 6:
            group = names[: self._rng.randint(2, len(names) - 1)]
        plain = [name for name in names if name not in group]
        schema, value = self._object(plain), self._object_value(plain)
        spans = {step(name): self._spans[name] for name in plain if name in self._spans}
        if group:
            outer = styled_name(self._rng.choice(_GROUPS), self._rng)
            while outer in self.leaves:
                outer += "_group"
            schema["properties"][outer] = self._object(group)
            if any(name in self._required for name in group):
                schema.setdefault("required", []).append(outer)
            value[outer] = self._object_value(group)
            for name in group:
                if name in self._spans:
                    spans[step(outer) + step(name)] = self._spans[name]
        return Record(self._context, schema, value, spans, "generated")

    def _object(self, names: list[str]) -> dict[str, Any]:
        required = [name for name in names if name in self._required]
        made: dict[str, Any] = {"type": "object"}
        made["properties"] = {name: self.leaves[name] for name in names}
        if required:
            made["required"] = required
        if self._rng.random() < 0.3:
            made["additionalProperties"] = False
        return made

    def _object_value(self, names: list[str]) -> dict[str, Any]:
        return {name: self._values[name] for name in names if name in self._values}


_GROUPS = (
    "details",
    "data",
    "document",
    "info",
    "main_part",
    "header",
    "summary",
    "record",
    "content",
    "extracted_fields",
    "entry",
    "about_it",
)


class _Silence:
    """Tells which fields a draft surely does not answer: nothing in it goes by a like name."""

    def __init__(self, draft: Draft) -> None:
        self.kinds = {fact.field.kind for fact in draft.facts} | draft.decoy_kinds
        self._spellings: Counter[tuple[str, ...]] = Counter()
        self._words: dict[str, set[str]] = {}
        for fact in draft.facts:
            self._spellings.update(spellings(fact.field.names))
            words = self._words.setdefault(fact.field.kind, set())
            words |= content_words(fact.field.names)

    def is_vague(self, question: Question) -> bool:
        """Say whether a name alone asks, and two facts of the draft go by it."""
        if "description" in question.schema:
            return False
        return self._spellings[words_of(question.name)] > 1

    def covers(self, spec: Field) -> bool:
        """Say whether the draft is silent about the field."""
        if not self._spellings.keys().isdisjoint(spellings(spec.names)):
            return False
        return self._words.get(spec.kind, set()).isdisjoint(content_words(spec.names))


def _absent_fields(
    draft: Draft,
    silence: _Silence,
    stranger: Domain,
    is_asked: Callable[[Field], bool],
    rng: Random,
) -> list[Field]:
    """Choose fields that the draft does not answer, tempting ones more often."""
    own = [
        spec
        for spec in draft.absent
        if is_asked(spec)
        and (spec.kind not in DECIDE_KINDS or rng.random() < 0.15)
        and silence.covers(spec)
    ]
    tempting = [spec for spec in own if spec.kind in silence.kinds]
    others: list[Field] = []
    if stranger not in draft.domains:
        others = [
            spec
            for spec in stranger.fields.values()
            if is_asked(spec) and spec.kind not in DECIDE_KINDS and silence.covers(spec)
        ]
    chosen: list[Field] = []
    for _ in range(rng.randint(1, 3)):
        pool = tempting if tempting and rng.random() < 0.6 else own
        if not pool or rng.random() < 0.25:
            pool = others
        if pool:
            chosen.append(rng.choice(pool))
    return chosen


def _ask_about_mention(
    sheet: _Sheet,
    draft: Draft,
    silence: _Silence,
    naming: Naming,
    is_asked: Callable[[Field], bool],
    rng: Random,
) -> None:
    printed = [fact.field for fact in draft.facts if not fact.label and fact.field.abouts]
    silent = [spec for spec in draft.absent if silence.covers(spec)]
    is_present = rng.random() < 0.5
    pool = [
        (spec, about)
        for spec in (printed if is_present else silent)
        if is_asked(spec) and spec.kind not in DECIDE_KINDS
        for about in naming.abouts(spec)
        if not about.endswith("?")
    ]
    if not pool:
        return
    spec, about = rng.choice(pool)
    names = naming.names(spec)
    if not names:
        return
    bare = about.rstrip(".")
    ways = (
        "Does the document state this: {}?",
        "True if the text gives this: {}",
        "Is this mentioned? {}",
        "Whether the following can be found in the text: {}",
        "Present in the document: {}",
    )
    name = rng.choice(("has", "mentions", "includes", "states")) + "_" + rng.choice(names)
    schema = {"type": "boolean", "description": rng.choice(ways).format(bare)}
    sheet.add_present(Question(styled_name(name, rng), schema, False, is_present, True), -1)
