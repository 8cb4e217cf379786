"""What `adapt` does to the keywords of one schema, whatever stands around it."""

from __future__ import annotations

from typing import Any

from deg_schema.adaptation import Adaptation
from deg_schema.admission import admits
from deg_schema.json_values import clip
from deg_schema.keywords import FORMATS, KNOWN, TYPE_KEYWORDS, UNSUPPORTED
from deg_schema.limits import MAX_OPTIONS
from deg_schema.pointer import escape_token

__all__ = [
    "drop_inapplicable",
    "drop_unknown",
    "dropped",
    "name_type",
    "rewrite_format",
    "rewrite_values",
]

_TEXTS = ("title", "description", "$comment")
_EXTENSIONS = {"x-generate", "x-max-tokens", "x-levels"}
# what is said about a text and not about the value
_OF_ENCODINGS = {"contentEncoding", "contentMediaType", "contentSchema"}
_HARMLESS = _OF_ENCODINGS | {"$dynamicAnchor", "$recursiveAnchor"}
_ALIASES = {
    **{f"uuid{version}": "uuid" for version in range(1, 9)},
    "datetime": "date-time",
    "idn-email": "email",
    "iri": "uri",
    "url": "uri",
}
# a choice has far fewer options: what is longer is left for the compiler to report
_MAX_VALUES = 16 * MAX_OPTIONS
_OF_OBJECTS = {
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "unevaluatedProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
}
_OF_ARRAYS = {
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "prefixItems",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "minContains",
    "maxContains",
}
_KINDS = (
    ("object", _OF_OBJECTS),
    ("array", _OF_ARRAYS),
    ("number", {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
)


def drop_unknown(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Drop what is no keyword, and rewrite the spellings of OpenAPI."""
    kept: dict[str, Any] = {}
    for keyword, value in schema.items():
        place = f"{loc}/{escape_token(keyword)}"
        if keyword in _TEXTS and value is None:
            adaptation.note(place, f"{keyword!r} null is dropped")
        elif keyword == "examples" and not isinstance(value, list):
            adaptation.note(place, "'examples' is dropped: it is no array")
        elif keyword in KNOWN or (keyword in UNSUPPORTED and keyword not in _HARMLESS):
            kept[keyword] = value
        elif keyword == "example" and "examples" not in schema:
            adaptation.note(place, "'example' is rewritten as 'examples'")
            kept["examples"] = [value]
        elif keyword == "nullable" and value is True and isinstance(schema.get("type"), str):
            adaptation.note(place, "'nullable' is rewritten as 'type' [X, \"null\"]")
        elif keyword == "id" and adaptation.draft == 4:
            kept[keyword] = value
        elif keyword == "nullable" and value is True:
            adaptation.note(place, "'nullable' is dropped: it counts only beside one 'type'")
        else:
            adaptation.note(place, f"{clip(keyword)} is dropped: it does not tell values apart")
    if schema.get("nullable") is True and isinstance(schema.get("type"), str):
        kept["type"] = [schema["type"], "null"] if schema["type"] != "null" else "null"
    kept = _without_idle_cases(adaptation, kept, loc)
    return _with_exclusive_numbers(adaptation, kept, loc)


def dropped(
    adaptation: Adaptation, schema: dict[str, Any], loc: str, keyword: str, why: str
) -> dict[str, Any]:
    """Return *schema* without *keyword*, and note why."""
    adaptation.note(f"{loc}/{keyword}", f"{keyword!r} is dropped: {why}")
    return {name: value for name, value in schema.items() if name != keyword}


def name_type(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Give a schema without `type` the one that its keywords speak of, or string."""
    declared = schema.get("type")
    if isinstance(declared, list) and len(declared) == 1:
        adaptation.note(f"{loc}/type", f"'type' {clip(declared[0])} stands alone, without a list")
        return {**schema, "type": declared[0]}
    if "type" in schema or not {"enum", "const", "not", "if"}.isdisjoint(schema):
        return schema
    kind = next((kind for kind, keywords in _KINDS if not keywords.isdisjoint(schema)), "string")
    if not loc and kind != "object":
        return schema
    adaptation.note(loc, f"'type' is missing: {kind!r} is asked for")
    return {"type": kind, **schema}


def drop_inapplicable(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Drop the keywords that say nothing of values of the declared type."""
    names = schema.get("type")
    if isinstance(names, list) and len(names) == 2 and "null" in names:
        names = names[1 - names.index("null")]
    if not isinstance(names, str) or names == "any" or names not in TYPE_KEYWORDS:
        return schema
    allowed = TYPE_KEYWORDS[names] | _EXTENSIONS | {"const", "enum"}
    idle = (_OF_OBJECTS if names != "object" else set()) | (
        _OF_ARRAYS if names != "array" else set()
    )
    kept = {}
    for keyword, value in schema.items():
        if keyword in allowed or (keyword in UNSUPPORTED and keyword not in idle):
            kept[keyword] = value
        else:
            adaptation.note(f"{loc}/{keyword}", f"{keyword!r} is dropped: it has no effect here")
    return kept


def rewrite_format(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Drop a format that is not checked, or write the one that is meant."""
    name = schema.get("format")
    if not isinstance(name, str) or name in FORMATS:
        return schema
    if name in _ALIASES and "x-generate" not in schema:
        adaptation.note(f"{loc}/format", f"'format' {clip(name)} is read as {_ALIASES[name]!r}")
        return {**schema, "format": _ALIASES[name]}
    adaptation.note(f"{loc}/format", f"'format' {clip(name)} is dropped: it is not checked")
    return {keyword: value for keyword, value in schema.items() if keyword != "format"}


def rewrite_values(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Drop the values of an `enum` that stand twice or that nothing can ever equal."""
    values = schema.get("enum")
    if not isinstance(values, list) or len(values) > _MAX_VALUES:
        return schema
    kept: list[Any] = []
    seen: set[tuple[bool, Any]] = set()
    for index, value in enumerate(values):
        place = f"{loc}/enum/{index}"
        if isinstance(value, (dict, list)):
            adaptation.note(place, "a choice is between scalars: this value is dropped")
        elif (isinstance(value, bool), value) in seen:
            adaptation.note(place, f"{clip(value)} stands twice: one is dropped")
        elif not admits(schema, value, adaptation.draft):
            adaptation.note(place, f"{clip(value)} is dropped: the keywords beside it refuse it")
        else:
            seen.add((isinstance(value, bool), value))
            kept.append(value)
    if not kept or len(kept) == len(values):
        return _with_scalar_type(adaptation, schema, loc)
    return _with_scalar_type(adaptation, {**schema, "enum": kept}, loc)


def _with_scalar_type(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    declared = schema.get("type")
    is_list = isinstance(declared, list) and not (len(declared) == 2 and "null" in declared)
    if is_list and all(admits(schema, value, adaptation.draft) for value in schema["enum"]):
        adaptation.note(f"{loc}/type", "'type' is dropped: the options say it")
        return {keyword: value for keyword, value in schema.items() if keyword != "type"}
    return schema


def _without_idle_cases(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Drop an `if` without consequence, and consequences without `if`."""
    cases = {"then", "else"} & schema.keys()
    if "if" in schema and not cases:
        return dropped(adaptation, schema, loc, "if", "it has no effect here")
    if "if" not in schema:
        for keyword in sorted(cases):
            schema = dropped(adaptation, schema, loc, keyword, "it has no effect here")
    return schema


def _with_exclusive_numbers(
    adaptation: Adaptation, schema: dict[str, Any], loc: str
) -> dict[str, Any]:
    if adaptation.draft == 4:
        return schema
    rewritten = dict(schema)
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(schema.get(exclusive), bool):
            adaptation.note(
                f"{loc}/{exclusive}", f"{exclusive!r} of draft 4 is rewritten as a number"
            )
            del rewritten[exclusive]
            if schema[exclusive] and bound in rewritten:
                rewritten[exclusive] = rewritten.pop(bound)
    return rewritten
