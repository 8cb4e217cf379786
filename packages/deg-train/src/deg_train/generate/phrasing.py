"""Phrasing: turn a field into the property of a JSON Schema that asks for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Any

from deg_train.generate.decisions import phrase_decision
from deg_train.generate.drafts import Fact
from deg_train.generate.fields import Field
from deg_train.generate.kinds import DECIDE_KINDS, NUMBER_KINDS
from deg_train.generate.names import (
    seen_abouts,
    seen_names,
    styled_label,
    styled_name,
    unseen_names,
)

__all__ = ["Naming", "Question", "phrase"]


@dataclass(frozen=True, slots=True)
class Naming:
    """Which names and descriptions may be used: those of training, or those held out from it.

    `trained` holds the words of every name of training. With `reserved`, the words of every
    held-out one, names are also made up, none of them among those. A `whole` library has none that
    are held out.
    """

    unseen: bool = False
    trained: frozenset[tuple[str, ...]] = frozenset()
    reserved: frozenset[tuple[str, ...]] | None = None
    whole: bool = False

    def names(self, spec: Field) -> tuple[str, ...]:
        """Return the usable names, none where every held-out one is trained elsewhere."""
        if self.whole:
            return spec.names
        return unseen_names(spec, self.trained) if self.unseen else seen_names(spec)

    def abouts(self, spec: Field) -> tuple[str, ...]:
        """Return the usable descriptions."""
        if self.whole:
            return spec.abouts
        return spec.abouts[-1:] if self.unseen else seen_abouts(spec)

    def vary(self, name: str, about: str | None, rng: Random) -> str:
        """Return *name*, or at times one that is made of the description, or a mute one.

        No list of names is ever long enough: what is asked must be read from all that is said.
        """
        if self.reserved is None or about is None:
            return name
        roll = rng.random()
        if roll < 0.10:
            return f"{rng.choice(_MUTE)}_{rng.randint(1, 40)}"
        made = _name_from(about, rng) if roll < 0.35 else ()
        return "_".join(made) if made and made not in self.reserved else name


@dataclass(frozen=True, slots=True)
class Question:
    """A property: its name, its schema, and for a decide field the answer."""

    name: str
    schema: dict[str, Any]
    nullable: bool
    answer: Any = None
    decided: bool = False


def phrase(spec: Field, fact: Fact | None, naming: Naming, rng: Random) -> Question | None:
    """Phrase the question for a field, about the fact or about its absence.

    Returns None where the naming has no name for the field.
    """
    names = naming.names(spec)
    if fact is not None and fact.name is not None:
        return _phrase_plain(spec, fact.name, rng)
    if not names:
        return None
    name = rng.choice(names)
    describe = _describe(spec, naming.abouts(spec), rng)
    if fact is not None and fact.row is not None:
        describe = _add_row(describe or _humanised(name), fact.row, rng)
    name = naming.vary(name, describe, rng)
    notes: dict[str, Any] = {}
    if rng.random() < 0.15:
        notes["title"] = styled_label(rng.choice(names), rng.choice(("words", "title")))
    if describe:
        notes["description"] = describe
    if spec.kind in DECIDE_KINDS:
        schema, answer = phrase_decision(spec, fact.label if fact else None, rng)
        return Question(styled_name(name, rng), {**notes, **schema}, fact is None, answer, True)
    nullable = rng.random() < 0.45
    schema = (
        make_nullable(_fragment(spec, fact, rng), rng) if nullable else _fragment(spec, fact, rng)
    )
    return Question(styled_name(name, rng), {**notes, **schema}, nullable)


def make_nullable(schema: dict[str, Any], rng: Random) -> dict[str, Any]:
    """Let the property be null, in one of the spellings."""
    if rng.random() < 0.8:
        return {**schema, "type": [schema["type"], "null"]}
    return {rng.choice(("anyOf", "oneOf")): [schema, {"type": "null"}]}


def as_text(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the property asking for the same as plain text."""
    kept = {key: note for key, note in schema.items() if key in ("title", "description")}
    nullable = "anyOf" in schema or "oneOf" in schema or isinstance(schema.get("type"), list)
    return {**kept, "type": ["string", "null"] if nullable else "string"}


def _phrase_plain(spec: Field, name: str, rng: Random) -> Question:
    schema: dict[str, Any] = {}
    label = _humanised(name)
    if rng.random() < 0.35:
        ways = (f"The {label}", f"Value of {label}", f"What stands after {label!r}?", label)
        schema["description"] = rng.choice(ways)
    nullable = rng.random() < 0.45
    fragment = {"type": "string"} if rng.random() < 0.6 else _fragment(spec, None, rng)
    if nullable:
        fragment = make_nullable(fragment, rng)
    return Question(styled_name(name, rng), {**schema, **fragment}, nullable)


def _fragment(spec: Field, fact: Fact | None, rng: Random) -> dict[str, Any]:
    kind = spec.kind
    roll = rng.random()
    if kind in ("integer", "year", "http_status", "port"):
        if roll < 0.65:
            return {"type": "integer", **_bounds(rng)}
        return {"type": "number" if roll < 0.75 else "string"}
    if kind in NUMBER_KINDS:
        return {"type": "number", **_bounds(rng)} if roll < 0.62 else {"type": "string"}
    if kind == "date" or (kind == "date_numeric" and roll < 0.5):
        return {"type": "string", "format": "date"} if roll < 0.65 else {"type": "string"}
    if kind == "datetime":
        return {"type": "string", "format": "date-time"} if roll < 0.65 else {"type": "string"}
    if kind in _FORMATS and roll < 0.5:
        return {"type": "string", "format": _FORMATS[kind]}
    return {"type": "string", **_limits(fact, rng)}


_MUTE = ("field", "value", "answer", "item", "col", "q", "entry", "x", "slot", "data", "attr", "f")
_SMALL = frozenset(
    "a an and any as at be been by can did do does for from has have how in is it its of on or "
    "shall should that the their there this to was were what when where which who whom whose "
    "will with would written printed stated given exactly appears document text words true false "
    "if".split()
)


def _name_from(about: str, rng: Random) -> tuple[str, ...]:
    """Make a name of up to four words that carry the description, in their order."""
    bare = re.sub(r"\([^)]*\)|'s\b|[^A-Za-z ]", " ", about.split(":")[-1].split(";")[0])
    words = [word.lower() for word in bare.split() if word.lower() not in _SMALL]
    if not 1 <= len(words) <= 7:
        return ()
    start = rng.randint(0, max(len(words) - 4, 0)) if len(words) > 4 else 0
    return tuple(words[start : start + rng.randint(2, 4)]) if len(words) > 1 else tuple(words)


_FORMATS = {"email": "email", "url": "uri", "uuid": "uuid"}


def _bounds(rng: Random) -> dict[str, Any]:
    roll = rng.random()
    if roll < 0.85:
        return {}
    return {"minimum": -100_000} if roll < 0.9 else {"maximum": 100_000_000}


def _limits(fact: Fact | None, rng: Random) -> dict[str, Any]:
    roll = rng.random()
    if roll < 0.90:
        return {}
    if roll < 0.94:
        return {"minLength": 1}
    if roll < 0.97 or fact is None:
        return {"maxLength": rng.choice((100, 120, 200, 255))}
    return {"pattern": _pattern_of(fact.text)} if any(map(str.isdigit, fact.text)) else {}


def _pattern_of(text: str) -> str:
    shape = re.sub(r"[0-9]+", lambda run: f"<{len(run[0])}>", re.escape(text))
    return "^" + re.sub(r"<([0-9]+)>", r"\\d{\1}", shape) + "$"


def _describe(spec: Field, abouts: tuple[str, ...], rng: Random) -> str | None:
    roll = rng.random()
    # a bare name may tell what to copy, but never what to judge by
    if not abouts or (roll < 0.1 and spec.kind not in DECIDE_KINDS):
        return None
    about = rng.choice(abouts)
    if roll < 0.6 or " as " in about:
        return about
    if about.endswith("?"):
        ways = _AROUND_JUDGMENTS if spec.kind in DECIDE_KINDS else _AROUND_QUESTIONS
        return rng.choice(ways).format(about)
    bare = about.rstrip(".")
    lowered = _lower_first(bare)
    if spec.kind in DECIDE_KINDS:
        return rng.choice((bare, bare + ".", f"Judge: {lowered}", bare.upper()[:1] + lowered[1:]))
    if roll < 0.7:
        return rng.choice((bare, lowered, bare + ".", bare.upper() if len(bare) < 30 else bare))
    return rng.choice(_AROUND_STATEMENTS).format(bare, lowered)


_AROUND_QUESTIONS = (
    "{}",
    "{} Answer with the words of the text.",
    "Question: {}",
    "{} If the text does not say, leave it out.",
    "{} (as written)",
    "Answer this from the document: {}",
)
_AROUND_JUDGMENTS = ("{}", "{}", "Question: {}", "Answer this from the document: {}")
_AROUND_STATEMENTS = (
    "{} (as written)",
    "{}, copied as it stands",
    "Extract this: {1}",
    "Find {1} in the text.",
    "{}; null when it is not given",
    "{}. Leave empty if not stated.",
    "{} exactly as it appears in the document.",
    "Field: {1}",
    "What does the document give as {1}?",
    "This is {1}.",
    "{}, if mentioned",
    "[required for import] {}",
    "{} - verbatim",
)


def _add_row(describe: str, row: str, rng: Random) -> str:
    bare = describe.rstrip(".")
    if bare.endswith("?"):
        return f"{row.capitalize()}: {bare}" if rng.random() < 0.3 else f"{bare[:-1]} {row}?"
    return rng.choice((f"{bare} {row}", f"{bare} {row}.", f"{bare} ({row})", f"{bare}, {row}"))


def _humanised(name: str) -> str:
    return styled_label(name, "lower")


def _lower_first(text: str) -> str:
    first = text.split(" ", 1)[0]
    return (
        text if len(first) > 1 and first[1:] != first[1:].lower() else text[:1].lower() + text[1:]
    )
