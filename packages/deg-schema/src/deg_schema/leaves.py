"""Leaves: a scalar schema and the mode that finds its value."""

from __future__ import annotations

from typing import Any

from deg_schema.choices import (
    Option,
    check_options,
    options_of_enum,
    plan_choice,
    type_of_options,
)
from deg_schema.compilation import Compilation, Node, on_null_of
from deg_schema.constraints import (
    admitted_levels,
    is_score,
    number_constraints,
    string_constraints,
    string_format,
    violated_keyword,
)
from deg_schema.generation import check_generated, generate_loc_of, max_tokens_of
from deg_schema.json_values import clip
from deg_schema.keywords import TYPE_KEYWORDS
from deg_schema.plan import Constraints, FieldPlan, LeafType, Mode

__all__ = ["compile_leaf"]


def compile_leaf(compilation: Compilation, node: Node, leaf_type: LeafType) -> FieldPlan | None:
    """Plan one scalar; `None` where its schema has a problem."""
    num_problems = len(compilation.problems)
    schema = node.schema
    compilation.check_keywords(schema, node.loc, TYPE_KEYWORDS[leaf_type], f"type {leaf_type!r}")
    if "enum" in schema:
        field = _compile_enum(compilation, node, leaf_type)
    elif leaf_type == "string":
        field = _compile_string(compilation, node)
    elif leaf_type == "boolean":
        field = _compile_boolean(node)
    else:
        field = _compile_number(compilation, node, leaf_type)
    return field if len(compilation.problems) == num_problems else None


def _compile_enum(compilation: Compilation, node: Node, leaf_type: LeafType) -> FieldPlan | None:
    schema, loc = node.schema, f"{node.loc}/enum"
    if leaf_type == "string" and (generate_loc := generate_loc_of(compilation, node)):
        compilation.report(
            generate_loc, "'x-generate' is only for a plain string; remove the 'enum'"
        )
    if leaf_type == "integer" and "x-levels" in schema:
        compilation.report(
            f"{node.loc}/x-levels", "'x-levels' is only for bounds; remove it beside 'enum'"
        )
    options = options_of_enum(compilation, schema["enum"], loc)
    if not isinstance(schema["enum"], list) or len(schema["enum"]) > len(options):
        return None
    declared = leaf_type if "type" in schema else None
    if not check_options(compilation, options, loc, type=declared, nullable=node.nullable):
        return None
    _check_constraints(compilation, node, leaf_type, options)
    return plan_choice(node, options, leaf_type if declared else type_of_options(options))


def _check_constraints(
    compilation: Compilation, node: Node, leaf_type: LeafType, options: list[Option]
) -> None:
    constraints, format = Constraints(), None
    if leaf_type == "string":
        constraints, format = (
            string_constraints(compilation, node),
            string_format(compilation, node),
        )
    elif leaf_type in ("number", "integer"):
        constraints = number_constraints(compilation, node)
    if constraints == Constraints() and format is None:
        return
    for option in options:
        if keyword := violated_keyword(constraints, format, option.value):
            compilation.report(
                option.loc, f"the option {clip(option.value)} violates {keyword!r}; remove one"
            )


def _compile_boolean(node: Node) -> FieldPlan:
    if node.nullable:
        options = [Option(value, node.loc) for value in (True, False, None)]
        return plan_choice(node, options, "boolean")
    return _plan(node, "decide.noul", "boolean", Constraints())


def _compile_number(compilation: Compilation, node: Node, leaf_type: LeafType) -> FieldPlan:
    constraints = number_constraints(compilation, node)
    levels = admitted_levels(constraints) if leaf_type == "integer" else None
    if levels is None or not is_score(levels):
        if "x-levels" in node.schema:
            compilation.report(
                f"{node.loc}/x-levels",
                "'x-levels' needs bounds that admit 2 to 11 integers; set 'minimum' and 'maximum'",
            )
        return _plan(node, "extract.number", leaf_type, constraints)
    if len(levels) < 2:
        compilation.report(
            node.loc,
            f"the bounds of this integer admit {len(levels)} values; widen them to 2 or more",
        )
    labels = _level_labels(compilation, node, levels)
    return _plan(
        node,
        "decide.score",
        "integer",
        constraints,
        levels=tuple(levels),
        level_labels=labels,
        null_outcome=node.nullable,
    )


def _level_labels(compilation: Compilation, node: Node, levels: range) -> tuple[str | None, ...]:
    labels = node.schema.get("x-levels")
    if "x-levels" not in node.schema:
        return (None,) * len(levels)
    place = f"{node.loc}/x-levels"
    if not isinstance(labels, dict):
        compilation.report(place, f"'x-levels' must be an object, not {clip(labels)}")
        return ()
    known = {str(level) for level in levels}
    for key, label in labels.items():
        if key not in known:
            compilation.report(
                place, f"'x-levels' names {clip(key)}, which the bounds do not admit; remove it"
            )
        elif not isinstance(label, str) or not label:
            compilation.report(
                f"{place}/{key}", f"the label of a level is a text, not {clip(label)}; write one"
            )
    return tuple(labels.get(str(level)) for level in levels)


def _compile_string(compilation: Compilation, node: Node) -> FieldPlan:
    constraints = string_constraints(compilation, node)
    format = string_format(compilation, node)
    generate_loc = generate_loc_of(compilation, node)
    max_tokens = max_tokens_of(compilation, node, is_generated=generate_loc is not None)
    if generate_loc is not None:
        check_generated(compilation, node, generate_loc)
        return _plan(node, "generate", "string", constraints, max_tokens=max_tokens)
    mode: Mode = "extract.date" if format in ("date", "date-time") else "extract.span"
    return _plan(node, mode, "string", constraints, format=format)


def _plan(
    node: Node, mode: Mode, leaf_type: LeafType, constraints: Constraints, **parts: Any
) -> FieldPlan:
    title, description = node.texts()
    return FieldPlan(
        path=node.path,
        mode=mode,
        type=leaf_type,
        constraints=constraints,
        required=node.required,
        nullable=node.nullable,
        on_null=on_null_of(required=node.required, nullable=node.nullable),
        title=title,
        description=description,
        item_steps=node.item_steps,
        **parts,
    )
