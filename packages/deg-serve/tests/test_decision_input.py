from __future__ import annotations

from typing import Any

import pytest

from deg_serve import decision_input
from deg_serve.decision_input import (
    MAX_JSON_BYTES,
    MAX_JSON_LEVELS,
    MAX_JSON_VALUES,
    render_input,
)
from deg_serve.faults import Fault

TEXT = {"type": "input_text", "text": "I was charged twice."}
IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AA=="}
CALL = {"type": "function_call", "call_id": "c1", "name": "look_up", "arguments": '{"order": 1}'}


def user(content: Any) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": content}


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def test_a_text_and_a_user_message_alone_stay_as_they_are() -> None:
    assert render_input("I was charged twice.") == "I was charged twice."
    assert render_input([{"role": "user", "content": [TEXT]}]) == "I was charged twice."


def test_the_docstring_shows_what_is_rendered() -> None:
    rendered = render_input(
        [
            {"role": "developer", "content": "Refunds are open for 30 days."},
            user([TEXT]),
            {**CALL, "name": "look_up_order", "arguments": '{"order": 4471}'},
            {"type": "function_call_output", "call_id": "c1", "output": '{"charges": 2}'},
            {
                "role": "assistant",
                "content": [{"type": "output_text", "text": "I see both charges."}],
            },
        ]
    )
    shown = str(decision_input.__doc__).partition("blocks:\n\n")[2].partition("\n\nThe parts")[0]
    assert rendered == "\n".join(line.removeprefix("    ") for line in shown.split("\n"))


@pytest.mark.parametrize(
    ("item", "block"),
    [
        ({"role": "system", "content": [TEXT, TEXT]}, "[system]\n" + "\n".join([TEXT["text"]] * 2)),
        ({"role": "assistant", "content": "a", "phase": "commentary"}, "[assistant]\na"),
        (
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot."}]},
            "[assistant]\nI cannot.",
        ),
        (user([{"type": "input_json", "data": {"é": [1, None]}}]), '[user]\n{"é": [1, null]}'),
        (user([{"type": "input_json", "data": [{"a": 1}]}]), '[user]\n[{"a": 1}]'),
        ({**CALL, "namespace": "shop", "status": None}, '[call 1: shop.look_up]\n{"order": 1}'),
        (
            {"type": "custom_tool_call", "call_id": "x", "name": "run", "input": "ls"},
            "[call 1: run]\nls",
        ),
    ],
)
def test_each_kind_of_item_is_a_block(item: dict[str, Any], block: str) -> None:
    assert render_input([item, user("and?")]) == f"{block}\n\n[user]\nand?"


def test_an_output_is_that_of_the_call_with_its_id_and_kind() -> None:
    custom = {"type": "custom_tool_call", "call_id": "c1", "name": "run", "input": "ls"}
    output = {"type": "custom_tool_call_output", "call_id": "c1", "output": [TEXT]}
    blocks = render_input([CALL, custom, output]).split("\n\n")
    assert blocks[2] == "[output of call 2: run]\nI was charged twice."


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (None, ()),
        ([], ()),
        (["text"], (0,)),
        ([{"content": "a"}], (0, "role")),
        ([{"role": "tool", "content": "a"}], (0, "role")),
        ([{"type": "reasoning"}], (0, "type")),
        ([user(3)], (0, "content")),
        ([user([IMAGE])], (0, "content", 0)),
        (
            [user("a"), user([TEXT, {"type": "output_text", "text": "a"}])],
            (1, "content", 1, "type"),
        ),
        ([{"role": "system", "content": [IMAGE]}], (0, "content", 0, "type")),
        ([user([{"type": "input_text"}])], (0, "content", 0, "text")),
        ([user([{"type": "input_json", "data": "a"}])], (0, "content", 0, "data")),
        ([user([{"type": "input_json", "data": [1]}])], (0, "content", 0, "data")),
        ([{**CALL, "arguments": {}}], (0, "arguments")),
        ([{**CALL, "status": "done"}], (0, "status")),
        ([{"type": "function_call", "name": "a", "arguments": ""}], (0, "call_id")),
        ([{"type": "function_call_output", "call_id": "c1", "output": ""}], (0, "call_id")),
        (
            [CALL, {"type": "custom_tool_call_output", "call_id": "c1", "output": ""}],
            (1, "call_id"),
        ),
        (
            [CALL, {"type": "function_call_output", "call_id": "c1", "output": [IMAGE]}],
            (1, "output", 0),
        ),
        ([CALL, {"type": "function_call_output", "call_id": "c1"}], (1, "output")),
    ],
)
def test_what_is_not_in_order_is_told_with_its_place(value: Any, path: tuple[Any, ...]) -> None:
    with pytest.raises(Fault) as caught:
        render_input(value)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("largest", "too_large"),
    [
        (nested(MAX_JSON_LEVELS), nested(MAX_JSON_LEVELS + 1)),
        ({"a": [0] * (MAX_JSON_VALUES - 2)}, {"a": [0] * (MAX_JSON_VALUES - 1)}),
        ({"a": "é" * ((MAX_JSON_BYTES - 8) // 2)}, {"a": "é" * (MAX_JSON_BYTES // 2)}),
    ],
)
def test_the_limits_of_json(largest: dict[str, Any], too_large: dict[str, Any]) -> None:
    render_input([user([{"type": "input_json", "data": largest}])])
    with pytest.raises(Fault, match="at most"):
        render_input([user([{"type": "input_json", "data": too_large}])])
