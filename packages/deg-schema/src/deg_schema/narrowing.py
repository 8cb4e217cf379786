"""Unions that the contract does not take, narrowed to the one branch that it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from deg_schema.adaptation import Adaptation
from deg_schema.branches import is_constant, is_null, prepared, without_endless
from deg_schema.json_values import clip
from deg_schema.keywords import ANNOTATIONS, TYPE_KEYWORDS

__all__ = ["AdaptSchema", "narrow_type_list", "narrow_union"]

AdaptSchema: TypeAlias = Callable[[Adaptation, dict[str, Any], str, int], dict[str, Any]]

_NULL = {"type": "null"}
_NUMERIC = {"number", "integer"}
_TYPE_OF: dict[type, str] = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    dict: "object",
    list: "array",
    type(None): "null",
}


def narrow_type_list(
    adaptation: Adaptation, schema: dict[str, Any], loc: str, depth: int, adapt: AdaptSchema
) -> dict[str, Any]:
    """Narrow `type` with several types to the one that fits, nullable or not."""
    names = schema["type"]
    if len(set(names)) < len(names) or not TYPE_KEYWORDS.keys() - {"any"} >= set(names) - {"null"}:
        return schema
    outer = {keyword: value for keyword, value in schema.items() if keyword in ANNOTATIONS}
    branches = [_of_type(schema, name) for name in names]
    union = {**outer, "anyOf": branches}
    num_notes = len(adaptation.notes)
    narrowed = narrow_union(adaptation, union, loc, depth, adapt, written_as="type")
    if "anyOf" not in narrowed:
        return narrowed
    [first, *rest] = [branch for branch in narrowed["anyOf"] if branch != _NULL]
    if rest or not isinstance(first.get("type"), str):
        adaptation.forget(num_notes)
        return schema
    return {**outer, **first, "type": [first["type"], "null"]}


def narrow_union(
    adaptation: Adaptation,
    schema: dict[str, Any],
    loc: str,
    depth: int,
    adapt: AdaptSchema,
    *,
    written_as: str | None = None,
) -> dict[str, Any]:
    """Adapt the branches of `anyOf` or `oneOf`, and choose one where the contract takes no union.

    Args:
        adapt: What adapts a branch.
        written_as: The keyword that the notes name in place of the union's.
    """
    keyword = "anyOf" if "anyOf" in schema else "oneOf"
    given = schema[keyword]
    if {"anyOf", "oneOf"} <= schema.keys() or not isinstance(given, list) or not given:
        return schema
    place = f"{loc}/{written_as or keyword}"
    num_notes = len(adaptation.notes)
    outer = {name: value for name, value in schema.items() if name in ANNOTATIONS}
    siblings = {name: value for name, value in schema.items() if name not in {*outer, keyword}}
    given = prepared(adaptation, keyword, given, siblings, place)
    if not given or (keyword == "oneOf" and _null_is_ambiguous(adaptation, given)):
        adaptation.forget(num_notes)
        return schema
    if siblings.keys() != {"type"} or not all(map(is_constant, given)):
        siblings = {}
    branches = [adapt(adaptation, branch, f"{place}/{i}", depth) for i, branch in enumerate(given)]
    if keyword == "anyOf":
        branches = without_endless(adaptation, branches, place)
    union = {**outer, **siblings, keyword: branches}
    if adaptation.fits(union):
        return union
    if _is_nullable_form(adaptation, branches):
        # the contract takes this union, and what it does not take is within the branch
        return union
    chosen = _choose(adaptation, keyword, given, branches)
    if chosen is None:
        adaptation.forget(num_notes)
        adaptation.refuse(place, "the union is left as it is: no one branch is to be chosen")
        return schema
    return _narrowed(adaptation, union, chosen, place)


def _narrowed(
    adaptation: Adaptation, union: dict[str, Any], chosen: dict[str, Any], place: str
) -> dict[str, Any]:
    keyword = "anyOf" if "anyOf" in union else "oneOf"
    outer = {name: value for name, value in union.items() if name != keyword}
    if len(union[keyword]) == 1:
        adaptation.note(place, "the union of one branch is written without it")
        return {**chosen, **outer}
    kind = adaptation.resolved(chosen).get("type")
    num_dropped = sum(branch not in (chosen, _NULL) for branch in map(_bare_null, union[keyword]))
    if num_dropped:
        what = clip(kind) if isinstance(kind, str) else "one branch"
        adaptation.note(place, f"the union is narrowed to {what}: {num_dropped} dropped")
    if not any(map(is_null, union[keyword])) or is_null(chosen):
        if not num_dropped:
            adaptation.note(place, "the branches of the union are alike: one is kept")
        return {**chosen, **outer}
    if kind in ("object", "array") or isinstance(kind, list):
        if isinstance(kind, str):
            adaptation.note(place, f"null is no answer for an {kind}: the null branch is dropped")
        return {**chosen, **outer}
    return {**outer, keyword: [chosen, dict(_NULL)]}


def _is_nullable_form(adaptation: Adaptation, branches: list[dict[str, Any]]) -> bool:
    others = [branch for branch in branches if not is_null(branch)]
    if len(branches) != 2 or len(others) != 1:
        return False
    return adaptation.resolved(others[0]).get("type") not in ("object", "array")


def _choose(
    adaptation: Adaptation,
    keyword: str,
    given: list[dict[str, Any]],
    branches: list[dict[str, Any]],
) -> dict[str, Any] | None:
    others = [branch for branch in branches if not is_null(branch)]
    if keyword == "anyOf":
        others = _different(others)
    if len(branches) == 1 or not others:
        return branches[0]
    if len(others) == 1:
        return others[0]
    fitting = [branch for branch in others if adaptation.fits(branch)]
    if keyword == "anyOf":
        fitting = _without_subsumed(adaptation, fitting)
    fitting = _of_first_family(adaptation, fitting)
    if len(fitting) != 1:
        return None
    if keyword == "oneOf" and not _is_apart(adaptation, branches.index(fitting[0]), given):
        return None
    return fitting[0]


def _without_subsumed(
    adaptation: Adaptation, branches: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Leave out what a plain branch admits as well: an integer beside number, a pattern."""
    resolved = [adaptation.resolved(branch) for branch in branches]
    plain = {_kind(schema) for schema in resolved if schema.keys() <= ANNOTATIONS | {"type"}}
    kept: list[dict[str, Any]] = []
    seen: set[str | None] = set()
    for branch, schema in zip(branches, resolved, strict=True):
        kind = _kind(schema)
        is_plain = schema.keys() <= ANNOTATIONS | {"type"}
        if (kind == "integer" and "number" in plain) or kind in seen:
            continue
        if kind in plain and not is_plain:
            continue
        kept.append(branch)
        if is_plain:
            seen.add(kind)
    return kept


def _of_first_family(
    adaptation: Adaptation, branches: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Of texts, numbers and lists keep what is written first: it is what the author thinks of."""
    kinds = [_kind(adaptation.resolved(branch)) for branch in branches]
    if not branches or not set(kinds) <= _NUMERIC | {"string", "array"}:
        return branches
    family = _NUMERIC if kinds[0] in _NUMERIC else {kinds[0]}
    return [branch for branch, kind in zip(branches, kinds, strict=True) if kind in family]


def _kind(schema: dict[str, Any]) -> str | None:
    declared = schema.get("type")
    if isinstance(declared, str):
        return declared
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(values, list):
        kinds = {_TYPE_OF[type(value)] for value in values}
        return kinds.pop() if len(kinds) == 1 else None
    return None


def _is_apart(adaptation: Adaptation, index: int, given: list[dict[str, Any]]) -> bool:
    """Say whether no value of one branch is a value of another, by their types as given."""
    kinds = [_given_kind(adaptation, branch) for branch in given]
    own = kinds.pop(index)
    if own is None or None in kinds:
        return False
    return own not in kinds and not (own in _NUMERIC and _NUMERIC & set(kinds))


def _given_kind(adaptation: Adaptation, branch: dict[str, Any]) -> str | None:
    for _ in range(len(adaptation.adapted) + 8):
        if "$ref" not in branch:
            return _kind(branch)
        found = adaptation.target(branch["$ref"])
        if found is None:
            return None
        branch = found[0]
    return None


def _null_is_ambiguous(adaptation: Adaptation, given: list[dict[str, Any]]) -> bool:
    if not any(map(is_null, given)):
        return False
    return any(_given_kind(adaptation, branch) is None for branch in given)


def _of_type(schema: dict[str, Any], name: str) -> dict[str, Any]:
    if name == "null":
        return dict(_NULL)
    allowed = TYPE_KEYWORDS[name] - ANNOTATIONS - {"type"}
    return {"type": name, **{key: value for key, value in schema.items() if key in allowed}}


def _different(branches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept: dict[str, dict[str, Any]] = {}
    for branch in branches:
        said = {key: value for key, value in branch.items() if key not in ("title", "description")}
        kept.setdefault(repr(said), branch)
    return list(kept.values())


def _bare_null(branch: dict[str, Any]) -> dict[str, Any]:
    return _NULL if is_null(branch) else branch
