"""A type of Python, printed as a JSON Schema in the dialect of the contract."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from msgspec import inspect

from deg_client.declared import LiteralOrder, fields_of, hints_of
from deg_client.errors import NotSent, Problem
from deg_client.field_rules import refusal_of, rule_breaks
from deg_client.sendable import escape_token

__all__ = ["schema_of"]

Schema: TypeAlias = dict[str, Any]

_OBJECTS = (inspect.StructType, inspect.DataclassType, inspect.TypedDictType)
_ARRAYS = (inspect.ListType, inspect.VarTupleType, inspect.SetType, inspect.FrozenSetType)


def schema_of(kind: type[Any]) -> Schema:
    """Print the schema of a Struct, a dataclass or a TypedDict, as a fill sends it.

    Raises:
        NotSent: The contract has no way to ask for it; the problems name every such field.
    """
    place = _Place("/schema", getattr(kind, "__name__", str(kind)))
    try:
        node = inspect.type_info(kind)
    except (TypeError, NameError, ValueError) as error:
        raise NotSent.because([_first_problem(kind, place, error)]) from error
    if not isinstance(node, _OBJECTS):
        reason = "a fill gives an object; write a Struct, a dataclass or a TypedDict around it"
        raise NotSent.because([place.problem(reason)])
    printer = _Printer()
    schema = printer.print(node, place, {})
    if printer.problems:
        raise NotSent.because(printer.problems)
    return schema


@dataclass(frozen=True, slots=True)
class _Place:
    pointer: str
    path: str

    def field(self, name: str, encoded: str) -> _Place:
        return _Place(f"{self.pointer}/properties/{escape_token(encoded)}", f"{self.path}.{name}")

    def items(self) -> _Place:
        return _Place(f"{self.pointer}/items", f"{self.path}[]")

    def problem(self, reason: str) -> Problem:
        return Problem(self.pointer, f"{self.path}: {reason}")


class _Printer:
    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._open: list[type[Any]] = []

    def print(self, node: inspect.Type, place: _Place, order: LiteralOrder) -> Schema:
        node, extra, nullable = _unwrap(node)
        kind, schema = self._bare(node, place, order)
        if kind == "refused":
            return schema
        if nullable and kind == "choice":
            schema["enum"] = [*schema["enum"], *([] if None in schema["enum"] else [None])]
        elif nullable and kind not in ("array", "object"):
            schema["type"] = [schema["type"], "null"]
        schema |= extra
        if kind == "choice" and "oneOf" in extra:
            self._describe(schema, place)
        for problem in rule_breaks(schema, extra, kind, nullable=nullable):
            self._refuse(place, problem)
        return schema

    def _bare(self, node: inspect.Type, place: _Place, order: LiteralOrder) -> tuple[str, Schema]:
        if isinstance(node, _OBJECTS):
            return self._object(node, place)
        if isinstance(node, _ARRAYS):
            items = self.print(node.item_type, place.items(), order)
            sizes = {"minItems": node.min_length, "maxItems": node.max_length}
            return "array", {"type": "array", "items": items, **_given(sizes)}
        if isinstance(node, (inspect.EnumType, inspect.LiteralType)):
            return "choice", {"enum": _options(node, order)}
        if isinstance(node, inspect.UnionType) and (merged := _literals(node, order)):
            return "choice", {"enum": merged}
        if isinstance(node, inspect.DateTimeType) and node.tz is False:
            self._refuse(place, "a date-time always has an offset here; remove tz=False")
        if type(node) in _SCALARS:
            schema = _SCALARS[type(node)](node)
            return schema["type"], schema
        self._refuse(place, refusal_of(node))
        return "refused", {}

    def _object(self, node: Any, place: _Place) -> tuple[str, Schema]:
        if node.cls in self._open:
            self._refuse(place, "it holds itself, so it never ends; write a type for each level")
            return "refused", {}
        if getattr(node, "array_like", False):
            self._refuse(place, "array_like sends no names; remove it")
        fields = fields_of(node)
        self._open.append(node.cls)
        properties = {
            field.encode_name: self.print(
                field.type, place.field(field.name, field.encode_name), order
            )
            for field, order in fields
        }
        self._open.pop()
        required = [field.encode_name for field, _ in fields if field.required]
        schema: Schema = {"type": "object", "properties": properties}
        return "object", schema | ({"required": required} if required else {})

    def _describe(self, schema: Schema, place: _Place) -> None:
        options = schema.pop("enum")
        branches = list(schema["oneOf"])
        if None in options and None not in [branch["const"] for branch in branches]:
            branches.append({"const": None})
        described = [branch["const"] for branch in branches]
        if {*map(_typed, described)} != {*map(_typed, options)}:
            self._refuse(place, f"Choices() describe {described!r}, and the type has {options!r}")
        schema["oneOf"] = branches

    def _refuse(self, place: _Place, reason: str) -> None:
        self.problems.append(place.problem(reason))


def _first_problem(kind: object, place: _Place, error: Exception) -> Problem:
    # msgspec names the type that it does not take, not the field
    for name, hint in hints_of(kind).items():
        try:
            inspect.type_info(hint)
        except (TypeError, NameError, ValueError) as inner:
            return _first_problem(hint, place.field(name, name), inner)
    return place.problem(str(error))


def _unwrap(node: inspect.Type) -> tuple[inspect.Type, Schema, bool]:
    extra: Schema = {}
    nullable = False
    while True:
        if isinstance(node, inspect.Metadata):
            # what was written around a type stands before what was written in it
            extra = {**(node.extra_json_schema or {}), **extra}
            node = node.type
        elif isinstance(node, inspect.UnionType) and node.includes_none:
            nullable = True
            rest = tuple(part for part in node.types if not isinstance(part, inspect.NoneType))
            node = rest[0] if len(rest) == 1 else inspect.UnionType(rest)
        else:
            return node, extra, nullable


def _options(node: inspect.EnumType | inspect.LiteralType, order: LiteralOrder) -> list[Any]:
    if isinstance(node, inspect.EnumType):
        return [member.value for member in node.cls]
    return list(order.get(frozenset(map(_typed, node.values)), node.values))


def _literals(node: inspect.UnionType, order: LiteralOrder) -> list[Any] | None:
    merged: list[Any] = []
    for part in node.types:
        if not isinstance(part, inspect.LiteralType):
            return None
        merged += _options(part, order)
    return merged


def _typed(value: object) -> tuple[type, object]:
    return type(value), value


def _given(keywords: Mapping[str, Any]) -> Schema:
    return {name: value for name, value in keywords.items() if value is not None}


def _text(node: Any) -> Schema:
    lengths = {"minLength": node.min_length, "maxLength": node.max_length, "pattern": node.pattern}
    return {"type": "string", **_given(lengths)}


def _number(name: str) -> Callable[[Any], Schema]:
    def schema(node: Any) -> Schema:
        bounds = {
            "minimum": node.ge,
            "exclusiveMinimum": node.gt,
            "maximum": node.le,
            "exclusiveMaximum": node.lt,
            "multipleOf": node.multiple_of,
        }
        return {"type": name, **_given(bounds)}

    return schema


_SCALARS: dict[type[inspect.Type], Callable[[Any], Schema]] = {
    inspect.BoolType: lambda _: {"type": "boolean"},
    inspect.IntType: _number("integer"),
    inspect.FloatType: _number("number"),
    inspect.DecimalType: lambda _: {"type": "number"},
    inspect.StrType: _text,
    inspect.DateType: lambda _: {"type": "string", "format": "date"},
    inspect.DateTimeType: lambda _: {"type": "string", "format": "date-time"},
    inspect.UUIDType: lambda _: {"type": "string", "format": "uuid"},
}
