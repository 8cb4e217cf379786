from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from deg_schema import (
    FieldPlan,
    Options,
    Pointer,
    compile_schema,
    find_candidates,
    has_candidates,
    read_span,
    trim_span,
)

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").iterdir())
SCALAR_MODES = {
    "decide.choice",
    "decide.score",
    "decide.noul",
    "extract.number",
    "extract.date",
    "extract.span",
}


def read(folder: Path) -> tuple[str, dict[str, Any], dict[str, Any]]:
    schema = json.loads((folder / "schema.json").read_text(encoding="utf-8"))
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    return (folder / "document.txt").read_text(encoding="utf-8"), schema, expected


def can_be_filled(field: FieldPlan, value: Any, document: str) -> bool:
    """Say whether some outcome of the field is *value*."""
    if field.mode == "decide.noul":
        return isinstance(value, bool)
    if field.mode.startswith("decide"):
        return value in field.options or value in field.levels
    if value is None:
        return field.nullable
    if not has_candidates(field):
        start = document.find(value)
        end = start + len(value)
        return start >= 0 and trim_span(document, start, end) == (start, end)
    texts = (document[start:end] for start, end in find_candidates(field, document))
    return any(read_span(field, text, Options()).value == value for text in texts)


@pytest.fixture(params=EXAMPLES, ids=[folder.name for folder in EXAMPLES])
def example(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any], dict[str, Any]]:
    return read(request.param)


def test_what_is_expected_is_valid(example: tuple[str, dict[str, Any], dict[str, Any]]) -> None:
    _, schema, expected = example
    Draft202012Validator(schema).validate(expected)
    assert expected.keys() <= schema["properties"].keys()


def test_what_is_expected_can_be_filled(
    example: tuple[str, dict[str, Any], dict[str, Any]],
) -> None:
    document, schema, expected = example
    fields = {field.pointer: field for field in compile_schema(schema).fields}
    for name, value in expected.items():
        assert can_be_filled(fields[str(Pointer((name,)))], value, document), name


def test_what_is_not_expected_may_be_left_out(
    example: tuple[str, dict[str, Any], dict[str, Any]],
) -> None:
    _, schema, expected = example
    absent = [field for field in compile_schema(schema).fields if field.path[0] not in expected]
    assert all(field.on_null == "omit" for field in absent)


def test_documents_are_of_readable_length() -> None:
    assert len(EXAMPLES) >= 4
    assert all(150 <= len(read(folder)[0].split()) <= 900 for folder in EXAMPLES)


def test_the_schemas_use_every_scalar_mode() -> None:
    fields = [field for folder in EXAMPLES for field in compile_schema(read(folder)[1]).fields]
    assert {field.mode for field in fields} == SCALAR_MODES
    assert {field.format for field in fields} >= {"date", "date-time", "email", "uri", None}
    assert {field.type for field in fields} >= {"number", "integer", "string", "boolean"}
    assert {field.on_null for field in fields} >= {"null", "omit"}
