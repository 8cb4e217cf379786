"""Responses: the outcomes of every field, assembled into a value that its schema admits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from deg_schema.errors import FillError
from deg_schema.found import Found, FoundArray, FoundLeaf, FoundObject, gather, is_absent, lack_of
from deg_schema.outcomes import Decided, Extracted, Generated, Missing, Outcome, confidence_of
from deg_schema.plan import FieldPlan, FillPlan
from deg_schema.pointer import escape_token
from deg_schema.validate import check_value

__all__ = ["LEFT_OUT", "assemble", "meta_of", "meta_of_array", "value_of"]

# what a value is that is not there; null is a value
LEFT_OUT = object()


def assemble(
    plan: FillPlan,
    schema: Mapping[str, Any],
    outcomes: Mapping[str, Outcome],
    *,
    model: str,
    prompt_tokens: int,
    cached_tokens: int = 0,
) -> dict[str, Any]:
    """Build the response to a fill from the outcome of each field and array, keyed by pointer.

    An item that lacks a required value is dropped and those after it move up, so that a pointer of
    the response may have a smaller index than that of its outcome. A dropped item needs no texts.

    Args:
        plan: The plan of *schema*.
        schema: What the value is to be valid against.
        outcomes: Of each field and array, keyed by pointer.
        model: The name that the response carries.
        prompt_tokens: How many tokens were read.
        cached_tokens: How many of them had been read before.

    Raises:
        FillError: An outcome is missing or of the wrong sort, a required field has no value, an
            array has too few items, or the value is not valid against *schema*.
    """
    found = gather(plan, outcomes)
    if lack := lack_of(found):
        raise lack
    meta: dict[str, dict[str, Any]] = {}
    value = _write(found, "", meta)
    check_value(value, schema)
    return {
        "model": model,
        "value": value,
        "meta": meta,
        "usage": _usage(meta, prompt_tokens, cached_tokens),
        "plan": plan.fingerprint,
    }


def _usage(
    meta: Mapping[str, Mapping[str, Any]], prompt_tokens: int, cached_tokens: int
) -> dict[str, int]:
    generated = sum(each.get("generated_tokens", 0) for each in meta.values())
    usage = {"prompt_tokens": prompt_tokens, "generated_tokens": generated}
    return usage | ({"cached_tokens": cached_tokens} if cached_tokens else {})


def _write(found: Found, pointer: str, meta: dict[str, dict[str, Any]]) -> Any:
    """Return the value of *found*, and tell in *meta* how it came about."""
    if isinstance(found, FoundLeaf):
        if found.outcome is None:
            raise FillError("the field has no outcome", found.pointer)
        meta[pointer] = meta_of(found.field, found.outcome)
        return value_of(found.field, found.outcome)
    if isinstance(found, FoundArray):
        meta[pointer] = meta_of_array(found)
        items = enumerate(found.items)
        return [_write(item, f"{pointer}/{index}", meta) for index, item in items]
    return _write_object(found, pointer, meta)


def _write_object(found: FoundObject, pointer: str, meta: dict[str, dict[str, Any]]) -> Any:
    members = {
        name: _write(member, f"{pointer}/{escape_token(name)}", meta)
        for name, member in found.members.items()
    }
    if is_absent(found):
        return LEFT_OUT
    return {name: value for name, value in members.items() if value is not LEFT_OUT}


def value_of(field: FieldPlan, outcome: Outcome) -> Any:
    """Return the value that *outcome* gives *field*, or `LEFT_OUT`."""
    if isinstance(outcome, Missing):
        return None if field.on_null == "null" else LEFT_OUT
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


def meta_of_array(found: FoundArray) -> dict[str, Any]:
    """Return what the response says of an array."""
    meta: dict[str, Any] = {"mode": "array", "items": len(found.items)}
    if found.num_dropped:
        meta["dropped"] = found.num_dropped
    if found.limit is not None:
        meta["limit"] = found.limit
    return meta


def meta_of(field: FieldPlan, outcome: Outcome) -> dict[str, Any]:
    """Return what the response says of how *outcome* came about."""
    meta: dict[str, Any] = {"mode": field.mode}
    if isinstance(outcome, Generated):
        return meta | {"generated_tokens": outcome.num_tokens}
    if isinstance(outcome, Decided):
        return meta | _meta_of_decision(field, outcome.probabilities)
    if isinstance(outcome, Extracted):
        meta |= {"confidence": outcome.confidence, "span": list(outcome.span)}
        return meta | ({"assumed_offset": True} if outcome.assumed_offset else {})
    assert isinstance(outcome, Missing)
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
