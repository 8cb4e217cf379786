"""The questions of a decision: each read as a field, and its answer in that API's shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from deg_serve.asking import (
    EXTRACT_MEMBERS,
    GENERATE_MEMBERS,
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
from deg_serve.decision_input import render_parts
from deg_serve.faults import (
    Fault,
    Path,
    check_members,
    list_at,
    mapping_at,
    member,
    text_at,
    text_or_null,
)

__all__ = ["MAX_CHOICES", "MAX_LEVELS", "MAX_QUESTIONS", "DecisionQuestion", "read_questions"]

MAX_QUESTIONS = 400
MAX_CHOICES = 255
MAX_LEVELS = 10

_PARTS = ("input_text", "input_image", "input_json")


@dataclass(frozen=True, slots=True)
class DecisionQuestion:
    """A question, and how the fill of its field becomes its answer."""

    kind: str
    name: str | None
    field: Field
    read: Callable[[Response], dict[str, Any]]

    def answer(self, response: Response) -> dict[str, Any]:
        """Return the answer, from the response of the fill."""
        return {"type": self.kind, "name": self.name, **self.read(response)}


def read_questions(value: object) -> list[DecisionQuestion]:
    """Read the `questions` of a request.

    Raises:
        Fault: They are not in order; its path leads from the request.
    """
    listed = list_at(value, ("questions",), "'questions'", least=1, most=MAX_QUESTIONS)
    questions, seen = [], set()
    for index, each in enumerate(listed):
        path = ("questions", index)
        question = mapping_at(each, path, "a question")
        try:
            questions.append(_question(question))
        except Fault as fault:
            raise fault.within(path) from None
        name = questions[-1].name
        if name is not None and name in seen:
            raise Fault((*path, "name"), f"two questions have the name {name!r}; names are unique")
        seen.add(name)
    return questions


def _question(question: Mapping[str, Any]) -> DecisionQuestion:
    kind = text_at(question, "type", among=tuple(_READERS))
    own, read = _READERS[kind]
    check_members(question, ("type", "name", "instructions", *own))
    name = text_or_null(question, "name")
    content = member(question, "instructions")
    instructions = render_parts(content, ("instructions",), _PARTS, what="'instructions'")
    if not instructions.strip():
        raise Fault(("instructions",), "'instructions' are empty; say what is asked")
    field, answer = read(question, instructions)
    return DecisionQuestion(kind, name, field, answer)


_Read = tuple[Field, Callable[[Response], dict[str, Any]]]


def _predicate(_question: Mapping[str, Any], instructions: str) -> _Read:
    field = noul_field(instructions)
    return field, lambda response: {"probability": noul_of(field, response)}


def _choice(question: Mapping[str, Any], instructions: str) -> _Read:
    path = ("choices",)
    listed = list_at(member(question, "choices"), path, "'choices'", least=2, most=MAX_CHOICES)
    options = [_option(each, (*path, at)) for at, each in enumerate(listed)]
    seen: set[tuple[type, str | bool]] = set()
    for at, (value, _) in enumerate(options):
        if (type(value), value) in seen:
            raise Fault(
                (*path, at, "value"), f"the value {value!r} stands twice; values are unique"
            )
        seen.add((type(value), value))
    field = choice_field(instructions, options)

    def answer(response: Response) -> dict[str, Any]:
        chosen = choice_of(field, response)
        shares = zip(options, chosen.probabilities, strict=True)
        return {
            "choice": options[chosen.best][0],
            "confidence": chosen.confidence,
            "probabilities": [{"value": value, "probability": p} for (value, _), p in shares],
        }

    return field, answer


def _option(choice: object, path: Path) -> tuple[str | bool, str]:
    choice = mapping_at(choice, path, "a choice")
    value = member(choice, "value", path)
    if not isinstance(value, (str, bool)):
        raise Fault((*path, "value"), "'value' must be a string or a boolean", "type", found=value)
    return value, text_or_null(choice, "description", path) or ""


def _score(question: Mapping[str, Any], instructions: str) -> _Read:
    path = ("levels",)
    listed = list_at(member(question, "levels"), path, "'levels'", least=2, most=MAX_LEVELS)
    levels = [_level(each, (*path, at)) for at, each in enumerate(listed)]
    field = score_field(instructions, [": ".join(filter(None, level)) for level in levels])

    def answer(response: Response) -> dict[str, Any]:
        scored = score_of(field, response)
        return {
            "score": scored.score,
            "confidence": scored.confidence,
            "probabilities": [
                {"value": at, "label": levels[at][0], "probability": p}
                for at, p in enumerate(scored.probabilities)
            ],
        }

    return field, answer


def _level(level: object, path: Path) -> tuple[str, str]:
    level = mapping_at(level, path, "a level")
    return text_at(level, "label", path), text_or_null(level, "description", path) or ""


def _extract(question: Mapping[str, Any], instructions: str) -> _Read:
    field = extract_field(question, instructions)
    return field, partial(extracted_of, field)


def _generate(question: Mapping[str, Any], instructions: str) -> _Read:
    field = generate_field(question, instructions)
    return field, partial(generated_of, field)


_READERS: dict[str, tuple[tuple[str, ...], Callable[[Mapping[str, Any], str], _Read]]] = {
    "predicate": ((), _predicate),
    "choice": (("choices",), _choice),
    "score": (("levels",), _score),
    "extract": (EXTRACT_MEMBERS, _extract),
    "generate": (GENERATE_MEMBERS, _generate),
}
