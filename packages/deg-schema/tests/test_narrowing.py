from typing import Any

import pytest

from deg_schema import SchemaError, adapt, compile_schema, obstacles

_TEXT = {"type": "string"}
_WHOLE = {"type": "integer"}
_NULL = {"type": "null"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("leaf", "adapted"),
    [
        ({"anyOf": [_TEXT, False]}, _TEXT),
        ({"anyOf": [_WHOLE, True], "title": "T"}, {**_WHOLE, "title": "T"}),
        ({"anyOf": [_TEXT]}, _TEXT),
        ({"oneOf": [{"type": "array", "items": _WHOLE}]}, {"type": "array", "items": _WHOLE}),
        ({"oneOf": [_TEXT, _WHOLE]}, _TEXT),
        ({"oneOf": [_WHOLE, _TEXT, _NULL]}, {"oneOf": [_WHOLE, _NULL]}),
        ({"anyOf": [{"anyOf": [_WHOLE, _TEXT]}, _NULL]}, {"anyOf": [_WHOLE, _NULL]}),
        ({"anyOf": [_TEXT, {**_TEXT, "title": "T"}]}, _TEXT),
        ({"anyOf": [_TEXT, {**_TEXT, "pattern": "^a"}]}, _TEXT),
        ({"type": "string", "anyOf": [{"minLength": 2}, _WHOLE]}, {**_TEXT, "minLength": 2}),
        ({"type": "string", "oneOf": [{"minLength": 2}, _WHOLE]}, {**_TEXT, "minLength": 2}),
        ({"type": ["integer", "array", "null"]}, {"type": ["integer", "null"]}),
        (
            {"anyOf": [{"const": "a", "x-v": 1}, {"const": "b"}]},
            {"anyOf": [{"const": "a"}, {"const": "b"}]},
        ),
        ({"anyOf": [_object(a=_TEXT), {"not": {}}]}, _object(a=_TEXT)),
    ],
)
def test_a_union_is_narrowed_to_the_branch_that_fits(leaf: Any, adapted: Any) -> None:
    schema, notes = adapt(_object(a=leaf))
    assert schema == _object(a=adapted)
    assert notes
    compile_schema(schema)


@pytest.mark.parametrize(
    "leaf",
    [
        {"anyOf": [_TEXT, {"type": "boolean"}]},
        {"anyOf": [_object(a=_TEXT), _TEXT]},
        {"oneOf": [_object(k={"const": "a"}, n=_WHOLE), _object(k={"const": "b"}, m=_WHOLE)]},
        {"oneOf": [_WHOLE, {"type": "number"}]},
        {"oneOf": [_TEXT, {"pattern": "a"}]},
        {"type": "string", "oneOf": [{"minLength": 2}, {"pattern": "a"}]},
        {"oneOf": [{}, _NULL]},
        {"anyOf": ["string"]},
        {"anyOf": [False]},
        {"anyOf": [_TEXT], "oneOf": [_TEXT]},
        {"type": ["string", "boolean"]},
        {"type": ["string", "strng"]},
    ],
)
def test_a_union_without_such_a_branch_stays_with_its_branches(leaf: Any) -> None:
    schema = _object(a=leaf)
    assert adapt(schema) == (schema, ())
    with pytest.raises(SchemaError):
        compile_schema(schema)


def test_a_discriminated_union_has_a_clear_problem() -> None:
    branches = [_object(kind={"const": kind}, n=_WHOLE) for kind in ("a", "b")]
    leaf = {"oneOf": branches, "discriminator": {"propertyName": "kind"}}
    schema, [note] = adapt(_object(a=leaf))
    assert note.loc == "/properties/a/discriminator"
    [obstacle] = obstacles(schema)
    assert obstacle.loc == "/properties/a/oneOf"
    with pytest.raises(SchemaError, match="choose one schema"):
        compile_schema(schema)


def test_what_is_wrong_within_a_nullable_branch_stays_alone() -> None:
    leaf = {"anyOf": [{"type": "string", "pattern": "(", "x-v": 1}, _NULL]}
    schema, _ = adapt(_object(a=leaf))
    assert schema == _object(a={"anyOf": [{"type": "string", "pattern": "("}, _NULL]})


def test_a_branch_that_is_ruled_out_is_told() -> None:
    leaf = {"type": "string", "anyOf": [{"maxLength": 3}, {"type": "integer"}]}
    _, notes = adapt(_object(a=leaf))
    assert "/properties/a/anyOf/1" in [note.loc for note in notes]
