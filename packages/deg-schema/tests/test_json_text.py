from __future__ import annotations

import json
import math

import pytest

from deg_schema.json_text import load_json
from deg_schema.json_values import RepeatedKeys


def test_a_key_given_twice_is_remembered() -> None:
    loaded = load_json('{"a": 1, "b": 2, "a": 3}')
    assert loaded == {"a": 3, "b": 2}
    assert isinstance(loaded, RepeatedKeys)
    assert loaded.repeated == ("a",)


def test_an_integer_too_long_to_convert_reads_as_infinite() -> None:
    assert load_json("1" * 5000) == math.inf
    assert load_json("1" * 1000) == int("1" * 1000)


def test_what_is_no_json_says_where() -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        load_json('{\n  "a": }')
    assert (caught.value.lineno, caught.value.colno) == (2, 8)
