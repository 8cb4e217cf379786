"""Every schema of the official suite, as a property and as the whole document."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from deg_schema.compile import compile_schema
from deg_schema.errors import Problem, SchemaError
from deg_schema.keywords import UNSUPPORTED
from deg_schema.plan import FillPlan
from deg_schema.pointer import Pointer

# twenty times the goal: a collection of garbage may fall into one of so many calls
SECONDS = 1
# copied with its licence; what compiles as a property says which fields it gives
CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "suite_schemas.json").read_text("utf-8")
)["schemas"]
DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}


def _document(case: dict[str, Any]) -> dict[str, Any]:
    schema = case["schema"]
    document = {"type": "object", "properties": {"a": schema}}
    if isinstance(schema, dict) and "$schema" in schema:
        return document | {"$schema": schema["$schema"]}
    return document | (DRAFT_7 if case["name"].startswith("draft7") else {})


def _compile(schema: object) -> FillPlan | tuple[Problem, ...]:
    start = time.process_time()
    try:
        return compile_schema(schema)
    except SchemaError as error:
        return error.problems
    finally:
        assert time.process_time() - start < SECONDS


@pytest.mark.parametrize("case", CASES, ids=[ascii(case["name"]) for case in CASES])
def test_a_schema_of_the_suite_gives_its_fields_or_problems_in_their_places(
    case: dict[str, Any],
) -> None:
    document = _document(case)
    found = _compile(document)
    if "fields" in case:
        assert isinstance(found, FillPlan)
        assert [f"{field.pointer} {field.mode}" for field in found.fields] == case["fields"]
    else:
        assert isinstance(found, tuple)
        assert found
        for problem in found:
            Pointer.parse(problem.loc).lookup(document)


@pytest.mark.parametrize("case", CASES, ids=[ascii(case["name"]) for case in CASES])
def test_an_unsupported_keyword_of_the_suite_is_named(case: dict[str, Any]) -> None:
    schema = case["schema"]
    found = _compile(_document(case))
    if isinstance(schema, dict) and "$ref" not in schema and not schema.keys() & {"anyOf", "oneOf"}:
        assert isinstance(found, tuple) or not schema.keys() & UNSUPPORTED.keys()
        locs = {problem.loc for problem in found} if isinstance(found, tuple) else set()
        for keyword in schema.keys() & UNSUPPORTED.keys():
            assert f"/properties/a/{keyword}" in locs


@pytest.mark.parametrize("case", CASES, ids=[ascii(case["name"]) for case in CASES])
def test_a_schema_of_the_suite_as_a_document_never_crashes(case: dict[str, Any]) -> None:
    assert _compile(case["schema"]) is not None
