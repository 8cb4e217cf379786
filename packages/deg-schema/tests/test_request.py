import json
from typing import Any

import pytest

from deg_schema.errors import RequestError
from deg_schema.request import Options, parse_options, parse_request, render_context

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def _body(**parts: Any) -> dict[str, Any]:
    return {"context": "text", "schema": SCHEMA, **parts}


def _problems(body: Any) -> list[tuple[str, str]]:
    with pytest.raises(RequestError) as raised:
        parse_request(body)
    return [(problem.loc, problem.msg) for problem in raised.value.problems]


@pytest.mark.parametrize("spell", [lambda body: body, json.dumps, lambda b: json.dumps(b).encode()])
def test_a_request_is_read_from_any_spelling(spell: Any) -> None:
    request = parse_request(spell(_body(options={"date_order": "DMY"}, model="mine")))
    assert request.context == "text"
    assert request.options == Options(date_order="DMY")
    assert request.model == "mine"
    assert [field.pointer for field in request.plan.fields] == ["/a"]


def test_every_problem_of_a_request_is_told_at_once() -> None:
    body = {"context": 5, "schema": {"type": "string"}, "options": {"x": 1, "seed": -1}, "b": 1}
    assert [loc for loc, _ in _problems(body)] == [
        "/b",
        "/context",
        "/schema",
        "/options/x",
        "/options/seed",
    ]


@pytest.mark.parametrize(
    ("body", "loc", "words"),
    [
        (b"\xff", "", "not UTF-8 at byte 0"),
        ("{", "", "line 1 column 2"),
        ("[" * 100_000, "", "nests too deep"),
        ("[]", "", "a request is an object"),
        ('{"context": "a", "context": "b", "schema": {"type": "object"}}', "/context", "twice"),
        (
            '{"context": "", "schema": {"type": "object", "properties": {"a": {"type": "string"}, '
            '"a": {"type": "string"}}}}',
            "/schema/properties/a",
            "twice",
        ),
        (
            '{"context": "", "schema": {"type": "object"}, "options": {"seed": 1, "seed": 2}}',
            "/options/seed",
            "twice",
        ),
        ('{"context": "\\ud800", "schema": {"type": "object"}}', "/context", "surrogate"),
        ('{"context": {"a": NaN}, "schema": {"type": "object"}}', "/context/a", "no JSON number"),
        ('{"context": [1e999], "schema": {"type": "object"}}', "/context/0", "no JSON number"),
        (
            '{"context": [' + "9" * 9999 + '], "schema": {"type": "object"}}',
            "/context/0",
            "no JSON number",
        ),
        ('{"schema": {"type": "object"}}', "/context", "missing"),
        ('{"context": ""}', "/schema", "missing"),
        ('{"context": "", "schema": {"type": "object"}, "model": ""}', "/model", "name of a model"),
        ('{"context": "", "schema": {"type": "object"}, "options": []}', "/options", "an object"),
    ],
)
def test_a_body_out_of_order_is_refused(body: Any, loc: str, words: str) -> None:
    [(found_loc, message)] = _problems(body)
    assert found_loc == loc
    assert words in message


@pytest.mark.parametrize(
    "options",
    [
        {"max_new_tokens": 1},
        {"max_items": None},
        {"max_items": 3},
        {"date_order": None},
        {"default_offset": "+05:30"},
        {"temperature": 0.5, "seed": 0},
        {"array_decode": "hybrid"},
        {"null_margin": -1.5},
        {"decimal_separator": ","},
    ],
)
def test_options_are_read(options: dict[str, Any]) -> None:
    assert parse_options(options) == Options(**options)


@pytest.mark.parametrize(
    ("options", "loc"),
    [
        ({"max_new_tokens": 0}, "/max_new_tokens"),
        ({"max_new_tokens": True}, "/max_new_tokens"),
        ({"max_items": 0}, "/max_items"),
        ({"date_order": "YMD"}, "/date_order"),
        ({"default_offset": "+24:00"}, "/default_offset"),
        ({"default_offset": "Z\n"}, "/default_offset"),
        ({"temperature": 1}, "/seed"),
        ({"temperature": -1}, "/temperature"),
        ({"temperature": float("nan")}, "/temperature"),
        ({"seed": 2**64}, "/seed"),
        ({"array_decode": []}, "/array_decode"),
        ({"null_margin": float("inf")}, "/null_margin"),
        ({"decimal_separator": "'"}, "/decimal_separator"),
        ({"max_tokens": 3}, "/max_tokens"),
        ({"a/b": 3}, "/a~1b"),
    ],
)
def test_options_of_a_wrong_value_are_refused(options: dict[str, Any], loc: str) -> None:
    with pytest.raises(RequestError) as raised:
        parse_options(options)
    assert [problem.loc for problem in raised.value.problems] == [loc]


@pytest.mark.parametrize(
    ("context", "text"),
    [
        ("a\x00 b\n", "a\x00 b\n"),
        ("", ""),
        ({"b": [1, "é"], "a": None}, '{"b": [1, "é"], "a": null}'),
        ([], "[]"),
    ],
)
def test_a_context_is_rendered_verbatim_or_as_json(context: Any, text: str) -> None:
    assert render_context(context) == text


@pytest.mark.parametrize("context", ["\udc00", {"a": float("nan")}, 5, None, [object()], {1: 2}])
def test_a_context_that_no_text_can_say_is_refused(context: Any) -> None:
    with pytest.raises(RequestError):
        render_context(context)
