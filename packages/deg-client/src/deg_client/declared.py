"""The order in which a type was written, where `msgspec.inspect` sorts: of keys and of options."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

from msgspec import inspect

__all__ = ["LiteralOrder", "fields_of", "hints_of", "literal_order"]

ObjectType: TypeAlias = inspect.StructType | inspect.DataclassType | inspect.TypedDictType

# the values of each `Literal`, with their types, since 1 equals True
LiteralOrder: TypeAlias = dict[frozenset[tuple[type, Any]], tuple[Any, ...]]


def fields_of(node: ObjectType) -> list[tuple[inspect.Field, LiteralOrder]]:
    """Return the fields of *node* as they were declared, each with the orders of its literals."""
    hints = hints_of(node.cls)
    names = list(hints) if isinstance(node, inspect.TypedDictType) else []
    fields = sorted(node.fields, key=lambda field: _place(names, field.name))
    return [(field, literal_order(hints.get(field.name))) for field in fields]


def hints_of(kind: Any) -> dict[str, Any]:
    """Return the types of the fields of *kind*; of none where that cannot be found out."""
    try:
        return typing.get_type_hints(getattr(kind, "__origin__", kind), include_extras=True)
    except (NameError, TypeError):
        # msgspec finds some names that are not global; only an order or a place is lost
        return {}


def literal_order(hint: object) -> LiteralOrder:
    """Return the options of every `Literal` in *hint*, in the order they were written."""
    orders = (typing.get_args(literal) for literal in _literals(hint))
    return {frozenset((type(value), value) for value in order): order for order in orders}


def _place(names: list[str], name: str) -> int:
    # sorting keeps the order of those that are in no list
    return names.index(name) if name in names else len(names)


def _literals(hint: Any) -> Iterator[Any]:
    while (inner := getattr(hint, "__supertype__", None) or _alias_of(hint)) is not None:
        hint = inner
    if typing.get_origin(hint) is Literal:
        yield hint
        return
    for part in typing.get_args(hint):
        yield from _literals(part)


def _alias_of(hint: Any) -> Any:
    # what `type X = ...` makes, from Python 3.12 on
    return getattr(hint, "__value__", None) if type(hint).__name__ == "TypeAliasType" else None
