"""Names and descriptions of fields, and which of them training must never see."""

from __future__ import annotations

import re
from functools import cache
from random import Random

from deg_train.generate.fields import Field
from deg_train.generate.library import Library

__all__ = [
    "HELD_OUT_ABOUTS",
    "HELD_OUT_NAMES",
    "content_words",
    "reserved_names",
    "seen_abouts",
    "seen_names",
    "spellings",
    "styled_label",
    "styled_name",
    "trained_names",
    "unseen_names",
    "words_of",
]

# the last names and abouts of each field belong to the evaluation of unseen names
HELD_OUT_NAMES = 2
HELD_OUT_ABOUTS = 1

# held-out names that a stage of the default checkpoint asked for by mistake: nobody's unseen names
_SPOILT = frozenset(
    tuple(name.split())
    for name in (
        "article number",
        "build",
        "contact name",
        "from",
        "funds",
        "measured on",
        "paid to",
        "programme",
        "qualification",
        "receiver",
        "risk level",
        "score",
        "session",
        "starts",
        "taken on",
        "to",
        "year of publication",
    )
)

_BREAK = re.compile(r"[\s_\-./]+")
_WEAK = frozenset(
    [
        "a",
        "an",
        "and",
        "at",
        "by",
        "date",
        "day",
        "for",
        "from",
        "id",
        "in",
        "is",
        "it",
        "of",
        "number",
        "no",
        "nr",
        "name",
        "num",
        "of",
        "on",
        "or",
        "our",
        "the",
        "their",
        "this",
        "to",
        "value",
        "code",
        "text",
        "info",
        "which",
        "what",
        "who",
        "when",
        "where",
        "whose",
        "with",
    ]
)
_CASES = ("snake", "camel", "words", "title", "kebab", "upper", "pascal", "lower")
_CASE_WEIGHTS = (45, 20, 10, 6, 8, 4, 4, 3)


def seen_names(spec: Field) -> tuple[str, ...]:
    """Return the names that training may use."""
    return spec.names[:-HELD_OUT_NAMES] if len(spec.names) > HELD_OUT_NAMES else spec.names


def seen_abouts(spec: Field) -> tuple[str, ...]:
    """Return the descriptions that training may use."""
    return spec.abouts[:-HELD_OUT_ABOUTS] if len(spec.abouts) > HELD_OUT_ABOUTS else spec.abouts


def unseen_names(spec: Field, trained: frozenset[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the field's held-out names that no other field shows in training either."""
    held_out = spec.names[-HELD_OUT_NAMES:]
    return tuple(name for name in held_out if words_of(name) not in trained | _SPOILT)


def trained_names(library: Library) -> frozenset[tuple[str, ...]]:
    """Return the words of every name that training may use."""
    return frozenset(
        words_of(name)
        for domain in library.domains.values()
        for spec in domain.fields.values()
        for name in seen_names(spec)
    )


def reserved_names(library: Library) -> frozenset[tuple[str, ...]]:
    """Return the words of every name that is held out from training."""
    return frozenset(
        words_of(name)
        for domain in library.domains.values()
        for spec in domain.fields.values()
        for name in spec.names[-HELD_OUT_NAMES:]
    )


@cache
def words_of(name: str) -> tuple[str, ...]:
    """Return the lower-case words of a name in any case."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return tuple(word.lower() for word in _BREAK.split(spaced) if word)


@cache
def content_words(names: tuple[str, ...]) -> frozenset[str]:
    """Return the words of a field's names that tell it from others."""
    return frozenset(word for name in names for word in words_of(name)) - _WEAK


@cache
def spellings(names: tuple[str, ...]) -> frozenset[tuple[str, ...]]:
    """Return the names as words, so that two fields that share one can be told."""
    return frozenset(words_of(name) for name in names)


def styled_name(name: str, rng: Random) -> str:
    """Write a name as programmers and analysts spell property names."""
    return styled_label(name, rng.choices(_CASES, _CASE_WEIGHTS)[0])


def styled_label(name: str, style: str) -> str:
    """Write a name in a style, such as `camel` or `title`; any unknown one keeps it."""
    words = words_of(name)
    if style == "snake":
        return "_".join(words)
    if style == "camel":
        return words[0] + "".join(word.capitalize() for word in words[1:])
    if style == "pascal":
        return "".join(word.capitalize() for word in words)
    if style == "kebab":
        return "-".join(words)
    if style == "upper":
        return "_".join(words).upper()
    if style == "caps":
        return " ".join(words).upper()
    if style == "words":
        return " ".join(words).capitalize()
    if style == "title":
        return " ".join(word.capitalize() for word in words)
    return " ".join(words) if style == "lower" else name
