"""Unions: the nullable form of a schema, and the choice between constants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from deg_schema.choices import (
    Option,
    check_options,
    check_type,
    options_of_enum,
    plan_choice,
    report_number,
    type_of_options,
)
from deg_schema.compilation import Compilation, Node
from deg_schema.json_values import clip
from deg_schema.keywords import ANNOTATIONS
from deg_schema.limits import MAX_OPTIONS
from deg_schema.plan import FieldPlan, LeafType
from deg_schema.refs import find_target

__all__ = ["compile_union"]

_BRANCH_KEYWORDS = ANNOTATIONS | {"type", "const", "enum"}
_TYPES: dict[str, LeafType] = {
    "string": "string",
    "number": "number",
    "integer": "integer",
    "boolean": "boolean",
}


def compile_union(compilation: Compilation, node: Node) -> FieldPlan | Node | None:
    """Read an `anyOf` or `oneOf`: a choice, the one schema that may also be null, or a problem."""
    keyword = "anyOf" if "anyOf" in node.schema else "oneOf"
    branches = node.schema[keyword]
    place = f"{node.loc}/{keyword}"
    if not isinstance(branches, list) or not branches:
        compilation.report(place, f"{keyword!r} must be an array of schemas")
        return None
    if len(branches) > MAX_OPTIONS:
        report_number(compilation, len(branches), place)
        return None
    compilation.count_options(len(branches), place)
    found = [_branch(compilation, branch, f"{place}/{i}") for i, branch in enumerate(branches)]
    resolved = [branch for branch in found if branch is not None]
    if len(resolved) < len(found):
        return None
    if all(_is_constant(branch.schema) or _is_null(branch.schema) for branch in resolved):
        return _compile_constants(compilation, node, resolved, keyword)
    return _compile_nullable(compilation, node, resolved, keyword)


def _branch(compilation: Compilation, branch: object, loc: str) -> Node | None:
    """Follow a branch to the schema that says what it is."""
    seen: set[str] = set()
    description: str | None = None
    while True:
        if not isinstance(branch, dict):
            compilation.report(loc, f"a branch is a schema, not {clip(branch)}")
            return None
        if description is None and isinstance(branch.get("description"), str):
            description = branch["description"]
        if "$ref" not in branch or not _is_plain_ref(branch):
            return Node(branch, loc, (), description=description)
        if loc in seen:
            compilation.report(f"{loc}/$ref", "'$ref' is recursive; write out what it names")
            return None
        seen.add(loc)
        compilation.count()
        found = find_target(compilation, branch["$ref"], loc)
        if found is None:
            return None
        target = found[0]
        # only a constant is read here; anything else is compiled through its reference
        if not isinstance(target, dict) or not (
            _is_constant(target) or _is_null(target) or "$ref" in target
        ):
            return Node(branch, loc, (), description=description)
        compilation.visited.add(found[1])
        branch, loc = target, found[1]


def _is_plain_ref(schema: dict[str, Any]) -> bool:
    return schema.keys() <= ANNOTATIONS | {"$ref"}


def _is_constant(schema: dict[str, Any]) -> bool:
    return "const" in schema or "enum" in schema


def _is_null(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "null" and schema.keys() <= ANNOTATIONS | {"type"}


def _compile_constants(
    compilation: Compilation, node: Node, branches: list[Node], keyword: str
) -> FieldPlan | None:
    num_problems = len(compilation.problems)
    allowed = ANNOTATIONS | {keyword, "type"}
    compilation.check_keywords(node.schema, node.loc, allowed, f"a choice by {keyword!r}")
    declared, nullable = _declared_type(compilation, node)
    values = [branch for branch in branches if not _is_null(branch.schema)]
    if len(values) == 1 and len(branches) == 2:
        # the nullable form: what the branch says is said of the field, not of each option
        title, description = _outer_texts(node, values[0])
        node = replace(node, title=title, description=description)
    options: list[Option] = []
    for branch in branches:
        options += _options_of(compilation, branch, is_lone=len(values) == 1 and branch in values)
    if keyword == "anyOf":
        options = _without_second_null(options)
    if node.nullable and all(option.value is not None for option in options):
        options.append(Option(None, node.loc))
    place = f"{node.loc}/{keyword}"
    if len(compilation.problems) > num_problems:
        return None
    if not check_options(compilation, options, place, type=declared, nullable=nullable):
        return None
    return plan_choice(node, options, declared or type_of_options(options))


def _options_of(compilation: Compilation, branch: Node, *, is_lone: bool) -> list[Option]:
    schema, loc = branch.schema, branch.loc
    description = None if is_lone else branch.description
    if _is_null(schema):
        return [Option(None, loc, branch.description)]
    compilation.check_keywords(schema, loc, _BRANCH_KEYWORDS, "a constant branch")
    if "const" in schema and "enum" in schema:
        compilation.report(loc, "'const' and 'enum' stand in one branch; remove one")
        return []
    if "const" in schema:
        options = [Option(schema["const"], f"{loc}/const", description)]
    else:
        options = options_of_enum(
            compilation, schema["enum"], f"{loc}/enum", description=description
        )
    declared, nullable = _declared_type(compilation, branch)
    for option in options:
        check_type(compilation, option, type=declared, nullable=nullable)
    return options


def _without_second_null(options: list[Option]) -> list[Option]:
    # `anyOf` lets two branches admit null, which stays one option
    first = next((option for option in options if option.value is None), None)
    return [option for option in options if option.value is not None or option is first]


def _declared_type(compilation: Compilation, node: Node) -> tuple[LeafType | None, bool]:
    declared = node.schema.get("type")
    if "type" not in node.schema:
        return None, True
    nullable = False
    if isinstance(declared, list) and len(declared) == 2 and "null" in declared:
        nullable = True
        declared = declared[1 - declared.index("null")]
    if isinstance(declared, str) and declared in _TYPES:
        return _TYPES[declared], nullable
    compilation.report(
        f"{node.loc}/type", f"'type' {clip(declared)} does not fit a choice; remove it"
    )
    return None, True


def _compile_nullable(
    compilation: Compilation, node: Node, branches: list[Node], keyword: str
) -> Node | None:
    compilation.check_keywords(
        node.schema, node.loc, ANNOTATIONS | {keyword}, f"a union by {keyword!r}"
    )
    others = [branch for branch in branches if not _is_null(branch.schema)]
    if len(branches) != 2 or len(others) != 1:
        compilation.report(
            f"{node.loc}/{keyword}",
            f"{keyword!r} is only for constants, or for one schema and "
            '{"type": "null"}; choose one schema',
        )
        return None
    branch = others[0]
    if keyword == "oneOf" and _may_admit_null(compilation, branch):
        compilation.report(
            f"{node.loc}/oneOf", "both branches of 'oneOf' may admit null; write 'anyOf'"
        )
        return None
    title, description = _outer_texts(node, branch)
    return replace(
        branch,
        path=node.path,
        depth=node.depth + 1,
        required=node.required,
        nullable=True,
        item_steps=node.item_steps,
        title=title,
        description=description,
    )


def _may_admit_null(compilation: Compilation, branch: Node) -> bool:
    schema: Any = branch.schema
    seen: set[int] = set()
    while isinstance(schema, dict) and "$ref" in schema and id(schema) not in seen:
        seen.add(id(schema))
        found = find_target(compilation, schema["$ref"], branch.loc)
        schema = None if found is None else found[0]
    # what is no schema at all is reported where the branch is compiled
    return isinstance(schema, dict) and ("type" not in schema or isinstance(schema["type"], list))


def _outer_texts(node: Node, branch: Node) -> tuple[str | None, str | None]:
    title, description = node.texts()
    if title is None:
        title = branch.schema.get("title")
    return title, branch.texts()[1] if description is None else description
