import time
from typing import Any

import pytest

from deg_schema.compile import compile_schema
from deg_schema.errors import SchemaError


def _problems(schema: object) -> list[tuple[str, str]]:
    with pytest.raises(SchemaError) as raised:
        compile_schema(schema)
    return [(problem.loc, problem.msg) for problem in raised.value.problems]


def _pointing(reference: object, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"$ref": reference}}, **more}


@pytest.mark.parametrize(
    ("keyword", "value", "draft"),
    [
        ("$anchor", "here", "https://json-schema.org/draft/2020-12/schema"),
        ("$anchor", "here", "https://json-schema.org/draft/2019-09/schema"),
        ("$id", "#here", "http://json-schema.org/draft-07/schema#"),
        ("$id", "#here", "http://json-schema.org/draft-06/schema#"),
    ],
)
def test_a_name_is_written_as_the_draft_says(keyword: str, value: str, draft: str) -> None:
    definitions = {"x": {keyword: value, "type": "boolean"}}
    schema = _pointing("#here", definitions=definitions, **{"$schema": draft})
    assert [field.mode for field in compile_schema(schema).fields] == ["decide.noul"]


def test_a_name_that_two_schemas_carry_is_refused() -> None:
    definitions = {key: {"$anchor": "here", "type": "boolean"} for key in "xy"}
    [(loc, message)] = _problems(_pointing("#here", **{"$defs": definitions}))
    assert loc == "/properties/a/$ref"
    assert "both /$defs/x and /$defs/y" in message


def test_a_name_in_an_embedded_document_is_not_ours() -> None:
    embedded = {"$id": "https://example.com/x", "$anchor": "here", "type": "boolean"}
    [(loc, message)] = _problems(_pointing("#here", **{"$defs": {"x": embedded}}))
    assert loc == "/properties/a/$ref"
    assert "names nothing" in message


def test_a_thousand_names_are_found_in_one_walk() -> None:
    names = [f"n{index}" for index in range(1000)]
    definitions = {name: {"$anchor": name, "type": "boolean"} for name in names}
    properties = {name: {"$ref": f"#{name}"} for name in names}
    start = time.process_time()
    plan = compile_schema({"type": "object", "properties": properties, "$defs": definitions})
    # a walk for each name would be a million steps
    assert time.process_time() - start < 2
    assert len(plan.fields) == 1000
