"""Leaves of items: how a column is asked for, and what the answer is for every item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from deg_train.generate.drafts import Fact
from deg_train.generate.fields import Field
from deg_train.generate.gold import is_parsed, read_slot
from deg_train.generate.kinds import DECIDE_KINDS
from deg_train.generate.list_drafts import Entry
from deg_train.generate.list_page import Page
from deg_train.generate.names import styled_label
from deg_train.generate.phrasing import Naming, Question, as_text, phrase

__all__ = ["Leaf", "leaf_of", "read_leaf"]

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A column as asked: the question, and for every item the value and where it stands."""

    question: Question
    values: list[Any]
    spans: list[Span | None]


def leaf_of(
    spec: Field, place: int, entries: Sequence[Entry], page: Page, naming: Naming, rng: Random
) -> Leaf:
    """Ask for the column at *place* of the items that the page prints."""
    cells = [entry.cells[place] for entry in entries]
    spans = [page.spans.get(cell.key) if cell else None for cell in cells]
    label = spec.labels[0] if spec.labels else ""
    printed = next((cell.text for cell in cells if cell), "")
    question = phrase(spec, Fact(spec, printed, label), naming, rng)
    assert question is not None
    if spec.kind in DECIDE_KINDS:
        schema, answers = _decision(spec, question.schema, rng)
        question = replace(question, schema=schema, nullable=False)
        return Leaf(question, [answers[entry.labels[place]] for entry in entries], spans)
    question = replace(question, schema=_without_pattern(question.schema))
    return read_leaf(question, page.text, spans)


def read_leaf(question: Question, text: str, spans: list[Span | None]) -> Leaf:
    """Read the value in each span; what the parsers cannot read is asked for as text."""
    schema = question.schema
    if is_parsed(schema):
        read = [read_slot(schema, text, span) if span else None for span in spans]
        if all(one or not span for one, span in zip(read, spans, strict=True)):
            values = [one[0] if one else None for one in read]
            return Leaf(question, values, [one[1] if one else None for one in read])
        question = replace(question, schema=as_text(schema))
    return Leaf(question, [text[slice(*span)] if span else None for span in spans], spans)


def _decision(
    spec: Field, schema: dict[str, Any], rng: Random
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema of a decision in an item, and the answer for each label."""
    notes = {key: note for key, note in schema.items() if key in ("title", "description")}
    if spec.kind == "yes-no":
        return {**notes, "type": "boolean"}, {"yes": True, "no": False}
    if spec.kind == "score":
        scale: dict[str, Any] = {"type": "integer"}
        scale |= {"minimum": spec.lowest, "maximum": spec.highest}
        if rng.random() < 0.4:
            scale["x-levels"] = {level.name: level.description for level in spec.options}
        return {**notes, **scale}, {label: int(label) for label in spec.labels}
    options = rng.sample(spec.options, len(spec.options))
    answers = {option.name: option.name for option in options}
    if rng.random() < 0.2:
        style = rng.choice(("upper", "title", "camel", "snake"))
        answers = {name: styled_label(name, style) for name in answers}
    if all(option.description for option in options) and rng.random() < 0.3:
        branches = [
            {"const": answers[option.name], "description": option.description} for option in options
        ]
        return {**notes, "oneOf": branches}, answers
    return {**notes, "enum": list(answers.values())}, answers


def _without_pattern(schema: dict[str, Any]) -> dict[str, Any]:
    # a pattern that was made of one value would refuse the others
    kept = {key: rule for key, rule in schema.items() if key != "pattern"}
    for branch in ("anyOf", "oneOf"):
        if branch in kept:
            kept[branch] = [_without_pattern(each) for each in kept[branch]]
    return kept
