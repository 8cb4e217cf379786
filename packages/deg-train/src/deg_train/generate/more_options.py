"""More options: choices with many wrong answers beside the right one."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

from deg_train.generate.library import default_library
from deg_train.generate.names import styled_label, words_of
from deg_train.records import Record

__all__ = ["with_more_options"]

_MOST = 255
_STYLES = ("snake", "lower", "words", "title", "camel")


def with_more_options(record: Record, rng: Random, *, most: int = _MOST) -> Record:
    """Add labels of other questions to the plain options of the record's choices, in any order.

    How many is drawn log-uniformly. Choices whose options are described, and those with
    probabilities of their own, stay as they are.
    """
    properties = {
        name: _grown(leaf, most, rng) if f"/{name}" not in record.probabilities else leaf
        for name, leaf in record.schema["properties"].items()
    }
    return replace(record, schema={**record.schema, "properties": properties})


def _grown(leaf: dict[str, Any], most: int, rng: Random) -> dict[str, Any]:
    options = leaf.get("enum", ())
    texts = [option for option in options if isinstance(option, str)]
    if len(texts) < 2 or len(texts) + 3 > most:
        return leaf
    total = round(math.exp(rng.uniform(math.log(len(texts) + 2), math.log(most))))
    own = {word for text in texts for word in words_of(text)}
    style = next((each for each in _STYLES if _is_styled(texts, each)), "snake")
    others = [styled_label(label, style) for label in _labels() if own.isdisjoint(words_of(label))]
    added = rng.sample(others, min(total - len(texts), len(others)))
    return {**leaf, "enum": rng.sample([*options, *added], len(options) + len(added))}


def _is_styled(texts: list[str], style: str) -> bool:
    return all(styled_label(text, style) == text for text in texts)


@cache
def _labels() -> tuple[str, ...]:
    """Return the labels of every choice in the library that says what it means by itself."""
    return tuple(
        dict.fromkeys(
            option.name
            for domain in default_library().domains.values()
            for spec in domain.fields.values()
            if spec.kind == "choice"
            for option in spec.options
            if option.name not in _VAGUE
        )
    )


# they might be true of any document
_VAGUE = frozenset("other none unknown yes no open new general mixed normal standard both".split())
