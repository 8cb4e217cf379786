import math

import pytest
from hypothesis import given, strategies as st

from deg_schema.json_values import RepeatedKeys, check_json, clip

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def _problems(value: object) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    check_json(value, lambda loc, msg: found.append((loc, msg)))
    return found


@pytest.mark.parametrize(
    ("value", "loc", "message"),
    [
        ({"a": [1, math.nan]}, "/a/1", "nan is no JSON number"),
        ({"a": -math.inf}, "/a", "-inf is no JSON number"),
        ({"a": 10**5000}, "/a", "more than 4096 bits; remove it where it is a bound"),
        ({"a/b": "\ud800"}, "/a~1b", "half of a surrogate pair"),
        ({"a": {"\udfff": 1}}, "/a", "half of a surrogate pair"),
        ({"a": {1: 2}}, "/a", "JSON keys are strings"),
        ({"a": (1, 2)}, "/a", "a Python tuple is no JSON value"),
        ("x" * 200_000, "", "longer than 100000 characters"),
        ([0] * 2_000_000, "", "more than 1000000 values"),
    ],
)
def test_what_json_cannot_say_is_reported_at_its_place(
    value: object, loc: str, message: str
) -> None:
    [(found_loc, found_message)] = _problems(value)
    assert found_loc == loc
    assert message in found_message


def test_depth_is_bounded() -> None:
    value: list[object] = []
    value.append(value)
    [(loc, message)] = _problems(value)
    assert loc == "/0" * 256
    assert "nests deeper" in message


def test_repeated_keys_are_reported() -> None:
    assert _problems({"a": RepeatedKeys([("b", 1), ("b", 2), ("c", 3)])}) == [
        ("/a/b", "the key is given twice; keep one")
    ]


@given(JSON)
def test_json_has_no_problem(value: object) -> None:
    assert _problems(value) == []


@pytest.mark.parametrize(
    ("value", "spelled"),
    [
        ("x" * 61, repr("x" * 57 + "...")),
        ({}, "{}"),
        ([1], "an array"),
        (True, "true"),
        (None, "null"),
        (1.5, "1.5"),
        (10**5000, "an integer of 16610 bits"),
        (b"x" * 10**6, "a Python bytes"),
    ],
    ids=range(8),
)
def test_a_value_is_spelled_briefly(value: object, spelled: str) -> None:
    assert clip(value) == spelled


def test_a_name_is_as_long_as_a_text_may_be() -> None:
    assert _problems({"x" * 100_000: 1}) == []
    [(loc, message)] = _problems({"a": {"x" * 100_001: 1}})
    assert (loc, message) == ("/a", "a key is longer than 100000 characters; shorten it")


def test_problems_come_in_document_order() -> None:
    value = {"a": [math.nan, {"b": math.inf}, "\ud800"], "c": math.nan}
    assert [loc for loc, _ in _problems(value)] == ["/a/0", "/a/1/b", "/a/2", "/c"]


def test_ten_thousand_problems_are_told_and_that_there_may_be_more() -> None:
    found = _problems([math.nan] * 20_000)
    assert len(found) == 10_001
    assert found[9_999][0] == "/9999"
    assert "correct them first" in found[-1][1]
