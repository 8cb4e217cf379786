"""The compiler: from a JSON Schema to a fill plan, or to every problem that it has."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, get_args

from deg_schema.arrays import finish_array, read_array, read_items
from deg_schema.compilation import Compilation, Node, TooManyFields
from deg_schema.errors import Problem, SchemaError
from deg_schema.generation import refuse_generated
from deg_schema.json_values import check_json, clip
from deg_schema.keywords import ANNOTATIONS, DRAFTS, TYPE_KEYWORDS, UNSUPPORTED
from deg_schema.leaves import compile_leaf
from deg_schema.limits import MAX_DEPTH
from deg_schema.plan import FillPlan, LeafType, ObjectPlan
from deg_schema.pointer import escape_token
from deg_schema.refs import find_target
from deg_schema.shapes import check_shapes
from deg_schema.unions import compile_union

__all__ = ["check_document", "compile_part", "compile_schema", "draft_of"]

_LEAF_TYPES = get_args(LeafType)[:4]
_TYPES = (*_LEAF_TYPES, "object", "array")
_REF_SIBLINGS = ANNOTATIONS | {"$ref"}
_NO_NAMES: frozenset[str] = frozenset()


def compile_schema(schema: object) -> FillPlan:
    """Compile *schema*, which is left as it is.

    Raises:
        SchemaError: The schema is outside the contract; every problem is in `problems`.
    """
    check_document(schema)
    assert isinstance(schema, dict)
    compilation = Compilation(schema, draft_of(schema) or 2020)
    if draft_of(schema) is None and isinstance(schema["$schema"], str):
        known = ", ".join(f"https://{address}" for address in DRAFTS)
        compilation.report(
            "/$schema", f"'$schema' {clip(schema['$schema'])} is unknown; use one of {known}"
        )
    try:
        _compile_root(compilation, schema)
        for loc, definitions in compilation.definitions:
            for name, definition in definitions.items():
                check_shapes(compilation, definition, f"{loc}/{escape_token(name)}")
    except TooManyFields:
        pass
    if compilation.problems:
        raise SchemaError(compilation.problems)
    return FillPlan(
        tuple(compilation.fields), tuple(compilation.objects), tuple(compilation.arrays)
    )


def draft_of(schema: dict[str, Any]) -> int | None:
    """Return the draft that `$schema` names, 2020 where it names none, `None` if it is unknown."""
    address = schema.get("$schema")
    if "$schema" not in schema:
        return 2020
    if not isinstance(address, str):
        return None
    return DRAFTS.get(address.partition("://")[2].removesuffix("#"))


def compile_part(schema: dict[str, Any], document: dict[str, Any], *, draft: int) -> Compilation:
    """Compile the schema of one property, whose references are into *document*."""
    place = "/properties/part"
    compilation = Compilation({**document, "properties": {"part": schema}}, draft)
    with suppress(TooManyFields):
        _compile(compilation, Node(schema, place, ("part",), 1))
    return compilation


def check_document(schema: object) -> None:
    """Check that *schema* is an object that a JSON text of bounded size can say.

    Raises:
        SchemaError: It is not; every problem is in `problems`.
    """
    problems: list[Problem] = []
    if not isinstance(schema, dict):
        problems.append(Problem("", f"the root is a schema of 'type' 'object', not {clip(schema)}"))
    else:
        check_json(schema, lambda loc, msg: problems.append(Problem(loc, msg)))
    if problems:
        raise SchemaError(problems)


def _compile_root(compilation: Compilation, schema: dict[str, Any]) -> None:
    if "$ref" in schema or schema.get("type") == "object":
        _compile(compilation, Node(schema, "", ()))
        return
    compilation.report("", 'the root must have "type": "object"; put other values in a property')
    if isinstance(schema.get("properties"), dict):
        _compile_object(compilation, Node(schema, "", ()))
    else:
        compilation.check_keywords(schema, "", schema.keys() - UNSUPPORTED.keys(), "the root")


def _compile(compilation: Compilation, node: Node) -> None:
    compilation.count()
    if node.loc in compilation.active:
        compilation.report(node.loc, "the schema contains itself; write out the levels you need")
        return
    if node.depth > MAX_DEPTH:
        compilation.report(node.loc, f"the schema is deeper than {MAX_DEPTH} levels; flatten it")
        return
    compilation.visited.add(node.loc)
    compilation.active.add(node.loc)
    if "$ref" in node.schema:
        _follow(compilation, node)
    elif "anyOf" in node.schema or "oneOf" in node.schema:
        _compile_union(compilation, node)
    else:
        _compile_typed(compilation, node)
    compilation.active.discard(node.loc)


def _follow(compilation: Compilation, node: Node) -> None:
    compilation.check_keywords(node.schema, node.loc, _REF_SIBLINGS, "a schema with '$ref'")
    found = find_target(compilation, node.schema["$ref"], node.loc)
    if found is None:
        return
    target, loc = found
    if loc in compilation.active:
        compilation.report(
            f"{node.loc}/$ref",
            f"'$ref' {clip(node.schema['$ref'])} is recursive; write out the levels you need",
        )
    elif compilation.is_schema(target, loc):
        title, description = node.texts()
        _compile(
            compilation,
            replace(
                node,
                schema=target,
                loc=loc,
                depth=node.depth + 1,
                title=title,
                description=description,
            ),
        )


def _compile_union(compilation: Compilation, node: Node) -> None:
    refuse_generated(compilation, node, "a union")
    planned = compile_union(compilation, node)
    if isinstance(planned, Node):
        _compile(compilation, planned)
    elif planned is not None:
        compilation.fields.append(planned)


def _compile_typed(compilation: Compilation, node: Node) -> None:
    kind, node = _kind_of(compilation, node)
    if kind is None:
        return
    if not node.path and kind != "object":
        compilation.report(
            node.loc, f"the root must be an object, not {kind}; put it in a property"
        )
        return
    if kind != "string":
        refuse_generated(compilation, node, "an enum" if kind == "any" else kind)
    if kind == "object":
        _compile_object(compilation, node)
    elif kind == "array":
        _compile_array(compilation, node)
    elif field := compile_leaf(compilation, node, kind):
        compilation.fields.append(field)


def _kind_of(compilation: Compilation, node: Node) -> tuple[Any, Node]:
    schema = node.schema
    declared = schema.get("type")
    if isinstance(declared, str) and declared in _TYPES:
        return declared, node
    if "type" not in schema:
        return _kind_of_untyped(compilation, node), node
    if isinstance(declared, list) and len(declared) == 2 and "null" in declared:
        other = declared[1 - declared.index("null")]
        if isinstance(other, str) and other in _TYPES:
            return other, replace(node, nullable=True)
    place = f"{node.loc}/type"
    if declared == "null":
        compilation.report(place, "'type' 'null' has nothing to decide: remove the property")
    elif isinstance(declared, list):
        compilation.report(
            place, "'type' with several types must be [X, \"null\"]; choose one type"
        )
    else:
        names = ", ".join(_TYPES)
        compilation.report(place, f"'type' {clip(declared)} is unknown; use one of {names}")
    return None, node


def _kind_of_untyped(compilation: Compilation, node: Node) -> str | None:
    schema = node.schema
    if "enum" in schema:
        return "any"
    unsupported = schema.keys() & UNSUPPORTED.keys()
    compilation.check_keywords(
        schema, node.loc, schema.keys() - unsupported, "a schema without 'type'"
    )
    if not unsupported:
        type_hint = "object" if "properties" in schema else "string"
        compilation.report(
            node.loc, f"the schema has no 'type'; say what the value is, such as {type_hint!r}"
        )
    return None


def _compile_object(compilation: Compilation, node: Node) -> None:
    schema, loc = node.schema, node.loc
    compilation.check_keywords(schema, loc, TYPE_KEYWORDS["object"], "type 'object'")
    if node.nullable:
        compilation.report(
            f"{loc}/type" if "type" in schema else loc,
            "a nullable object is not supported; make it optional, or its properties nullable",
        )
    if not isinstance(schema.get("additionalProperties", True), bool):
        compilation.report(
            f"{loc}/additionalProperties",
            "'additionalProperties' must be true or false; name every key under 'properties'",
        )
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        compilation.report(
            f"{loc}/properties", f"'properties' must be an object, not {clip(properties)}"
        )
        return
    index, start = len(compilation.objects), len(compilation.fields)
    nested = ObjectPlan(node.path, node.required, start, start, node.item_steps)
    if node.path:
        compilation.objects.append(nested)
    required = _required_names(compilation, node, properties)
    for name, child in properties.items():
        place = f"{loc}/properties/{escape_token(name)}"
        if compilation.is_schema(child, place):
            _compile(
                compilation,
                Node(
                    child,
                    place,
                    (*node.path, name),
                    node.depth + 1,
                    name in required,
                    item_steps=node.item_steps,
                ),
            )
    if node.path:
        compilation.objects[index] = replace(nested, stop=len(compilation.fields))


def _required_names(
    compilation: Compilation, node: Node, properties: dict[str, Any]
) -> frozenset[str]:
    names = node.schema.get("required")
    place = f"{node.loc}/required"
    if "required" not in node.schema:
        return _NO_NAMES
    if not isinstance(names, list) or (not names and compilation.draft == 4):
        compilation.report(place, f"'required' must be an array of names, not {clip(names)}")
        return _NO_NAMES
    seen: set[str] = set()
    for index, name in enumerate(names):
        if not isinstance(name, str):
            compilation.report(f"{place}/{index}", f"a required name is a string, not {clip(name)}")
        elif name in seen:
            compilation.report(f"{place}/{index}", f"{clip(name)} stands twice; remove one")
        elif name not in properties:
            compilation.report(
                f"{place}/{index}",
                f"'required' names {clip(name)}, which is not in 'properties'; add it there",
            )
        else:
            seen.add(name)
    return frozenset(seen)


def _compile_array(compilation: Compilation, node: Node) -> None:
    array = read_array(compilation, node)
    index, start = len(compilation.arrays), len(compilation.fields)
    compilation.arrays.append(array)
    items = read_items(compilation, node)
    if items is not None:
        _compile(compilation, items)
        compilation.arrays[index] = finish_array(compilation, node, array, start)
