"""Findings: each field of a response beside what was asked, ready to be shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deg_schema import FieldPlan, JsonScalar, compile_schema

__all__ = ["Bar", "Finding", "findings", "visible"]

_REASONS = {
    "not_found": "nothing in the document says it",
    "unparsable": "what stands there cannot be read as this type",
}
_MODES = {
    "decide.choice": "choice",
    "decide.score": "score",
    "decide.noul": "yes-no",
    "extract.number": "number",
    "extract.date": "date",
    "extract.span": "text",
    "generate": "written",
}
# what a terminal would obey and a browser would drop: shown as a picture of itself
_CONTROLS = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n\r"}
_CONTROLS |= {127: 0x2421, **dict.fromkeys(range(128, 160), 0xFFFD)}


@dataclass(frozen=True, slots=True)
class Bar:
    """One outcome of a decision, with its probability."""

    label: str
    note: str | None
    probability: float
    is_answer: bool


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one field.

    Args:
        is_present: The value holds the field, be it as null.
        sureness: The probability of a decision, or the confidence of an extraction.
        reason: Why there is no value, in words.
    """

    field: FieldPlan
    value: JsonScalar
    is_present: bool
    sureness: float | None
    span: tuple[int, int] | None
    bars: tuple[Bar, ...]
    reason: str | None
    assumed_offset: bool

    @property
    def name(self) -> str:
        """The property names from the root."""
        return " › ".join(visible(name) for name in self.field.path)

    @property
    def mode(self) -> str:
        """The mode in a word."""
        return _MODES[self.field.mode]

    @property
    def is_decision(self) -> bool:
        """Whether the value is an outcome of a list, and no text of the document."""
        return self.field.mode.startswith("decide")

    @property
    def answer_note(self) -> str | None:
        """What the schema says of the outcome that was decided for."""
        return next((bar.note for bar in self.bars if bar.is_answer), None)

    @property
    def shown_value(self) -> str:
        """The value as one reads it: a text without quotes, anything else as JSON."""
        return _shown(self.value) if self.is_present else "left out"


def findings(response: Mapping[str, Any], schema: Mapping[str, Any]) -> list[Finding]:
    """Pair each field of *schema* with what *response* says of it, in schema order."""
    plan = compile_schema(schema)
    return [
        _finding(field, response["value"], response["meta"][field.pointer]) for field in plan.fields
    ]


def visible(text: str) -> str:
    """Spell control characters as pictures of themselves, so that nothing obeys them."""
    # the name of a file may hold what cannot be encoded
    return text.encode(errors="replace").decode().translate(_CONTROLS)


def _finding(field: FieldPlan, value: Any, meta: Mapping[str, Any]) -> Finding:
    is_present = True
    for name in field.path:
        is_present = is_present and isinstance(value, dict) and name in value
        value = value[name] if is_present else None
    span = meta.get("span")
    reason = meta.get("null_reason")
    return Finding(
        field=field,
        value=value,
        is_present=is_present,
        sureness=_sureness(field, value, meta),
        span=(span[0], span[1]) if span else None,
        bars=tuple(_bars(field, value, meta)),
        reason=_worded(reason, meta.get("null_detail")) if reason else None,
        assumed_offset=meta.get("assumed_offset", False),
    )


def _sureness(field: FieldPlan, value: JsonScalar, meta: Mapping[str, Any]) -> float | None:
    if field.mode == "decide.noul":
        probability: float = meta["probability"]
        return probability if value else 1 - probability
    sureness: float | None = meta.get("probability", meta.get("confidence"))
    return sureness


def _bars(field: FieldPlan, value: JsonScalar, meta: Mapping[str, Any]) -> Iterator[Bar]:
    if field.mode == "decide.noul":
        yes = meta["probability"]
        yield Bar("true", None, yes, value is True)
        yield Bar("false", None, 1 - yes, value is False)
    if "probabilities" not in meta:
        return
    labels: list[JsonScalar] = [*field.options, *field.levels, *[None] * field.null_outcome]
    notes = [*field.option_descriptions, *field.level_labels, *[None] * field.null_outcome]
    best = meta["probabilities"].index(max(meta["probabilities"]))
    for index, probability in enumerate(meta["probabilities"]):
        note = notes[index] if index < len(notes) else None
        yield Bar(_shown(labels[index]), note, probability, index == best)


def _worded(reason: str, detail: str | None) -> str:
    words = _REASONS.get(reason, f"what stands there breaks '{reason}'")
    return f"{words} ({detail.replace('_', ' ')})" if detail else words


def _shown(value: JsonScalar) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return visible(text)
