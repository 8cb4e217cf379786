from __future__ import annotations

import json

import pytest
from hypothesis import given, strategies as st

from deg_schema.json_faults import JsonFault, explain_fault


def _fault(text: str) -> JsonFault:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(text)
    return explain_fault(caught.value)


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("", "the file is empty", 0),
        (" \n\t", "the file is empty", 0),
        ('{"a": 1,}', "nothing follows this comma but '}'", 7),
        ('{"a": [1,\n\n]}', "nothing follows this comma but ']'", 8),
        ('{"a": 1, // why\n"b": 2}', "it has no comments", 9),
        ('{"a": 1 # why\n}', "it has no comments", 8),
        ("{} /* why */", "it has no comments", 3),
        ("{'a': 1}", "' quotes no text", 1),
        ("{\u201ca\u201d: 1}", "quotes no text", 1),
        ('{"a": True}', "'True' is no value; write 'true'", 6),
        ('{"a": None}', "'None' is no value; write 'null'", 6),
        ("{a: 1}", "'a' stands without quotes", 1),
        ("type: object", "convert it if it is YAML", 0),
        ('{"a": 1} {"b": 2}', "it ends before this", 9),
        ("{} x", "it ends before this", 3),
        ('{"a": [1, 2', "it ends too early", 11),
        ('{"a": [1, 2\n\n', "it ends too early", 11),
        ('{"a": "b}', "this text has no closing quote", 6),
        ('{"a": "b\nc"}', "a line break or tab stands in a text", 8),
        (r'{"a": "\d"}', "a lone backslash stands in a text", 7),
        ('{"a" 1}', "a ':' and a value are missing", 5),
        ('{"a": 1 "b": 2}', "a comma is missing before this", 8),
        ('{"a":}', "a value is missing here", 5),
        ("{1: 2}", "a key is missing here", 1),
        ('{"a": .5}', "a number starts with a digit", 6),
        ('{"a": +5}', "a number starts with a digit", 6),
        ('{"a": 05}', "a number starts with no zero", 7),
    ],
)
def test_a_fault_says_what_to_do_and_where(text: str, message: str, offset: int) -> None:
    fault = _fault(text)
    assert message in fault.message
    assert fault.offset == offset


@given(st.text(alphabet="{}[]\",:'/#\\ \n01.+-eTrua", max_size=30))
def test_whatever_is_no_json_is_explained_within_the_text(text: str) -> None:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        fault = explain_fault(error)
        assert fault.message.startswith("the file is ")
        assert 0 <= fault.offset <= len(text)
