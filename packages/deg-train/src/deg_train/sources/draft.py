"""One record in the making: questions are added to a document until it is complete."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any, Literal

from deg_train.records import Record, step
from deg_train.sources.wording import Option, Wording, write_options

__all__ = ["Draft", "Span", "fixed_string", "one_text", "whole_number"]

Span = tuple[int, int]

_WHOLE = re.compile(r"(?:0|[1-9][0-9]{0,8})")
_FALLBACKS = (None, None, "other", "none of these", "something else", "Other", "unknown")


class Draft:
    """Collects questions about one document, their answers and where those are written."""

    def __init__(self, source: str, context: str, rng: random.Random):
        self._source = source
        self._context = context
        self._rng = rng
        self._properties: dict[str, dict[str, Any]] = {}
        self._optional: set[str] = set()
        self._value: dict[str, Any] = {}
        self._spans: dict[str, tuple[Span, ...]] = {}

    def choose(
        self, wording: Wording, options: Sequence[Option], answer: str | None, *, bare: float = 0.3
    ) -> None:
        """Ask for one of the options; an answer of None is none of them and adds a fallback."""
        rng = self._rng
        order = list(options)
        rng.shuffle(order)
        written: list[tuple[str | None, str | None]] = list(write_options(order, rng))
        gold: str | None = None
        for option, (value, _) in zip(order, written, strict=True):
            if option.label == answer:
                gold = value
        if answer is None or rng.random() < 0.04:
            fallback = rng.choice(_FALLBACKS)
            if all(fallback != value for value, _ in written):
                written.append((fallback, None if written[0][1] is None else "None of the others"))
            else:
                fallback = None
                written.append((None, None))
            gold = fallback if answer is None else gold
        self._add(wording, _choice_schema(written, rng), gold, bare=bare)

    def decide(self, wording: Wording, answer: bool) -> None:
        """Ask a yes-no question."""
        self._add(wording, {"type": "boolean"}, answer, bare=0.0)

    def extract(
        self, wording: Wording, spans: Sequence[Span], *, integer: float = 0.0, bare: float = 0.15
    ) -> None:
        """Ask for a text of the document, absent where there are no spans.

        Args:
            wording: How to ask.
            spans: Every acceptable place of the answer.
            integer: How often to ask for a whole number, where every span is one.
            bare: How often to ask by name alone.
        """
        rng = self._rng
        kind: Literal["integer", "string"] = "string"
        numbers = [number for span in spans if (number := whole_number(self._context, span))]
        if rng.random() < integer and len(numbers) == len(spans):
            kind, spans = "integer", numbers
        nullable = rng.random() < 0.5
        schema: dict[str, Any] = {"type": [kind, "null"] if nullable else kind}
        answer: str | int | None = None
        if spans:
            start, end = spans[0]
            text = self._context[start:end]
            answer = int(text) if kind == "integer" else text
        name = self._add(wording, schema, answer, bare=bare, optional=not nullable)
        if spans:
            self._spans[step(name)] = tuple(spans)

    def record(self, *, shuffled: bool = True) -> Record:
        """Complete the record, its properties in a random order."""
        names = list(self._properties)
        if shuffled:
            self._rng.shuffle(names)
        required = [name for name in names if name not in self._optional]
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: self._properties[name] for name in names},
        }
        if required:
            schema["required"] = required
        return Record(
            context=self._context,
            schema=schema,
            value={name: self._value[name] for name in names if name in self._value},
            spans={p: self._spans[p] for p in map(step, names) if p in self._spans},
            source=self._source,
        )

    def _add(
        self,
        wording: Wording,
        schema: dict[str, Any],
        answer: str | int | bool | None,
        *,
        bare: float,
        optional: bool = False,
    ) -> str:
        drawn, about = wording.draw(self._rng, bare=bare)
        name, number = drawn, 2
        while name in self._properties:
            name, number = f"{drawn}_{number}", number + 1
        if about is not None:
            schema["description"] = about
        elif self._rng.random() < 0.15:
            schema["title"] = drawn.replace("_", " ").replace("-", " ").capitalize()
        self._properties[name] = schema
        if optional:
            self._optional.add(name)
        if not optional or answer is not None:
            self._value[name] = answer
        return name


def fixed_string(about: str) -> dict[str, Any]:
    """Ask for a text that may be absent, as evaluation always asks."""
    return {"type": ["string", "null"], "description": about}


def one_text(context: str, spans: Sequence[Span]) -> bool:
    """Tell whether all the spans read the same, so that one value answers for each of them."""
    return len({context[start:end] for start, end in spans}) == 1


def whole_number(context: str, span: Span) -> Span | None:
    """Find the one whole number that a span is, or holds, with nothing of a number around it."""
    start, end = span
    text = context[start:end]
    digits = re.findall(r"\d+", text)
    match = _WHOLE.search(text)
    if len(digits) != 1 or match is None or match.group() != digits[0]:
        return None
    first, last = start + match.start(), start + match.end()
    before, after = context[:first][-1:], context[last : last + 2]
    opened = not before or before.isspace() or before in "(\"'"
    # a full stop or a comma ends the number only where a blank follows it
    closed = after[:1] in ("", *"?!;)\"'") or after[0].isspace() or after.strip() in (".", ",")
    return (first, last) if opened and closed else None


def _choice_schema(
    written: Sequence[tuple[str | None, str | None]], rng: random.Random
) -> dict[str, Any]:
    if any(about is not None for _, about in written) or rng.random() < 0.05:
        branches = []
        for value, about in written:
            branch: dict[str, Any] = {"const": value}
            if about is not None:
                branch["description"] = about
            branches.append(branch)
        return {rng.choice(("oneOf", "oneOf", "anyOf")): branches}
    values = [value for value, _ in written]
    if rng.random() < 0.5:
        return {"enum": values}
    return {"type": ["string", "null"] if None in values else "string", "enum": values}
