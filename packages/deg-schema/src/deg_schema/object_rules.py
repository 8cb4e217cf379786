"""What `adapt` does to the keywords of an object: only keys that are named are ever written."""

from __future__ import annotations

from typing import Any

from deg_schema.adaptation import Adaptation
from deg_schema.admission import surely_admits
from deg_schema.json_values import clip
from deg_schema.keyword_rules import dropped
from deg_schema.keywords import ANNOTATIONS, is_number
from deg_schema.limits import MAX_FIELDS, MAX_OPTIONS
from deg_schema.pointer import escape_token

__all__ = ["close", "rewrite_object"]

_NAME_KEYWORDS = ANNOTATIONS | {"type", "minLength", "maxLength", "pattern", "enum", "const"}
_DEPENDENCIES = ("dependentRequired", "dependentSchemas", "dependencies")
_NAMED = "only named keys are ever written"
_EMPTY = "no key is named, so it stays empty; name the keys under 'properties'"


def rewrite_object(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Say of each named key what the other keywords say of it, and close the object to others."""
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return schema
    if not all(isinstance(name, str) for name in required):
        return schema
    schema = _with_required(adaptation, schema, loc)
    schema = _with_patterns(adaptation, schema, loc)
    schema = _with_names(adaptation, schema, loc)
    schema = _without_impossible(adaptation, schema, loc)
    schema = _with_dependencies(adaptation, schema, loc)
    schema = _with_counts(adaptation, schema, loc)
    return _with_additional(adaptation, schema, loc)


def close(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Return *schema* without room for keys that it does not name."""
    if schema.get("additionalProperties") is not False:
        what = _NAMED if schema.get("properties") else _EMPTY
        adaptation.note(f"{loc}/additionalProperties", f"the object is closed: {what}")
    return {**schema, "additionalProperties": False}


def _with_required(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Name the keys that must be there, and name each once."""
    required = schema.get("required", [])
    others = schema.get("additionalProperties", True)
    named = schema.get("properties", {})
    once = list(dict.fromkeys(required))
    if len(once) < len(required):
        adaptation.note(f"{loc}/required", "a name stands twice in 'required': one is dropped")
        schema = {**schema, "required": once}
    if not isinstance(others, dict) and others is not True:
        return schema
    if schema.get("unevaluatedProperties", True) is not True:
        return schema
    added = {}
    for name in once:
        if name not in named:
            place = f"{loc}/properties/{escape_token(name)}"
            adaptation.note(place, "the property is added: 'required' asks for it")
            added[name] = {} if others is True else others
    return {**schema, "properties": {**named, **added}} if added else schema


def _with_patterns(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    patterns = schema.get("patternProperties")
    if not isinstance(patterns, dict):
        return schema
    named = dict(schema.get("properties", {}))
    if len(patterns) * len(named) > MAX_FIELDS:
        return schema
    for pattern, child in patterns.items():
        if not isinstance(child, (dict, bool)):
            return schema
        for name in named:
            is_found = adaptation.finds(pattern, name)
            if is_found is None:
                adaptation.refuse(
                    f"{loc}/patternProperties",
                    f"'patternProperties' stays: {clip(pattern)} cannot be searched",
                )
                return schema
            if is_found and child is not True:
                named[name] = {"allOf": [named[name], child]} if child else False
    why = "it is said of the properties whose names match"
    schema = dropped(adaptation, schema, loc, "patternProperties", why)
    return close(adaptation, {**schema, "properties": named} if named else schema, loc)


def _with_names(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    schema = _with_listed(adaptation, schema, loc)
    rule, named = _rule_of_names(adaptation, schema), schema.get("properties", {})
    if rule is True or (isinstance(rule, dict) and not rule.keys() - ANNOTATIONS):
        return dropped(adaptation, schema, loc, "propertyNames", "it has no effect here")
    if rule is False and not named:
        return close(adaptation, dropped(adaptation, schema, loc, "propertyNames", _NAMED), loc)
    if not isinstance(rule, dict) or not rule.keys() <= _NAME_KEYWORDS:
        return schema
    if named and not all(_is_name(adaptation, rule, name) for name in named):
        adaptation.refuse(
            f"{loc}/propertyNames", "'propertyNames' stays: it refuses a name under 'properties'"
        )
        return schema
    why = "the names under 'properties' are as it asks"
    return close(adaptation, dropped(adaptation, schema, loc, "propertyNames", why), loc)


def _with_listed(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Name the keys that `propertyNames` lists: what a map from the values of an enum prints."""
    rule, others = _rule_of_names(adaptation, schema), schema.get("additionalProperties")
    if not isinstance(rule, dict) or not isinstance(rule.get("enum"), list):
        return schema
    named = dict(schema.get("properties", {}))
    for name in rule["enum"][:MAX_OPTIONS]:
        is_new = isinstance(name, str) and name not in named and isinstance(others, dict)
        if is_new and rule.keys() <= _NAME_KEYWORDS and _is_name(adaptation, rule, name):
            place = f"{loc}/properties/{escape_token(name)}"
            adaptation.note(place, "the property is added: 'propertyNames' lists it")
            named[name] = others
    return {**schema, "properties": named} if named else schema


def _rule_of_names(adaptation: Adaptation, schema: dict[str, Any]) -> Any:
    rule = schema.get("propertyNames")
    if isinstance(rule, dict) and "$ref" in rule and rule.keys() <= ANNOTATIONS | {"$ref"}:
        found = adaptation.target(rule["$ref"])
        return found[0] if found else rule
    return rule


def _is_name(adaptation: Adaptation, rule: dict[str, Any], name: str) -> bool:
    values = rule.get("enum", [name])
    if not isinstance(values, list) or name not in values or rule.get("const", name) != name:
        return False
    return surely_admits(adaptation, rule, name)


def _without_impossible(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Remove the optional properties that no value can have."""
    named, required = schema.get("properties", {}), set(schema.get("required", []))
    removed = [name for name in named if named[name] is False and name not in required]
    if not removed or adaptation.draft == 4:
        return schema
    for name in removed:
        place = f"{loc}/properties/{escape_token(name)}"
        adaptation.note(place, "the property is removed: it admits no value")
    kept = {name: child for name, child in named.items() if child is not False or name in required}
    return close(adaptation, {**schema, "properties": kept}, loc)


def _with_dependencies(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Drop what can never come to bear: a key that is not written, one that is always there."""
    named, required = schema.get("properties", {}), set(schema.get("required", []))
    for keyword in _DEPENDENCIES:
        dependencies = schema.get(keyword)
        if not isinstance(dependencies, dict):
            continue
        triggers = [name for name in dependencies if name in named]
        if all(_is_met(dependencies[name], required) for name in triggers):
            why = "it asks for no more than 'required'"
            schema = close(adaptation, dropped(adaptation, schema, loc, keyword, why), loc)
    return schema


def _is_met(dependency: object, required: set[str]) -> bool:
    if isinstance(dependency, list):
        return all(isinstance(name, str) and name in required for name in dependency)
    return dependency is True or dependency == {}


def _with_counts(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    least, most = schema.get("minProperties"), schema.get("maxProperties")
    named, required = schema.get("properties", {}), schema.get("required", [])
    if least is not None and is_number(least) and len(set(required)) >= least:
        why = "'required' names as many"
        schema = dropped(adaptation, schema, loc, "minProperties", why)
    if most is not None and is_number(most) and len(named) <= most:
        why = "no more are named under 'properties'"
        schema = close(adaptation, dropped(adaptation, schema, loc, "maxProperties", why), loc)
    return schema


def _with_additional(adaptation: Adaptation, schema: dict[str, Any], loc: str) -> dict[str, Any]:
    """Close an object whose other keys have a schema, since their names are not known."""
    unevaluated = schema.get("unevaluatedProperties", True)
    if "unevaluatedProperties" in schema:
        is_idle = unevaluated is True or "additionalProperties" in schema or adaptation.draft < 2019
        why = "it has no effect here" if is_idle else "'additionalProperties' false says it"
        schema = dropped(adaptation, schema, loc, "unevaluatedProperties", why)
        schema = schema if is_idle else close(adaptation, schema, loc)
    others = schema.get("additionalProperties")
    if isinstance(others, dict) and others.keys() <= ANNOTATIONS:
        place = f"{loc}/additionalProperties"
        adaptation.note(place, "'additionalProperties' without keywords is written as true")
        return {**schema, "additionalProperties": True}
    return close(adaptation, schema, loc) if isinstance(others, dict) else schema
