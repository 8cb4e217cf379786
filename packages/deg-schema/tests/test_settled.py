"""What stands before any text is written."""

from typing import Any

import pytest

from deg_schema.compile import compile_schema
from deg_schema.errors import FillError
from deg_schema.outcomes import Decided, Extracted, Generated, Items, Missing, Outcome
from deg_schema.response import assemble
from deg_schema.settled import settle

NOTHING = Missing("not_found", 0.9)
SAY = {"type": "string", "x-generate": True}
ROW = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "say": SAY, "new": {"type": "boolean"}},
    "required": ["name", "say"],
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "who": {
            "type": "object",
            "properties": {"id": {"type": ["string", "null"]}, "mail": {"type": "string"}},
            "required": ["mail"],
        },
        "note": {"type": ["string", "null"]},
        "rows": {"type": "array", "items": ROW},
        "reply": SAY,
    },
}


def _found(value: str) -> Extracted:
    return Extracted(value, (0, 1), 0.5)


def _outcomes() -> dict[str, Outcome]:
    names = (_found("a"), NOTHING, _found("c"))
    rows: dict[str, Outcome] = {}
    for index, name in enumerate(names):
        rows |= {f"/rows/{index}/name": name, f"/rows/{index}/new": Decided((0.9, 0.1))}
    others = {"/who/id": NOTHING, "/who/mail": NOTHING, "/note": NOTHING}
    return {**others, "/rows": Items(3, "maxItems"), **rows}


def test_the_texts_that_are_left_have_the_place_they_will_have_and_the_one_they_had() -> None:
    settled = settle(compile_schema(SCHEMA), _outcomes())
    assert [(text.pointer, text.source) for text in settled.texts] == [
        ("/rows/0/say", "/rows/0/say"),
        ("/rows/1/say", "/rows/2/say"),
        ("/reply", "/reply"),
    ]
    assert [text.field.pointer for text in settled.texts] == ["/rows/*/say"] * 2 + ["/reply"]


def test_what_is_known_is_what_the_response_will_say_in_schema_order() -> None:
    plan, outcomes = compile_schema(SCHEMA), _outcomes()
    settled = settle(plan, outcomes)
    assert settled.known == (
        ("/note", None),
        ("/rows/0/name", "a"),
        ("/rows/0/new", True),
        ("/rows/1/name", "c"),
        ("/rows/1/new", True),
    )
    texts = {text.source: Generated("t", 1) for text in settled.texts}
    response = assemble(plan, SCHEMA, outcomes | texts, model="m", prompt_tokens=1)
    written = {pointer for pointer, meta in response["meta"].items() if meta["mode"] == "generate"}
    assert {part.pointer: part.meta for part in settled.parts} == {
        pointer: meta for pointer, meta in response["meta"].items() if pointer not in written
    }
    assert response["meta"]["/rows"] == {
        "mode": "array",
        "items": 2,
        "dropped": 1,
        "limit": "maxItems",
    }


def test_a_null_in_an_object_that_is_left_out_is_not_known() -> None:
    (ident, *_) = settle(compile_schema(SCHEMA), _outcomes()).parts
    assert (ident.pointer, ident.has_value) == ("/who/id", False)


def test_what_cannot_be_filled_fails_before_a_text_is_written() -> None:
    must = SCHEMA | {"required": ["who"]}
    with pytest.raises(FillError, match="^/who/mail: the field is required"):
        settle(compile_schema(must), _outcomes())


def test_a_text_that_nobody_wrote_is_an_error_of_the_response() -> None:
    with pytest.raises(FillError, match="^/rows/0/say: the field has no outcome"):
        assemble(compile_schema(SCHEMA), SCHEMA, _outcomes(), model="m", prompt_tokens=1)
