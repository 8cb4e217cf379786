"""Choices: the options of an `enum`, or of a union of constants, and what they must satisfy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deg_schema.compilation import Compilation, Node, on_null_of
from deg_schema.json_values import clip
from deg_schema.limits import MAX_OPTIONS
from deg_schema.plan import Constraints, FieldPlan, JsonScalar, LeafType

__all__ = [
    "Option",
    "check_options",
    "check_type",
    "options_of_enum",
    "plan_choice",
    "report_number",
    "type_of_options",
]

_NAMES: dict[type, LeafType] = {str: "string", bool: "boolean", int: "integer", float: "number"}


@dataclass(frozen=True, slots=True)
class Option:
    """One value of a choice, where it is written, and its description."""

    value: Any
    loc: str
    description: str | None = None


def options_of_enum(
    compilation: Compilation, values: object, loc: str, *, description: str | None = None
) -> list[Option]:
    """Read the values of an `enum`."""
    if not isinstance(values, list):
        compilation.report(loc, f"'enum' must be an array of values, not {clip(values)}")
        return []
    if len(values) > MAX_OPTIONS:
        report_number(compilation, len(values), loc)
        return []
    compilation.count_options(len(values), loc)
    return [Option(value, f"{loc}/{index}", description) for index, value in enumerate(values)]


def check_options(
    compilation: Compilation,
    options: Sequence[Option],
    loc: str,
    *,
    type: str | None,
    nullable: bool,
) -> bool:
    """Report too few or too many options, repeated ones and those of a wrong type."""
    num_problems = len(compilation.problems)
    seen: set[tuple[bool, JsonScalar]] = set()
    for option in options:
        value = option.value
        if isinstance(value, (dict, list)):
            compilation.report(
                option.loc, f"an option is a string, number, boolean or null, not {clip(value)}"
            )
            continue
        # JSON keeps true and 1 apart, and takes 1 and 1.0 for the same
        key = (isinstance(value, bool), value)
        if key in seen:
            compilation.report(option.loc, f"the option {clip(value)} stands twice; remove one")
        else:
            check_type(compilation, option, type=type, nullable=nullable)
        seen.add(key)
    if not 2 <= len(options) <= MAX_OPTIONS:
        report_number(compilation, len(options), loc)
    return len(compilation.problems) == num_problems


def check_type(
    compilation: Compilation, option: Option, *, type: str | None, nullable: bool
) -> None:
    """Report an option that is not of the declared type."""
    if not _has_type(option.value, type, nullable=nullable, draft=compilation.draft):
        compilation.report(
            option.loc, f"the option {clip(option.value)} is not of 'type' {type!r}; change one"
        )


def type_of_options(options: Sequence[Option]) -> LeafType:
    """Name the type that every option but null has, or `any`."""
    names = {_NAMES[type(option.value)] for option in options if type(option.value) in _NAMES}
    if names == {"integer", "number"}:
        return "number"
    return names.pop() if len(names) == 1 else "any"


def plan_choice(
    node: Node, options: Sequence[Option], leaf_type: LeafType, *, format: str | None = None
) -> FieldPlan:
    """Plan a choice between *options*, which have been checked."""
    title, description = node.texts()
    nullable = any(option.value is None for option in options)
    return FieldPlan(
        path=node.path,
        mode="decide.choice",
        type=leaf_type,
        options=tuple(option.value for option in options),
        option_descriptions=tuple(option.description for option in options),
        format=format,
        constraints=Constraints(),
        required=node.required,
        nullable=nullable,
        on_null=on_null_of(required=node.required, nullable=nullable),
        title=title,
        description=description,
        item_steps=node.item_steps,
    )


def report_number(compilation: Compilation, num_options: int, loc: str) -> None:
    """Report a choice between too few or too many options."""
    way_out = "remove the property" if num_options < 2 else "ask for it as a string or in stages"
    compilation.report(
        loc, f"a choice has 2 to {MAX_OPTIONS} options, and here are {num_options}; {way_out}"
    )


def _has_type(value: Any, type: str | None, *, nullable: bool, draft: int) -> bool:
    if type is None or isinstance(value, (dict, list)):
        return True
    if value is None:
        return nullable
    if isinstance(value, bool):
        return type == "boolean"
    if isinstance(value, str):
        return type == "string"
    if type == "integer":
        return isinstance(value, int) or (draft > 4 and float(value).is_integer())
    return type == "number"
