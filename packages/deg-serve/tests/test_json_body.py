from __future__ import annotations

import pytest

from deg_serve.faults import Fault
from deg_serve.json_body import dump, load_object


def test_an_object_is_read() -> None:
    assert load_object(b'{"a": [1, "\\u00e9", null]}') == {"a": [1, "\u00e9", None]}


def test_json_is_spelt_as_the_contract_serialises_a_context() -> None:
    assert dump({"b": "\u00e9", "a": [1, True]}) == '{"b": "\u00e9", "a": [1, true]}'


@pytest.mark.parametrize(
    ("body", "path", "words"),
    [
        (b"", (), "no JSON"),
        (b"{", (), "line 1 column 2"),
        (b"\xff", (), "UTF-8"),
        (b"[1]", (), "an array"),
        (b'"a"', (), "object"),
        (b"[" * 100_000, (), "nests too deep"),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', (), "'c' is given twice"),
        (b'{"a": ' + b"1" * 5000 + b"}", (), "too long"),
        (b'{"a": [0, 1e999]}', ("a", 1), "JSON number"),
        (b'{"a": {"b": NaN}}', ("a", "b"), "JSON number"),
        (b'{"a/b": "\\ud800"}', ("a/b",), "surrogate"),
        (b'{"a": {"\\ud800": 1}}', ("a",), "surrogate"),
        (b'{"a": ' + b"[" * 300 + b"]" * 300 + b"}", ("a", *[0] * 255), "nests deeper"),
    ],
)
def test_what_no_later_step_could_take_is_refused(
    body: bytes, path: tuple[str | int, ...], words: str
) -> None:
    with pytest.raises(Fault, match=words) as caught:
        load_object(body)
    assert caught.value.path == path
