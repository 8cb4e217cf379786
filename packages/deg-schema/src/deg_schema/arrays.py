"""Arrays: how many items they may have, and the schema that every item shares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from deg_schema.compilation import Compilation, Node
from deg_schema.constraints import read_count
from deg_schema.generation import generate_loc_of, max_tokens_of
from deg_schema.json_values import clip
from deg_schema.keywords import TYPE_KEYWORDS, UNSUPPORTED
from deg_schema.limits import MAX_MIN_ITEMS
from deg_schema.plan import ArrayPlan

__all__ = ["finish_array", "read_array", "read_items"]


def read_array(compilation: Compilation, node: Node) -> ArrayPlan:
    """Read what an array says of itself; its leaves are not known yet."""
    schema, loc = node.schema, node.loc
    compilation.check_keywords(schema, loc, TYPE_KEYWORDS["array"], "type 'array'")
    if node.nullable:
        compilation.report(
            f"{loc}/type" if "type" in schema else loc,
            "a nullable array is not supported; an empty one says that there is nothing",
        )
    least, most = _bounds(compilation, node)
    unique = schema.get("uniqueItems", False)
    if not isinstance(unique, bool):
        compilation.report(
            f"{loc}/uniqueItems", f"'uniqueItems' must be true or false, not {clip(unique)}"
        )
    title, description = node.texts()
    return ArrayPlan(
        path=node.path,
        min_items=least,
        max_items=most,
        unique_items=unique is True,
        required=node.required,
        title=title,
        description=description,
        item_steps=node.item_steps,
    )


def read_items(compilation: Compilation, node: Node) -> Node | None:
    """Return the schema of each item in its place; `None` where there is none to read."""
    schema, place = node.schema, f"{node.loc}/items"
    generate_loc = generate_loc_of(compilation, node)
    max_tokens = max_tokens_of(compilation, node, is_generated=generate_loc is not None)
    items: Any = schema.get("items")
    if "items" not in schema:
        # one that is described by another keyword is told to use 'items' there
        if schema.keys().isdisjoint(UNSUPPORTED):
            compilation.report(node.loc, "the array has no 'items'; say what each item is")
        return None
    if isinstance(items, list):
        compilation.report(
            place,
            "'items' with a schema for each position is not supported; "
            "use an object with a property for each position",
        )
        return None
    if not compilation.is_schema(items, place):
        return None
    return Node(
        items,
        place,
        (*node.path, "*"),
        node.depth + 1,
        required=True,
        item_steps=(*node.item_steps, len(node.path)),
        generate_loc=generate_loc,
        max_tokens=max_tokens,
    )


def finish_array(compilation: Compilation, node: Node, array: ArrayPlan, start: int) -> ArrayPlan:
    """Add to *array* what its leaves, which are those from *start* on, say of it."""
    leaves = compilation.fields[start:]
    if array.unique_items and len(leaves) == 1 and len(leaves[0].path) == len(array.path) + 1:
        num_values = leaves[0].num_outcomes
        if 0 < num_values < array.min_items:
            compilation.report(
                node.loc,
                f"'minItems' {array.min_items} asks for more different items than the "
                f"{num_values} possible ones; lower it, or remove 'uniqueItems'",
            )
    anchored = any(leaf.mode.startswith("extract") for leaf in leaves)
    return replace(array, start=start, stop=len(compilation.fields), anchored=anchored)


def _bounds(compilation: Compilation, node: Node) -> tuple[int, int | None]:
    least = read_count(compilation, node, "minItems") or 0
    most = read_count(compilation, node, "maxItems")
    if most is not None and least > most:
        compilation.report(
            node.loc, f"no array has 'minItems' {least} and 'maxItems' {most}; change one"
        )
    elif least > MAX_MIN_ITEMS:
        compilation.report(
            f"{node.loc}/minItems", f"'minItems' {least} is more than {MAX_MIN_ITEMS}; lower it"
        )
    return least, most
