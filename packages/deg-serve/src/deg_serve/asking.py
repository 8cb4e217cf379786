"""Questions as properties of one schema, and what its fill says back: the table of contract 9.1.

The name of a property says nothing that is not in the question: it is the first words of the
instructions, and a digest of the whole question. So an answer depends on neither the id of its
question nor the other questions nor their order, and two questions that are the same have the same
answer. Options of a choice are asked in the order of their names for the same reason: what the
order of a JSON object is must not matter. Levels with labels are asked from the lowest and from the
highest, and the answer is the mean: which end of a scale comes first must not matter either.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from deg_schema import SchemaError, compile_schema, confidence_of
from deg_serve.faults import Fault, text_or_null
from deg_serve.json_body import dump

__all__ = [
    "EXTRACT_MEMBERS",
    "GENERATE_MEMBERS",
    "Chosen",
    "Field",
    "Scored",
    "choice_field",
    "choice_of",
    "extract_field",
    "extracted_of",
    "generate_field",
    "generated_of",
    "noul_field",
    "noul_of",
    "schema_of",
    "score_field",
    "score_of",
]

Response: TypeAlias = Mapping[str, Any] | None

_VALUE_TYPES: dict[str, dict[str, Any]] = {
    "string": {"type": ["string", "null"]},
    "number": {"type": ["number", "null"]},
    "integer": {"type": ["integer", "null"]},
    **{
        format: {"type": ["string", "null"], "format": format}
        for format in ("date", "date-time", "email", "uri", "uuid")
    },
}
_LIMITS = ("pattern", "minLength", "maxLength")

EXTRACT_MEMBERS = ("value_type", *_LIMITS)
"""What an `extract` may say besides what every question does."""
GENERATE_MEMBERS = ("max_tokens", *_LIMITS)
"""What a `generate` may say."""

# how the part of a question is called whose words a keyword of its field carries
_PARTS = {**{limit: limit for limit in _LIMITS}, "x-max-tokens": "max_tokens"}
_NAME_WORDS, _NAME_LETTERS, _DIGEST_LETTERS = 8, 48, 8


@dataclass(frozen=True, slots=True)
class Field:
    """A question as a property.

    Attributes:
        name: Of the property.
        schema: Of the property; `None` where a question has one possible answer.
        order: Of a choice: for each option of the question its place among those of the schema.
        mirrored: Of a score: the same question, its levels from the highest.
    """

    name: str
    schema: Mapping[str, Any] | None
    order: tuple[int, ...] = ()
    mirrored: Field | None = None

    def find(self, response: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
        """Return the value and the meta that a response has for it."""
        # a name needs no escape in a pointer
        return response["value"].get(self.name), response["meta"][f"/{self.name}"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The answer to a choice: the probabilities of the options and which is the likeliest."""

    probabilities: tuple[float, ...]
    best: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Scored:
    """The answer to a score: the probabilities of the levels and the level to expect."""

    probabilities: tuple[float, ...]
    score: float
    confidence: float


def schema_of(fields: Iterable[Field]) -> dict[str, Any] | None:
    """Return the schema that asks all questions, or `None` where there is nothing to ask.

    Raises:
        Fault: A question is outside of what can be filled; its path begins with the number of the
            question.
    """
    fields = list(fields)
    asked = {
        each.name: each.schema
        for field in fields
        for each in (field, field.mirrored)
        if each is not None and each.schema is not None
    }
    if not asked:
        return None
    # in the order of the names, for a text that is written reads what was decided in this order
    schema = {"type": "object", "properties": {name: asked[name] for name in sorted(asked)}}
    try:
        compile_schema(schema)
    except SchemaError as error:
        names = [field.name for field in fields]
        problem = error.problems[0]
        _, _, name, *rest = f"{problem.loc}//".split("/")
        path = (names.index(name),) if name in names else ()
        part = _PARTS.get(rest[0])
        raise Fault((*path, part) if path and part else path, problem.msg) from None
    return schema


def noul_field(instructions: str, *, yes: str = "", no: str = "") -> Field:
    """Ask whether something is so.

    Args:
        instructions: The question.
        yes: What it means to say yes.
        no: What it means to say no.
    """
    lines = [instructions, yes and f"Yes means: {yes}", no and f"No means: {no}"]
    return _field({"type": "boolean"}, "\n".join(filter(None, lines)))


def choice_field(instructions: str, options: Sequence[tuple[str | bool, str]]) -> Field:
    """Ask for one of *options*, each a value and its description, which may be empty."""
    if len(options) == 1:
        return Field("", None, (0,))
    # JSON keeps "true" and true apart, and Python compares no text with a boolean
    places = sorted(range(len(options)), key=lambda at: (str(type(options[at][0])), options[at][0]))
    order = tuple(places.index(at) for at in range(len(options)))
    ordered = [options[at] for at in places]
    if any(description for _, description in options):
        schema: dict[str, Any] = {"oneOf": [_branch(*option) for option in ordered]}
    else:
        schema = {"enum": [value for value, _ in ordered]}
    return _field(schema, instructions, order)


def score_field(instructions: str, labels: Sequence[str]) -> Field:
    """Ask for a level; *labels* are what they mean, the lowest first."""
    if len(labels) == 1:
        return Field("", None)
    field = _scale_field(instructions, labels)
    return (
        replace(field, mirrored=_scale_field(instructions, labels[::-1])) if any(labels) else field
    )


def _scale_field(instructions: str, labels: Sequence[str]) -> Field:
    schema: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": len(labels) - 1}
    if levels := {str(level): label for level, label in enumerate(labels) if label}:
        schema["x-levels"] = levels
    return _field(schema, instructions)


def extract_field(question: Mapping[str, Any], instructions: str) -> Field:
    """Ask for a value that is written in the document, null where it is not.

    Raises:
        Fault: The question has no such type of value.
    """
    value_type = text_or_null(question, "value_type", among=_VALUE_TYPES) or "string"
    schema = {**_VALUE_TYPES[value_type], **_limits(question)}
    return _field(schema, instructions)


def generate_field(question: Mapping[str, Any], instructions: str) -> Field:
    """Ask for a text that is written anew."""
    schema = {"type": "string", "x-generate": True, **_limits(question)}
    if (max_tokens := question.get("max_tokens")) is not None:
        schema["x-max-tokens"] = max_tokens
    return _field(schema, instructions)


def noul_of(field: Field, response: Response) -> float:
    """Return how likely it is so."""
    assert response is not None
    _, meta = field.find(response)
    return float(meta["probability"])


def choice_of(field: Field, response: Response) -> Chosen:
    """Return the answer to a choice, its options in the order of the question."""
    if field.schema is None:
        return Chosen((1.0,), 0, 1.0)
    assert response is not None
    _, meta = field.find(response)
    asked = meta["probabilities"]
    # where two are as likely, which one is told must not depend on the order of the question
    best = field.order.index(asked.index(max(asked)))
    probabilities = tuple(asked[place] for place in field.order)
    return Chosen(probabilities, best, max(0.0, confidence_of(asked)))


def score_of(field: Field, response: Response) -> Scored:
    """Return the answer to a score."""
    if field.schema is None:
        return Scored((1.0,), 0.0, 1.0)
    assert response is not None
    _, meta = field.find(response)
    probabilities = tuple(meta["probabilities"])
    if field.mirrored is not None:
        _, other = field.mirrored.find(response)
        pairs = zip(probabilities, reversed(other["probabilities"]), strict=True)
        probabilities = tuple((one + same) / 2 for one, same in pairs)
    score = sum(level * share for level, share in enumerate(probabilities))
    return Scored(probabilities, score, _score_confidence(probabilities))


def extracted_of(field: Field, response: Response) -> dict[str, Any]:
    """Return what was found in the document: value, span, confidence, and why it is null."""
    assert response is not None
    value, meta = field.find(response)
    found = {"value": value, "span": meta["span"], "confidence": meta["confidence"]}
    return found | ({"null_reason": meta["null_reason"]} if "null_reason" in meta else {})


def generated_of(field: Field, response: Response) -> dict[str, Any]:
    """Return the text that was written, and how many tokens it has."""
    assert response is not None
    value, meta = field.find(response)
    return {"text": value, "output_tokens": meta["generated_tokens"]}


def _field(schema: dict[str, Any], description: str, order: tuple[int, ...] = ()) -> Field:
    if description:
        schema = {"description": description, **schema}
    return Field(_name_of(schema, description), schema, order)


def _name_of(schema: Mapping[str, Any], description: str) -> str:
    digest = hashlib.sha256(dump(schema).encode()).hexdigest()[:_DIGEST_LETTERS]
    words = re.findall(r"\w+", description.lower()[:_NAME_LETTERS])[:_NAME_WORDS]
    return "_".join([*(words or ["question"]), digest])


def _branch(value: str | bool, description: str) -> dict[str, Any]:
    return {"const": value, **({"description": description} if description else {})}


def _limits(question: Mapping[str, Any]) -> dict[str, Any]:
    return {name: question[name] for name in _LIMITS if question.get(name) is not None}


def _score_confidence(probabilities: Sequence[float]) -> float:
    """Measure how near to its likeliest level the weight is, against an even spread."""
    count = len(probabilities)
    mode = probabilities.index(max(probabilities))
    distance = sum(share * abs(level - mode) for level, share in enumerate(probabilities))
    even = sum(abs(level - (count - 1) / 2) for level in range(count)) / count
    return max(0.0, 1 - distance / even)
