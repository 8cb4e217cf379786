"""What the contract refuses of a single field: found before sending, each with the way out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from msgspec import inspect

__all__ = ["refusal_of", "rule_breaks"]

_FORMATS = ("date", "date-time", "email", "uri", "uuid")
_ANNOTATIONS = {
    "$comment", "default", "deprecated", "description", "examples", "readOnly", "title",
    "writeOnly",
}  # fmt: skip
_NUMERIC = {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"}
_KEYWORDS = {
    "string": {"minLength", "maxLength", "pattern", "format", "x-generate", "x-max-tokens"},
    "integer": {*_NUMERIC, "x-levels"},
    "number": _NUMERIC,
    "boolean": set(),
    "array": {"minItems", "maxItems", "uniqueItems", "x-generate", "x-max-tokens"},
    "object": {"additionalProperties"},
    "choice": {"oneOf"},
}

_NOT_BYTES = "a context holds text, not bytes; write str"
_REFUSED: dict[type[inspect.Type], str] = {
    inspect.AnyType: "its type leaves open what is asked; name one, such as str",
    inspect.ByteArrayType: _NOT_BYTES,
    inspect.BytesType: _NOT_BYTES,
    inspect.DictType: "nobody names the keys of a dict; write a Struct with a field for each",
    inspect.MemoryViewType: _NOT_BYTES,
    inspect.NamedTupleType: "a NamedTuple is sent without its names; write a Struct or a dataclass",
    inspect.NoneType: "None alone leaves nothing to ask; remove the field",
    inspect.TimeDeltaType: "no parser reads a duration; write a number, and its unit in words",
    inspect.TimeType: "no parser reads a time of day; write str, with a pattern",
    inspect.TupleType: "items are not told by position; write a Struct with a field for each",
    inspect.UnionType: "a union leaves open what is asked; write one type, or a field for each",
}


def refusal_of(node: inspect.Type) -> str:
    """Say why a field of this type cannot be asked for, and what can."""
    if isinstance(node, inspect.CustomType):
        name = getattr(node.cls, "__name__", str(node.cls))
        return f"{name} is no type that a fill gives; write str, a number, an Enum or a Struct"
    known = "it is no type that a fill gives; write str, a number, an Enum or a Struct"
    return _REFUSED.get(type(node), known)


def rule_breaks(
    schema: Mapping[str, Any], added: Iterable[str], kind: str, *, nullable: bool
) -> Iterator[str]:
    """Yield what the contract refuses of *schema*, which was printed for a field of *kind*.

    Args:
        added: The keywords that come from `Annotated`, not from the type.
    """
    may_be_added = _KEYWORDS[kind] | _ANNOTATIONS
    for keyword in sorted(set(added) - may_be_added):
        known = ", ".join(sorted(may_be_added))
        yield f"{keyword!r} cannot be added to this type; what can is {known}"
    if schema.get("format", "date") not in _FORMATS:
        yield f"'format' {schema['format']!r} is not checked; use one of {', '.join(_FORMATS)}"
    if nullable and kind in ("array", "object"):
        empty = "an empty list by default" if kind == "array" else "None in its fields"
        yield f"an {kind} is never null; remove the None, and allow {empty} instead"
    yield from _text_breaks(schema, kind, nullable=nullable)
    if kind == "string":
        yield from _size_breaks(schema, "minLength", "maxLength")
    if kind == "array":
        yield from _size_breaks(schema, "minItems", "maxItems")
    if kind in ("integer", "number"):
        yield from _number_breaks(schema, kind)
    if kind == "choice":
        yield from _choice_breaks(schema)


def _text_breaks(schema: Mapping[str, Any], kind: str, *, nullable: bool) -> Iterator[str]:
    if not schema.get("x-generate"):
        if "x-max-tokens" in schema:
            yield "'x-max-tokens' bounds a text that is written; add Generate()"
        return
    texts = schema["items"] if kind == "array" else schema
    if nullable and kind == "string":
        yield "Generate() always gives a text; remove the None"
    elif texts.get("type") != "string" or "format" in texts:
        yield "Generate() writes plain text; ask it of a str without a format, or a list of them"
    if (budget := schema.get("x-max-tokens", 1)) < 1:
        yield f"'max_tokens' is at least 1, not {budget!r}"


def _size_breaks(schema: Mapping[str, Any], least: str, greatest: str) -> Iterator[str]:
    if schema.get(greatest) == 0 and least == "minLength":
        yield "'max_length' 0 leaves only the empty text; raise it"
    elif schema.get(least, 0) > schema.get(greatest, math.inf):
        yield f"nothing has {least!r} {schema[least]} and {greatest!r} {schema[greatest]}"


def _number_breaks(schema: Mapping[str, Any], kind: str) -> Iterator[str]:
    if not all(math.isfinite(schema.get(keyword, 0)) for keyword in _NUMERIC):
        yield "a bound that is not finite bounds nothing; remove it"
        return
    levels = _levels(schema) if kind == "integer" else None
    if levels is not None and len(levels) < 2:
        yield f"its bounds leave {len(levels)} values, so nothing to ask; widen them"
    elif not _admits(schema):
        yield "its bounds leave no number; widen them"
    if "x-levels" in schema:
        yield from _label_breaks(schema["x-levels"], levels)


def _label_breaks(labels: Mapping[str, str], levels: range | None) -> Iterator[str]:
    if levels is None or len(levels) > 11:
        yield "Levels() are of a scale of 2 to 11 integers; bound it, with ge and le"
    elif strange := sorted(set(labels) - {str(level) for level in levels}):
        yield f"Levels() name {', '.join(strange)}, which its bounds exclude"
    if not labels or not all(labels.values()):
        yield "Levels() give each level that they name a text"


def _choice_breaks(schema: Mapping[str, Any]) -> Iterator[str]:
    options = schema["enum"] if "enum" in schema else [b["const"] for b in schema["oneOf"]]
    if len(options) < 2:
        yield "a single option leaves nothing to ask; remove the field"
    if len(options) > 255:
        yield f"a choice has at most 255 options, and here are {len(options)}; ask in two steps"


def _admits(schema: Mapping[str, Any]) -> bool:
    if "multipleOf" in schema:
        multiples = _multiples(schema, _exact(schema["multipleOf"]))
        return multiples is None or len(multiples) > 0
    least, greatest = _ends(schema)
    if least is None or greatest is None or least != greatest:
        return least is None or greatest is None or least < greatest
    return least not in (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum"))


def _levels(schema: Mapping[str, Any]) -> range | None:
    # a step of 2.5 meets the integers that 5 does
    step = _exact(schema.get("multipleOf", 1)).numerator
    multiples = _multiples(schema, Fraction(step))
    if multiples is None:
        return None
    return range(multiples.start * step, multiples.stop * step, step)


def _multiples(schema: Mapping[str, Any], step: Fraction) -> range | None:
    least, greatest = _ends(schema)
    if least is None or greatest is None:
        return None
    first, last = math.ceil(_exact(least) / step), math.floor(_exact(greatest) / step)
    if first * step == _exact(schema.get("exclusiveMinimum", least - 1)):
        first += 1
    if last * step == _exact(schema.get("exclusiveMaximum", greatest + 1)):
        last -= 1
    return range(first, last + 1)


def _ends(schema: Mapping[str, Any]) -> tuple[Any, Any]:
    least = [schema[name] for name in ("minimum", "exclusiveMinimum") if name in schema]
    greatest = [schema[name] for name in ("maximum", "exclusiveMaximum") if name in schema]
    return max(least, default=None), min(greatest, default=None)


def _exact(number: float) -> Fraction:
    # as it is written: a tenth is a tenth
    return Fraction(str(number))
