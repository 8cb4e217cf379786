"""Plans as JSON: one canonical text for each plan, and the plan that a text spells."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeAlias, TypeVar, get_args

from deg_schema.errors import PlanError, Problem
from deg_schema.json_text import load_json
from deg_schema.json_values import check_json, clip
from deg_schema.keywords import FORMATS, is_number
from deg_schema.plan import (
    ArrayPlan,
    Constraints,
    FieldPlan,
    FillPlan,
    LeafType,
    Mode,
    ObjectPlan,
    OnNull,
)
from deg_schema.plan_checks import check_plan

__all__ = ["plan_from_json", "plan_to_json"]

_VERSION = 1

_Check: TypeAlias = tuple[Callable[[Any], bool], str]
_Part = TypeVar("_Part", FieldPlan, ObjectPlan, ArrayPlan, Constraints)


def plan_to_json(plan: FillPlan) -> str:
    """Write *plan* as its canonical JSON: ASCII, sorted keys, no blanks, no defaults."""
    spec = {
        "arrays": [_members(array) for array in plan.arrays],
        "fields": [_members(field) for field in plan.fields],
        "objects": [_members(nested) for nested in plan.objects],
        "version": _VERSION,
    }
    return json.dumps(spec, sort_keys=True, separators=(",", ":"), allow_nan=False)


def plan_from_json(text: str) -> FillPlan:
    """Read the plan that *text*, in whatever order and spacing, spells.

    Raises:
        PlanError: It spells none that `compile_schema` could have made; every problem that was
            found is in `problems`.
    """
    problems: list[Problem] = []
    document = _load(text)
    check_json(document, lambda loc, msg: problems.append(Problem(loc, msg)))
    if not problems:
        _check_top(document, problems)
    if problems:
        raise PlanError(problems)
    plan = FillPlan(
        _read_all(FieldPlan, document["fields"], "/fields", problems),
        _read_all(ObjectPlan, document["objects"], "/objects", problems),
        _read_all(ArrayPlan, document["arrays"], "/arrays", problems),
    )
    # what is of a wrong shape cannot be compared with the rest
    problems = problems or check_plan(plan)
    if problems:
        raise PlanError(problems)
    return plan


def _members(part: FieldPlan | ObjectPlan | ArrayPlan | Constraints) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for member in fields(part):
        value = getattr(part, member.name)
        if member.default is MISSING or value != member.default:
            members[member.name] = _members(value) if isinstance(value, Constraints) else value
    return members


def _load(text: str) -> Any:
    try:
        return load_json(text)
    except json.JSONDecodeError as error:
        message = f"the plan is no JSON: {error.msg} at line {error.lineno} column {error.colno}"
    except RecursionError:
        message = "the plan nests too deep"
    raise PlanError([Problem("", message)])


def _check_top(document: object, problems: list[Problem]) -> None:
    if not isinstance(document, Mapping):
        problems.append(Problem("", f"a plan is an object, not {clip(document)}"))
        return
    if document.get("version") != _VERSION or type(document["version"]) is not int:
        found = clip(document["version"]) if "version" in document else "none"
        message = f"this reads version {_VERSION} of plans, and here is {found}; compile it anew"
        problems.append(Problem("/version" if "version" in document else "", message))
    for name in ("fields", "objects", "arrays"):
        if not isinstance(document.get(name), list):
            problems.append(Problem("", f"the plan has no list {name!r}"))
    for name in document.keys() - {"fields", "objects", "arrays", "version"}:
        problems.append(Problem("", f"{clip(name)} is no part of a plan"))


def _read_all(
    kind: type[_Part], members: list[Any], loc: str, problems: list[Problem]
) -> tuple[_Part, ...]:
    found = (_read(kind, each, f"{loc}/{i}", problems) for i, each in enumerate(members))
    return tuple(part for part in found if part is not None)


def _read(kind: type[_Part], members: object, loc: str, problems: list[Problem]) -> _Part | None:
    """Build one part of a plan, or report why its members do not."""
    if not isinstance(members, Mapping):
        problems.append(Problem(loc, f"it is an object, not {clip(members)}"))
        return None
    num_problems = len(problems)
    checks = _CHECKS[kind]
    values: dict[str, Any] = {}
    for name, value in members.items():
        if name not in checks:
            problems.append(Problem(loc, f"{clip(name)} is no member of it"))
        elif name == "constraints":
            values[name] = _read(Constraints, value, f"{loc}/constraints", problems)
        elif not checks[name][0](value):
            expected = checks[name][1]
            problems.append(Problem(f"{loc}/{name}", f"it is {expected}, not {clip(value)}"))
        else:
            values[name] = _value(value)
    for member in fields(kind):
        if member.default is MISSING and member.name not in members:
            problems.append(Problem(loc, f"the member {member.name!r} is missing"))
    return kind(**values) if len(problems) == num_problems else None


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    # a bound is whole as `compile_schema` spells it, however the text was written since
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, (dict, list))


def _optional(check: _Check) -> _Check:
    return lambda value: value is None or check[0](value), f"{check[1]} or null"


def _list_of(check: _Check, what: str) -> _Check:
    return lambda value: isinstance(value, list) and all(map(check[0], value)), f"a list of {what}"


def _one_of(*names: str) -> _Check:
    return lambda value: isinstance(value, str) and value in names, f"one of {', '.join(names)}"


_TEXT: _Check = (_is_text, "a string")
_FLAG: _Check = (_is_flag, "true or false")
_COUNT: _Check = (_is_count, "an integer of at least 0")
_POSITIVE: _Check = (lambda value: _is_count(value) and value > 0, "an integer of at least 1")
_NUMBER: _Check = (is_number, "a number")
_INTEGER: _Check = (lambda value: type(value) is int, "an integer")
_PATH = _list_of(_TEXT, "strings")
_STEPS = _list_of(_COUNT, "integers of at least 0")
_TEXTS = _list_of(_optional(_TEXT), "strings and nulls")

_CHECKS: Mapping[type, Mapping[str, _Check]] = {
    FieldPlan: {
        "path": _PATH,
        "mode": _one_of(*get_args(Mode)),
        "type": _one_of(*get_args(LeafType)),
        "options": _list_of((_is_scalar, "a scalar"), "scalars"),
        "option_descriptions": _TEXTS,
        "levels": _list_of(_INTEGER, "integers"),
        "level_labels": _TEXTS,
        "null_outcome": _FLAG,
        "format": _optional(_one_of(*FORMATS)),
        "constraints": (_is_scalar, ""),
        "required": _FLAG,
        "nullable": _FLAG,
        "on_null": _one_of(*get_args(OnNull)),
        "title": _optional(_TEXT),
        "description": _optional(_TEXT),
        "max_tokens": _optional(_POSITIVE),
        "item_steps": _STEPS,
    },
    ObjectPlan: {
        "path": _PATH,
        "required": _FLAG,
        "start": _COUNT,
        "stop": _COUNT,
        "item_steps": _STEPS,
    },
    ArrayPlan: {
        "path": _PATH,
        "min_items": _COUNT,
        "max_items": _optional(_COUNT),
        "unique_items": _FLAG,
        "required": _FLAG,
        "title": _optional(_TEXT),
        "description": _optional(_TEXT),
        "start": _COUNT,
        "stop": _COUNT,
        "anchored": _FLAG,
        "item_steps": _STEPS,
    },
    Constraints: {
        "min_length": _optional(_COUNT),
        "max_length": _optional(_COUNT),
        "pattern": _optional(_TEXT),
        **{
            name: _optional(_NUMBER)
            for name in (
                "minimum",
                "maximum",
                "exclusive_minimum",
                "exclusive_maximum",
                "multiple_of",
            )
        },
    },
}
