"""Responses: the outcomes of every field, assembled into a value that its schema admits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from deg_schema.errors import FillError
from deg_schema.outcomes import Decided, Extracted, Generated, Missing, Outcome, confidence_of
from deg_schema.plan import FieldPlan, FillPlan, JsonScalar, ObjectPlan
from deg_schema.validate import check_value

__all__ = ["assemble"]


def assemble(
    plan: FillPlan,
    schema: Mapping[str, Any],
    outcomes: Mapping[str, Outcome],
    *,
    model: str,
    prompt_tokens: int,
) -> dict[str, Any]:
    """Build the response to a fill from the outcome of each field, keyed by pointer.

    Raises:
        FillError: An outcome is missing or of the wrong sort, a required field has no value, or
            the value is not valid against *schema*.
    """
    pairs = _match(plan, outcomes)
    value = _value(plan, pairs)
    check_value(value, schema)
    generated = sum(out.num_tokens for _, out in pairs if isinstance(out, Generated))
    return {
        "model": model,
        "value": value,
        "meta": {field.pointer: _meta_of(field, outcome) for field, outcome in pairs},
        "usage": {"prompt_tokens": prompt_tokens, "generated_tokens": generated},
        "plan": plan.fingerprint,
    }


def _match(plan: FillPlan, outcomes: Mapping[str, Outcome]) -> list[tuple[FieldPlan, Outcome]]:
    pairs = []
    for field in plan.fields:
        outcome = outcomes.get(field.pointer)
        if outcome is None:
            raise FillError("the field has no outcome", field.pointer)
        _check_outcome(field, outcome)
        pairs.append((field, outcome))
    unknown = outcomes.keys() - {field.pointer for field in plan.fields}
    if unknown:
        raise FillError("the outcome belongs to no field", min(unknown))
    return pairs


def _check_outcome(field: FieldPlan, outcome: Outcome) -> None:
    family = field.mode.partition(".")[0]
    expected = {
        "decide": (Decided,),
        "extract": (Extracted, Missing),
        "generate": (Generated,),
    }[family]
    if not isinstance(outcome, expected):
        name = type(outcome).__name__
        raise FillError(f"{name} is no outcome of mode {field.mode!r}", field.pointer)
    if isinstance(outcome, Decided):
        _check_probabilities(field, outcome.probabilities)
    elif isinstance(outcome, (Extracted, Missing)) and not math.isfinite(outcome.confidence):
        raise FillError(f"the confidence is {outcome.confidence}", field.pointer)


def _check_probabilities(field: FieldPlan, probabilities: tuple[float, ...]) -> None:
    if len(probabilities) != field.num_outcomes:
        raise FillError(
            f"{len(probabilities)} probabilities for {field.num_outcomes} outcomes", field.pointer
        )
    if not all(0 <= probability <= 1.0001 for probability in probabilities):
        raise FillError("a probability is not between 0 and 1", field.pointer)


def _is_absent(nested: ObjectPlan, pairs: Sequence[tuple[FieldPlan, Outcome]]) -> bool:
    """Say whether an optional object is left out: nothing in it was found, nor may all be null."""
    below = pairs[nested.start : nested.stop]
    if nested.required or not below:
        return False
    rules = {field.on_null for field, outcome in below if isinstance(outcome, Missing)}
    is_empty = all(isinstance(outcome, Missing) for _, outcome in below)
    return is_empty and ("forbid" in rules or "null" not in rules)


def _value(plan: FillPlan, pairs: Sequence[tuple[FieldPlan, Outcome]]) -> dict[str, Any]:
    absent = {nested.path for nested in plan.objects if _is_absent(nested, pairs)}
    value: dict[str, Any] = {}
    objects = iter((*plan.objects, None))
    nested = next(objects)
    for index, (field, outcome) in enumerate(pairs):
        while nested is not None and nested.start <= index:
            _open(value, nested, absent)
            nested = next(objects)
        if not _is_under(field.path, absent):
            _write(value, field, outcome)
    while nested is not None:
        _open(value, nested, absent)
        nested = next(objects)
    return value


def _open(value: dict[str, Any], nested: ObjectPlan, absent: set[tuple[str, ...]]) -> None:
    if not _is_under(nested.path, absent):
        _holder(value, nested.path)[nested.path[-1]] = {}


def _is_under(path: tuple[str, ...], absent: set[tuple[str, ...]]) -> bool:
    return bool(absent) and any(path[:length] in absent for length in range(1, len(path) + 1))


def _holder(value: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    for name in path[:-1]:
        value = value[name]
    return value


def _write(value: dict[str, Any], field: FieldPlan, outcome: Outcome) -> None:
    if not isinstance(outcome, Missing):
        _holder(value, field.path)[field.path[-1]] = _value_of(field, outcome)
    elif field.on_null == "null":
        _holder(value, field.path)[field.path[-1]] = None
    elif field.on_null == "forbid":
        raise FillError(
            f"the field is required and its value is {outcome.reason!r}; "
            "make it nullable to get null instead",
            field.pointer,
        )


def _value_of(field: FieldPlan, outcome: Outcome) -> JsonScalar:
    if isinstance(outcome, Extracted):
        return outcome.value
    if isinstance(outcome, Generated):
        return outcome.text
    assert isinstance(outcome, Decided)
    if field.mode == "decide.noul":
        return outcome.probabilities[0] >= 0.5
    best = outcome.probabilities.index(max(outcome.probabilities))
    if field.mode == "decide.choice":
        return field.options[best]
    return field.levels[best] if best < len(field.levels) else None


def _meta_of(field: FieldPlan, outcome: Outcome) -> dict[str, Any]:
    meta: dict[str, Any] = {"mode": field.mode}
    if isinstance(outcome, Generated):
        return meta | {"generated_tokens": outcome.num_tokens}
    if isinstance(outcome, Decided):
        return meta | _meta_of_decision(field, outcome.probabilities)
    if isinstance(outcome, Extracted):
        meta |= {"confidence": outcome.confidence, "span": list(outcome.span)}
        return meta | ({"assumed_offset": True} if outcome.assumed_offset else {})
    meta |= {"confidence": outcome.confidence, "span": None, "null_reason": outcome.reason}
    return meta | ({"null_detail": outcome.detail} if outcome.detail is not None else {})


def _meta_of_decision(field: FieldPlan, probabilities: tuple[float, ...]) -> dict[str, Any]:
    if field.mode == "decide.noul":
        return {"probability": probabilities[0]}
    meta: dict[str, Any] = {
        "probability": max(probabilities),
        "confidence": confidence_of(probabilities),
        "probabilities": list(probabilities),
    }
    if field.mode == "decide.score":
        meta["expected"] = _expected_level(field.levels, probabilities)
    return meta


def _expected_level(levels: tuple[int, ...], probabilities: tuple[float, ...]) -> float | None:
    weights = probabilities[: len(levels)]
    total = math.fsum(weights)
    # all the weight on null leaves no level to expect
    if total == 0:
        return None
    pairs = zip(levels, weights, strict=True)
    return math.fsum(level * weight for level, weight in pairs) / total
