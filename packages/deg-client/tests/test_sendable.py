from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from deg_client import NotSent
from deg_client.sendable import encode_body

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(), parts, max_size=3),
    max_leaves=8,
)


@dataclass
class Reading:
    sensor: str
    value: float


class Level(msgspec.Struct):
    value: float


def is_sayable(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("part", "loc"),
    [
        ("half \udc00", "/context"),
        ({"notes": ["a", "half \udc00"]}, "/context/notes/1"),
        ({"half \udc00": 1}, "/context/half \\udc00"),
        ({"a/b": {"~": math.nan}}, "/context/a~1b/~0"),
        ([1.0, -math.inf], "/context/1"),
        ((1.0, math.inf), "/context/1"),
        (Reading("north", math.nan), "/context/value"),
        ([Level(math.nan)], "/context/0/value"),
        (Reading("\udc00", 1.0), "/context/sensor"),
    ],
)
def test_what_json_cannot_say_is_refused_with_its_place(part: object, loc: str) -> None:
    with pytest.raises(NotSent) as caught:
        encode_body({"schema": {}, "context": part})
    assert [problem.loc for problem in caught.value.problems] == [loc]


def test_every_problem_is_told() -> None:
    schema = {"properties": {"a": {"enum": ["\ud800", "b"], "description": "\ud800"}}}
    with pytest.raises(NotSent) as caught:
        encode_body({"context": "\ud800", "schema": schema, "options": {"temperature": math.nan}})
    assert [problem.loc for problem in caught.value.problems] == [
        "/context",
        "/schema/properties/a/enum/0",
        "/schema/properties/a/description",
        "/options/temperature",
    ]


def test_what_has_no_json_is_refused() -> None:
    with pytest.raises(NotSent, match="/context/a: JSON has no way to say a object"):
        encode_body({"context": {"a": object()}})


def test_what_nests_too_deep_is_refused() -> None:
    nested: Any = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(NotSent, match="/context: it nests too deep"):
        encode_body({"context": nested})


@given(json_values)
def test_what_is_sent_is_what_was_given(value: Any) -> None:
    if is_sayable(value):
        assert json.loads(encode_body({"context": value}))["context"] == value
    else:
        with pytest.raises(NotSent):
            encode_body({"context": value})
