from __future__ import annotations

from typing import Any

import pytest

from deg_train.generate.gold import is_parsed, read_slot

NUMBER: dict[str, Any] = {"type": "number"}
DATE: dict[str, Any] = {"type": ["string", "null"], "format": "date"}


@pytest.mark.parametrize(
    ("leaf", "expected"),
    [
        (NUMBER, True),
        ({"type": "integer", "minimum": 0}, True),
        (DATE, True),
        ({"anyOf": [{"type": "string", "format": "email"}, {"type": "null"}]}, True),
        ({"type": ["string", "null"]}, False),
    ],
)
def test_leaves_that_a_parser_reads(leaf: dict[str, Any], expected: bool) -> None:
    assert is_parsed(leaf) == expected


@pytest.mark.parametrize(
    ("leaf", "slot", "value"),
    [
        (NUMBER, "$1,250.50", 1250.5),
        (NUMBER, "12 boxes", 12),
        (DATE, "5 March 2024", "2024-03-05"),
        (DATE, "03/04/2024", None),
        (NUMBER, "a dozen", None),
    ],
)
def test_a_slot_is_read_by_the_strict_parser(leaf: dict[str, Any], slot: str, value: Any) -> None:
    context = f"No 7\nTotal: {slot}, of 9\n2024-01-01"
    start = context.index(slot)
    reading = read_slot(leaf, context, (start, start + len(slot)))
    assert (reading and reading[0]) == value
    if reading:
        left, right = reading[1]
        assert context[left:right] in slot
