from __future__ import annotations

from typing import Any

from deg_schema.compile import compile_schema
from deg_schema.reading_order import in_reading_order


def _pointers(properties: dict[str, Any]) -> list[str]:
    plan = compile_schema({"type": "object", "properties": properties})
    return [node.pointer for node in in_reading_order(plan)]


def test_an_array_comes_before_its_leaves_and_after_what_stands_before_it() -> None:
    leaf = {"type": "boolean"}
    item = {"type": "object", "properties": {"x": leaf, "in": {"type": "array", "items": leaf}}}
    assert _pointers({"a": leaf, "b": {"type": "array", "items": item}, "c": leaf}) == [
        "/a",
        "/b",
        "/b/*/x",
        "/b/*/in",
        "/b/*/in/*",
        "/c",
    ]


def test_an_array_of_arrays_comes_from_the_outside_in() -> None:
    inner = {"type": "array", "items": {"type": "string"}}
    assert _pointers({"a": {"type": "array", "items": inner}}) == ["/a", "/a/*", "/a/*/*"]
