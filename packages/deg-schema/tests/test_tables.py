from __future__ import annotations

from typing import Any

import pytest

from deg_schema.compile import compile_schema
from deg_schema.tables import plan_table


def _rows(leaf: dict[str, Any], *, required: bool = False) -> list[str]:
    schema = {"type": "object", "properties": {"a": leaf}, "required": ["a"] if required else []}
    return plan_table(compile_schema(schema), 200).splitlines()


@pytest.mark.parametrize(
    ("leaf", "row"),
    [
        ({"enum": ["x", None, 3]}, '/a decide.choice "x", null, 3 null is an answer'),
        ({"type": "boolean"}, "/a decide.noul true, false always answered"),
        (
            {"type": "integer", "minimum": 1, "maximum": 3, "x-levels": {"1": "calm"}},
            "/a decide.score 1 calm, 2, 3 always answered",
        ),
        (
            {"type": ["integer", "null"], "minimum": 0, "maximum": 1},
            "/a decide.score 0, 1, null null is an answer",
        ),
        (
            {"type": "integer", "minimum": 0, "multipleOf": 5},
            "/a extract.number left out integer, >= 0, multipleOf 5",
        ),
        ({"type": ["number", "null"], "exclusiveMaximum": 9}, "/a extract.number null < 9"),
        (
            {"type": "string", "format": "date"},
            "/a extract.date left out format date",
        ),
        (
            {"type": "string", "minLength": 1, "maxLength": 8, "pattern": "^a"},
            "/a extract.span left out minLength 1, maxLength 8, pattern ^a",
        ),
        (
            {"type": "string", "x-generate": True, "x-max-tokens": 9},
            "/a generate always written max tokens 9",
        ),
    ],
)
def test_a_row_says_what_is_asked(leaf: dict[str, Any], row: str) -> None:
    assert " ".join(_rows(leaf)[1].split()) == row


def test_a_required_span_fails_where_there_is_none() -> None:
    assert "best valid span, or the fill fails" in _rows({"type": "string"}, required=True)[1]


def test_many_options_are_counted() -> None:
    assert '"o15", and 84 more' in _rows({"enum": [f"o{number}" for number in range(100)]})[1]


SCHEMA = {
    "type": "object",
    "properties": {
        "a_long_name_for_a_field": {"enum": ["one", "two", "three", "四" * 9, "five"]},
        "b": {"type": "string", "pattern": "^" + "X" * 50, "minLength": 50},
    },
}


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_table_fits_the_width(width: int) -> None:
    lines = plan_table(compile_schema(SCHEMA), width).splitlines()
    wide = [len(line) + line.count("四") for line in lines]
    assert max(wide) <= width


def test_no_word_is_broken_where_folding_lines_suffices() -> None:
    table = plan_table(
        compile_schema(
            {
                "type": "object",
                "properties": {"a": {"enum": [f"option {number}" for number in range(9)]}},
            }
        ),
        72,
    )
    assert "decide.choice" in table
    assert "always answered" in table


def test_the_narrowest_terminal_still_gets_everything() -> None:
    table = plan_table(compile_schema(SCHEMA), 1)
    assert sum(line.count("X") for line in table.splitlines()) == 50


def test_a_name_cannot_write_to_the_terminal() -> None:
    schema = {"type": "object", "properties": {"a\x1b[2J": {"type": "boolean"}}}
    assert r"/a\x1b[2J" in plan_table(compile_schema(schema), 80)


def test_a_schema_without_fields_has_a_header_alone() -> None:
    assert len(plan_table(compile_schema({"type": "object"}), 80).splitlines()) == 1


def _cells(leaf: dict[str, Any]) -> list[str]:
    return [" ".join(row.split()) for row in _rows(leaf)[1:]]


def test_an_array_stands_before_what_its_items_hold() -> None:
    item = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "tags": {"type": "array", "items": {"enum": [1, 2]}},
        },
    }
    assert _cells({"type": "array", "items": item, "maxItems": 9, "uniqueItems": True}) == [
        "/a array items found by place an empty array maxItems 9, uniqueItems",
        "/a/*/name extract.span best valid span, or the item is left out",
        "/a/*/tags array items counted an empty array at most 32",
        "/a/*/tags/* decide.choice 1, 2 always answered",
    ]


def test_too_few_items_fail_or_take_the_item_around_them_along() -> None:
    inner = {"type": "array", "items": {"type": "string"}, "minItems": 2}
    item = {"type": "object", "properties": {"inner": inner}}
    rows = _cells({"type": "array", "items": item, "minItems": 1})
    assert "the fill fails minItems 1" in rows[0]
    assert "the item around it is left out minItems 2" in rows[1]
