"""The one home of the questions that the model reads, one a fork; a trunk's text is its family's.

A fork's text follows from its field alone (contract 12.1), so a field's numbers cannot depend on
the schema around it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from deg_model.tokenizer import Tokenizer
from deg_schema import Constraints, FieldPlan

__all__ = ["Fork", "fork_of"]

_KINDS = {
    "decide.choice": "choose one option",
    "decide.score": "choose one level",
    "decide.noul": "yes or no",
    "extract.number": "number",
    "extract.date": "date",
    "extract.span": "text span",
}


@dataclass(frozen=True, slots=True)
class Fork:
    """One question as tokens.

    Attributes:
        ids: The tokens that continue the trunk; the answer is read at the last one.
        options: The position in `ids` of the last token of each option line, in plan order.
        head: Which head answers: `choice`, `score`, `noul` or `extract`.
    """

    ids: tuple[int, ...]
    options: tuple[int, ...]
    head: str


def fork_of(field: FieldPlan, tokenizer: Tokenizer) -> Fork:
    """Write the question of a decide or extract *field*."""
    ids = list(tokenizer.encode("\n".join(_header(field))))
    options = []
    outcomes = _outcomes(field)
    if outcomes:
        ids += tokenizer.encode("\nOPTIONS:")
        for outcome in outcomes:
            ids += tokenizer.encode(f"\n- {outcome}")
            options.append(len(ids) - 1)
    ids += tokenizer.encode("\nANSWER:")
    head = "extract" if field.mode.startswith("extract") else field.mode.removeprefix("decide.")
    return Fork(tuple(ids), tuple(options), head)


def _header(field: FieldPlan) -> list[str]:
    lines = [f"FIELD {field.pointer}"]
    if field.title:
        lines.append(f"TITLE {field.title}")
    if field.description:
        lines.append(f"DESCRIPTION {field.description}")
    kind = field.format if field.mode == "extract.span" and field.format else _KINDS[field.mode]
    if field.mode == "extract.date" and field.format == "date-time":
        kind = "date and time"
    lines.append(f"KIND {kind}")
    limits = _limits(field.constraints) if field.mode.startswith("extract") else ""
    if limits:
        lines.append(f"CONSTRAINTS {limits}")
    return lines


def _limits(constraints: Constraints) -> str:
    named = (
        ("minLength", constraints.min_length),
        ("maxLength", constraints.max_length),
        ("pattern", constraints.pattern),
        ("minimum", constraints.minimum),
        ("maximum", constraints.maximum),
        ("exclusiveMinimum", constraints.exclusive_minimum),
        ("exclusiveMaximum", constraints.exclusive_maximum),
        ("multipleOf", constraints.multiple_of),
    )
    return ", ".join(f"{name} {limit}" for name, limit in named if limit is not None)


def _outcomes(field: FieldPlan) -> list[str]:
    if field.mode == "decide.choice":
        return [
            _option(value, described)
            for value, described in zip(
                field.options,
                field.option_descriptions or (None,) * len(field.options),
                strict=True,
            )
        ]
    if field.mode == "decide.score":
        labels = field.level_labels or (None,) * len(field.levels)
        lines = [
            f"{level}: {label}" if label else str(level)
            for level, label in zip(field.levels, labels, strict=True)
        ]
        return [*lines, "null"] if field.null_outcome else lines
    return []


def _option(value: object, description: str | None) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{text}: {description}" if description else text
