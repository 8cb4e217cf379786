"""The questions of System One: each read as a field, and its answer in that API's shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from deg_serve.asking import (
    Field,
    Response,
    choice_field,
    choice_of,
    extract_field,
    extracted_of,
    generate_field,
    generated_of,
    noul_field,
    noul_of,
    score_field,
    score_of,
)
from deg_serve.faults import Fault, Path, mapping_at, member, shown, text_at
from deg_serve.json_body import dump

__all__ = ["MAX_CHOICES", "MAX_LEVELS", "NotServed", "SystemOneQuestion", "read_question"]

MAX_CHOICES = 255
MAX_LEVELS = 10

_Read: TypeAlias = tuple[Field, Callable[[Response], dict[str, Any]]]


class NotServed(Exception):
    """A request that is in order, and asks for what this model does not do."""


@dataclass(frozen=True, slots=True)
class SystemOneQuestion:
    """A question, and how the fill of its field becomes its answer."""

    kind: str
    field: Field
    read: Callable[[Response], dict[str, Any]]

    def answer(self, response: Response) -> dict[str, Any]:
        """Return the answer, from the response of the fill."""
        return {"type": self.kind, **self.read(response)}


def read_question(question: object) -> SystemOneQuestion:
    """Read a question.

    Raises:
        Fault: It is not in order; its path leads from the question.
        NotServed: It asks for a place in an image.
    """
    question = mapping_at(question, (), "a question")
    if question.get("type") == "box":
        raise NotServed("This model reads text only: ask no box questions.")
    kind = text_at(question, "type", among=tuple(_READERS))
    instructions = _text_or_null(question.get("instructions"), ("instructions",))
    field, read = _READERS[kind](question, instructions)
    return SystemOneQuestion(kind, field, read)


def _noul(question: Mapping[str, Any], instructions: str) -> _Read:
    path = ("criteria",)
    criteria = question.get("criteria")
    criteria = {} if criteria is None else mapping_at(criteria, path, "'criteria' of a noul")
    yes = _text_or_null(criteria.get("true"), (*path, "true"))
    no = _text_or_null(criteria.get("false"), (*path, "false"))
    if not (instructions or yes or no):
        message = "a noul needs 'instructions', or 'criteria' that describe an outcome"
        raise Fault(("instructions",), message, "missing")
    field = noul_field(instructions, yes=yes, no=no)
    return field, lambda response: {"noul": noul_of(field, response)}


def _choice(question: Mapping[str, Any], instructions: str) -> _Read:
    path = ("criteria",)
    criteria = mapping_at(member(question, "criteria"), path, "'criteria' of a choice")
    if not criteria:
        raise Fault(path, "'criteria' of a choice must have at least 1 option", "too_few")
    if len(criteria) > MAX_CHOICES:
        message = f"Too many choices. Must have at most {MAX_CHOICES} choices."
        raise Fault(path, message, "too_many")
    options = [(name, _text_or_null(text, (*path, name))) for name, text in criteria.items()]
    field = choice_field(instructions, options)

    def read(response: Response) -> dict[str, Any]:
        chosen = choice_of(field, response)
        return {
            "choice": options[chosen.best][0],
            "confidence": chosen.confidence,
            "probabilities": dict(zip(criteria, chosen.probabilities, strict=True)),
        }

    return field, read


def _score(question: Mapping[str, Any], instructions: str) -> _Read:
    path = ("criteria",)
    criteria = member(question, "criteria")
    if not isinstance(criteria, list):
        message = f"'criteria' of a score must be an array of levels, not {shown(criteria)}"
        raise Fault(path, message, "type", found=criteria)
    if not criteria:
        raise Fault(path, "'criteria' of a score must have at least 1 level", "too_few")
    if len(criteria) > MAX_LEVELS:
        message = f"Too many score levels. Must have at most {MAX_LEVELS} levels."
        raise Fault(path, message, "too_many")
    field = score_field(
        instructions, [_text(each, (*path, at)) for at, each in enumerate(criteria)]
    )

    def read(response: Response) -> dict[str, Any]:
        scored = score_of(field, response)
        return {
            "score": scored.score,
            "confidence": scored.confidence,
            "legend": {str(level): text for level, text in enumerate(criteria)},
            "probabilities": {str(level): p for level, p in enumerate(scored.probabilities)},
        }

    return field, read


def _extract(question: Mapping[str, Any], instructions: str) -> _Read:
    _check_asks(instructions)
    field = extract_field(question, instructions)
    return field, partial(extracted_of, field)


def _generate(question: Mapping[str, Any], instructions: str) -> _Read:
    _check_asks(instructions)
    field = generate_field(question, instructions)
    return field, partial(generated_of, field)


_READERS: dict[str, Callable[[Mapping[str, Any], str], _Read]] = {
    "noul": _noul,
    "choice": _choice,
    "score": _score,
    "extract": _extract,
    "generate": _generate,
}


def _check_asks(instructions: str) -> None:
    if not instructions:
        message = "'instructions' are missing; say what is asked"
        raise Fault(("instructions",), message, "missing")


def _text(value: object, path: Path) -> str:
    """Return a text as the model reads it, which may be given as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, (Mapping, list)):
        return dump(value)
    message = f"a text must be a string, an object or an array, not {shown(value)}"
    raise Fault(path, message, "type", found=value)


def _text_or_null(value: object, path: Path) -> str:
    return "" if value is None else _text(value, path)
