from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, strategies as st

from deg_schema.pointer import escape_token
from deg_schema.positions import Position, locate, locate_depth, position_at

TEXT = """{
  "a": {"b": [1, {"c": null}, "]}"]},
  "x/y~\\u00e9": [[], {}, 2]
}"""

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("pointer", "line", "column"),
    [
        ("", 1, 1),
        ("/a", 2, 3),
        ("/a/b", 2, 9),
        ("/a/b/0", 2, 15),
        ("/a/b/1/c", 2, 19),
        ("/a/b/2", 2, 31),
        ("/x~1y~0é", 3, 3),
        ("/x~1y~0é/2", 3, 26),
    ],
)
def test_a_pointer_leads_to_the_key_or_the_item(pointer: str, line: int, column: int) -> None:
    assert locate(TEXT, [pointer]) == {pointer: Position(line, column)}


@pytest.mark.parametrize("pointer", ["/a/b/9", "/a/b/none", "/a/b/0/deeper"])
def test_what_is_not_there_is_near_what_is(pointer: str) -> None:
    around = "/a/b/0" if pointer.startswith("/a/b/0") else "/a/b"
    positions = locate(TEXT, [pointer, around])
    assert positions[pointer] == positions[around]


def test_of_a_key_given_twice_the_last_one_is_meant() -> None:
    assert locate('{"a": 1,\n "a": 2}', ["/a"]) == {"/a": Position(2, 2)}


def test_half_of_a_surrogate_pair_is_found_as_problems_spell_it() -> None:
    assert locate('{"k": {"\\ud800": 1}}', ["/k/\\ud800"]) == {"/k/\\ud800": Position(1, 8)}


@given(values, st.sampled_from([None, 0, 3]), st.booleans())
def test_every_pointer_leads_to_its_value(value: Any, indent: int | None, ascii: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii)
    expected = dict(_pointers(value))
    positions = locate(text, expected)
    for pointer, start in expected.items():
        rest = _rest(text, positions[pointer])
        assert json.JSONDecoder().raw_decode(rest)[0] == start


@given(st.text(alphabet="ab\n"), st.integers(0, 30))
def test_a_position_leads_back_to_its_offset(text: str, offset: int) -> None:
    offset = min(offset, len(text))
    assert _rest(text, position_at(text, offset)) == text[offset:]


def test_the_depth_is_found_where_it_is_passed() -> None:
    assert locate_depth('[1,\n {"[[[": [2]}]', 2) == Position(2, 10)
    assert locate_depth("[[], [], []]", 2) == Position(1, 1)


def _pointers(value: Any, pointer: str = "", start: Any = None) -> Iterator[tuple[str, Any]]:
    """Yield each pointer with what is written where it leads: a key, or the value of an item."""
    yield pointer, value if start is None else start
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _pointers(item, f"{pointer}/{escape_token(key)}", key)
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _pointers(item, f"{pointer}/{index}")


def _rest(text: str, position: Position) -> str:
    lines = text.split("\n")[position.line - 1 :]
    return "\n".join(lines)[position.column - 1 :]
