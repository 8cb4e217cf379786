"""The branches of a union, made ready to stand alone."""

from __future__ import annotations

from typing import Any

from deg_schema.adaptation import Adaptation
from deg_schema.keywords import ANNOTATIONS
from deg_schema.merging import Conflict, merge_within

__all__ = ["is_constant", "is_null", "prepared", "without_endless"]


def prepared(
    adaptation: Adaptation, keyword: str, given: list[Any], siblings: dict[str, Any], place: str
) -> list[dict[str, Any]]:
    """Return the branches as schemas that stand alone, or none where that cannot be."""
    given = _without_booleans(adaptation, given, place)
    if not all(isinstance(branch, dict) for branch in given):
        return []
    if keyword == "anyOf":
        given = _flattened(adaptation, given, place)
    if siblings and not (siblings.keys() == {"type"} and all(map(is_constant, given))):
        given = _distributed(adaptation, keyword, given, siblings, place)
    return given


def without_endless(
    adaptation: Adaptation, branches: list[dict[str, Any]], place: str
) -> list[dict[str, Any]]:
    """Leave out the branches that must hold a schema around them."""
    kept = []
    for index, branch in enumerate(branches):
        if adaptation.is_endless(branch, f"{place}/{index}"):
            what = "it is recursive; write out the levels you need"
            adaptation.note(f"{place}/{index}", f"the branch is dropped: {what}")
        else:
            kept.append(branch)
    return kept or branches


def is_constant(branch: dict[str, Any]) -> bool:
    """Say whether a branch lists its values."""
    return "const" in branch or "enum" in branch


def is_null(branch: dict[str, Any]) -> bool:
    """Say whether a branch is null and nothing else."""
    return branch.get("type") == "null" and branch.keys() <= ANNOTATIONS | {"type"}


def _without_booleans(adaptation: Adaptation, given: list[Any], place: str) -> list[Any]:
    if adaptation.draft == 4:
        return given
    for index, branch in enumerate(given):
        if branch is False:
            adaptation.note(f"{place}/{index}", "the branch is dropped: it admits no value")
    return [{} if branch is True else branch for branch in given if branch is not False]


def _flattened(
    adaptation: Adaptation, branches: list[dict[str, Any]], place: str
) -> list[dict[str, Any]]:
    flat: list[dict[str, Any]] = []
    for index, branch in enumerate(branches):
        inner = branch.get("anyOf")
        is_plain = branch.keys() <= {"anyOf", "title", "description"} and isinstance(inner, list)
        if is_plain and inner and all(isinstance(one, dict) for one in inner):
            adaptation.note(f"{place}/{index}", "the union within the union is written into it")
            flat += inner
        else:
            flat.append(branch)
    return flat


def _distributed(
    adaptation: Adaptation,
    keyword: str,
    given: list[dict[str, Any]],
    siblings: dict[str, Any],
    place: str,
) -> list[dict[str, Any]]:
    """Write what stands beside the union into each branch; drop those that it rules out."""
    adaptation.note(place, "what stands beside the union is written into each branch")
    branches = []
    for index, branch in enumerate(given):
        # what stands beside the union sees what the branch says, and not the other way round
        both = {**siblings, "allOf": [*siblings.get("allOf", []), branch]}
        if "$ref" in branch or "allOf" in branch:
            branches.append(both)
            continue
        try:
            branches.append(merge_within(siblings, [branch]))
        except Conflict as conflict:
            if keyword == "anyOf" or conflict.is_empty:
                adaptation.note(f"{place}/{index}", f"the branch is dropped: {conflict}")
            else:
                branches.append(both)
    return branches
