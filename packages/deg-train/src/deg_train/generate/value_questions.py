"""Yes-no questions about values: whether a field's value is given, and whether it is a certain one.

Every document with copied values has many of them, so they teach what few labels could: to read the
question, its negation too, and to look it up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from deg_train.generate.names import words_of
from deg_train.generate.negation import Clause, affirmation, denial
from deg_train.records import Record, step

__all__ = ["with_value_questions"]

_LONGEST_VALUE = 60
_MOST_ASKED = 4
_PRESENT = ("given", "known", "in the document", "stated in the text")
_EQUAL = ("{}", '"{}"', "the same as {}", "given as {}")
_NAMES = ("answer", "check", "holds", "is_so", "result", "question")


def with_value_questions(record: Record, rng: Random) -> Record:
    """Return the record with some yes-no questions about its outermost copied fields beside them.

    Half of the right answers are yes, and half of the questions are negated.
    """
    fields = list(_copied(record))
    texts = {name: text for name, text in fields if text is not None}
    schema, value = dict(record.schema), dict(record.value)
    properties = dict(schema["properties"])
    asked = rng.sample(fields, min(len(fields), rng.randint(1, _MOST_ASKED)))
    for name, text in asked:
        clause, answer = _clause(name, text, texts, rng)
        if rng.random() < 0.5:
            question, answer = denial(clause, rng), not answer
        elif rng.random() < 0.5:
            question = f"Is {clause.subject} {clause.rest}?"
        else:
            question = affirmation(clause, rng)
        own = f"{rng.choice(_NAMES)}_{len(properties)}"
        if own not in properties:
            properties[own] = {"type": "boolean", "description": question}
            value[own] = answer
    return replace(record, schema=schema | {"properties": properties}, value=value)


def _copied(record: Record) -> Iterator[tuple[str, str | None]]:
    """Yield the outermost text fields, and the text of each; None where it is not there."""
    for name, leaf in record.schema["properties"].items():
        kinds = leaf.get("type")
        is_text = kinds in ("string", ["string", "null"]) and "enum" not in leaf
        # what a name without words asks for, nobody could ask about
        if not is_text or "x-generate" in leaf or not _words(name):
            continue
        places = record.spans.get(step(name))
        if places:
            text = record.context[slice(*places[0])]
            if len(text) <= _LONGEST_VALUE and "\n" not in text:
                yield name, text
        elif record.value.get(name) is None:
            yield name, None


def _clause(name: str, text: str | None, texts: dict[str, str], rng: Random) -> tuple[Clause, bool]:
    subject = f"the {_words(name)}"
    others = [other for key, other in texts.items() if key != name and other != text]
    if text is None or not others or rng.random() < 0.3:
        return Clause(subject, "is", rng.choice(_PRESENT)), text is not None
    is_own = rng.random() < 0.5
    shown = text if is_own else rng.choice(others)
    return Clause(subject, "is", rng.choice(_EQUAL).format(shown)), is_own


def _words(name: str) -> str:
    return " ".join(word for word in words_of(name) if word.isalpha())
