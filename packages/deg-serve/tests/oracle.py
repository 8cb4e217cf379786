"""An engine of no model: it fills any schema, and what it says can be told from the words alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from deg_schema import (
    Decided,
    DegError,
    Extracted,
    FieldPlan,
    Generated,
    Missing,
    Options,
    Outcome,
    assemble,
    compile_schema,
)

__all__ = ["Oracle", "golden_fill"]

_WORD = re.compile(r"\w+")


class Oracle:
    """Finds likely what stands in the document, and keeps what it was asked."""

    model_id = "deg-stand-in"

    def __init__(self) -> None:
        self.asked: list[tuple[str, Mapping[str, Any], Options]] = []

    def fill(
        self, context: str, schema: Mapping[str, Any], options: Options | None = None
    ) -> dict[str, Any]:
        """Fill one schema."""
        self.asked.append((context, schema, options or Options()))
        plan = compile_schema(schema)
        outcomes = {field.pointer: _outcome(field, context) for field in plan.fields}
        return assemble(
            plan,
            schema,
            outcomes,
            model=self.model_id,
            prompt_tokens=len(context.split()) + 8 * len(outcomes),
            cached_tokens=len(context.split()),
        )

    def fill_many(
        self, requests: Sequence[tuple[str, Mapping[str, Any], Options]]
    ) -> list[dict[str, Any] | DegError]:
        """Fill each schema."""
        return [self.fill(*request) for request in requests]


def golden_fill(context: str, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the response to a fill that the golden answers of the decision APIs come from."""
    assert schema is not None
    start = context.index("4471")
    outcomes: dict[str, Outcome] = {
        "decide.noul": Decided((0.9375, 0.0625)),
        "extract.number": Extracted(4471, (start, start + 4), 0.875),
        "generate": Generated("We refund the second charge today.", 8),
    }
    plan = compile_schema(schema)
    shares = {2: (0.875, 0.125), 3: (0.125, 0.75, 0.125)}
    return assemble(
        plan,
        schema,
        {
            field.pointer: outcomes.get(field.mode)
            or (_urgency(field) if field.levels else Decided(shares[len(field.options)]))
            for field in plan.fields
        },
        model=Oracle.model_id,
        prompt_tokens=180,
        cached_tokens=64,
    )


def _urgency(field: FieldPlan) -> Decided:
    return Decided(tuple(0.25 if label == "can wait" else 0.75 for label in field.level_labels))


def _outcome(field: FieldPlan, context: str) -> Outcome:
    if field.mode == "generate":
        return Generated("Thank you for your message.", 6)
    if field.mode.startswith("extract"):
        found = re.search(r"[0-9]+", context)
        if found is None:
            return Missing("not_found", 0.75)
        value = int(found[0]) if field.type in ("integer", "number") else found[0]
        return Extracted(value, found.span(), 0.875)
    if field.mode == "decide.noul":
        share = _share(field.description or "", context)
        return Decided((share, 1 - share))
    if field.mode == "decide.score":
        labels = zip(field.levels, field.level_labels, strict=True)
        return _decided([f"{level} {label or ''}" for level, label in labels], context)
    described = zip(field.options, field.option_descriptions, strict=True)
    return _decided([f"{option} {text or ''}" for option, text in described], context)


def _decided(texts: Sequence[str], context: str) -> Decided:
    # no two texts weigh the same, so that an answer can be told from its neighbour's
    weights = [_share(text, context) + sum(map(ord, text)) / 1e6 for text in texts]
    return Decided(tuple(weight / sum(weights) for weight in weights))


def _share(text: str, context: str) -> float:
    """Return how many of the words of *text* stand in *context*, never none and never all."""
    words = _WORD.findall(text.lower())
    known = set(_WORD.findall(context.lower()))
    return (1 + sum(word in known for word in words)) / (2 + len(words))
