"""Schemas that speak of one value from several places: `allOf`, and what stands beside `$ref`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deg_schema.adaptation import Adaptation
from deg_schema.json_values import clip
from deg_schema.keyword_rules import drop_unknown
from deg_schema.keywords import ANNOTATIONS
from deg_schema.limits import MAX_DEPTH
from deg_schema.merging import Conflict, merge_within

__all__ = ["merge_all"]


def merge_all(
    adaptation: Adaptation, schema: dict[str, Any], loc: str
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Merge the branches of `allOf`, and what `$ref` names, into one schema.

    The places of what the references name come with it.

    Raises:
        Conflict: No single schema says what they say together.
    """
    branches = schema.get("allOf", [])
    own = {keyword: value for keyword, value in schema.items() if keyword != "allOf"}
    if branches and isinstance(branches, list) and len(branches) == 1 and own.keys() <= ANNOTATIONS:
        [only] = branches
        if isinstance(only, dict) and only.keys() <= ANNOTATIONS | {"$ref"} and "$ref" in only:
            adaptation.note(f"{loc}/allOf", "'allOf' of one '$ref' is written without it")
            return {**only, **own}, ()
    num_notes = len(adaptation.notes)
    places: list[str] = []
    try:
        [outer, *others] = _parts(adaptation, schema, loc, (), places)
        merged = merge_within(outer, others)
    except Conflict:
        adaptation.forget(num_notes)
        raise
    if "allOf" in schema:
        adaptation.note(f"{loc}/allOf", "'allOf' is merged into the schema around it")
    if "$ref" in schema:
        adaptation.note(f"{loc}/$ref", "'$ref' is merged with what stands beside it")
    return merged, tuple(places)


def _parts(
    adaptation: Adaptation,
    schema: dict[str, Any],
    loc: str,
    around: tuple[str, ...],
    places: list[str],
) -> Iterator[dict[str, Any]]:
    adaptation.count()
    if len(around) > MAX_DEPTH:
        raise Conflict("it is too deep")
    schema = drop_unknown(adaptation, schema, loc)
    yield {keyword: value for keyword, value in schema.items() if keyword not in ("allOf", "$ref")}
    if "$ref" in schema:
        found = adaptation.target(schema["$ref"])
        if found is None:
            raise Conflict(f"'$ref' {clip(schema['$ref'])} is not found")
        target, place = found
        if place in around or adaptation.is_around(place, loc):
            adaptation.is_recursive = True
            raise Conflict(f"'$ref' {clip(schema['$ref'])} is recursive")
        # what is named twice is said once
        if place not in places:
            places.append(place)
            yield from _parts(adaptation, target, place, (*around, place), places)
    branches = schema.get("allOf", [])
    if not isinstance(branches, list):
        raise Conflict("'allOf' is no array")
    for index, branch in enumerate(branches):
        if isinstance(branch, dict):
            place = f"{loc}/allOf/{index}"
            yield from _parts(adaptation, branch, place, (*around, place), places)
        elif branch is not True:
            raise Conflict(f"a branch of 'allOf' is {clip(branch)}")
