"""The input of a decision as one document: what was said and done, in order.

A text stays as it is, and so does one user message alone. Of more items each is a block with a
line in brackets above it, and a blank line stands between blocks:

    [developer]
    Refunds are open for 30 days.

    [user]
    I was charged twice.

    [call 1: look_up_order]
    {"order": 4471}

    [output of call 1: look_up_order]
    {"charges": 2}

    [assistant]
    I see both charges.

The parts of one item stand on lines of their own, JSON as the contract serialises it. Calls are
numbered in order, for the ids that they have would be read as something that was said; a name with
a namespace is `namespace.name`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from deg_serve.faults import (
    Fault,
    Path,
    list_at,
    mapping_at,
    member,
    shown,
    text_at,
    text_or_null,
)
from deg_serve.json_body import dump

__all__ = ["MAX_JSON_BYTES", "MAX_JSON_LEVELS", "MAX_JSON_VALUES", "render_input", "render_parts"]

MAX_JSON_LEVELS = 32
MAX_JSON_VALUES = 10_000
MAX_JSON_BYTES = 256 << 10

_MAX_ITEMS = 100_000
_USER_PARTS = ("input_text", "input_image", "input_json")
_OUTPUT_PARTS = ("input_text", "input_image")
_PARTS_OF_ROLE = {
    "user": _USER_PARTS,
    "developer": ("input_text",),
    "system": ("input_text",),
    "assistant": ("output_text", "refusal"),
}
_STATUSES = ("in_progress", "completed", "incomplete")
_PHASES = ("commentary", "final_answer")
# where the text of a call stands
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_OUTPUTS = {f"{kind}_output": kind for kind in _CALLS}
_TEXTS = {"input_text": "text", "output_text": "text", "refusal": "refusal"}


def render_input(value: object) -> str:
    """Return the document that the `input` of a request is.

    Raises:
        Fault: It is not in order; its path leads from the input.
    """
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        message = f"'input' must be a string or an array of items, not {shown(value)}"
        raise Fault((), message, "type", found=value)
    items = list_at(value, (), "'input'", least=1, most=_MAX_ITEMS)
    calls = _number_calls(items)
    blocks = [_block(item, (index,), calls) for index, item in enumerate(items)]
    if len(blocks) == 1 and blocks[0][0] == "user":
        return blocks[0][1]
    return "\n\n".join(f"[{title}]\n{text}" for title, text in blocks)


def render_parts(content: object, path: Path, kinds: tuple[str, ...], *, what: str) -> str:
    """Return the text of a content, which is a string or parts of these *kinds*.

    Raises:
        Fault: It is neither, or holds what is not read here.
    """
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        message = f"{what} must be a string or an array of parts, not {shown(content)}"
        raise Fault(path, message, "type", found=content)
    return "\n".join(_part(part, (*path, at), kinds) for at, part in enumerate(content))


def _number_calls(items: list[Any]) -> dict[tuple[str, str], str]:
    """Return the title of each call by its kind and id."""
    titles: dict[tuple[str, str], str] = {}
    number = 0
    for index, item in enumerate(items):
        kind = item.get("type") if isinstance(item, Mapping) else None
        if isinstance(kind, str) and kind in _CALLS:
            number += 1
            names = [text_or_null(item, "namespace", (index,)), text_at(item, "name", (index,))]
            title = f"call {number}: {'.'.join(filter(None, names))}"
            titles[kind, text_at(item, "call_id", (index,))] = title
    return titles


def _block(item: object, path: Path, calls: Mapping[tuple[str, str], str]) -> tuple[str, str]:
    """Return the title and the text of an item."""
    item = mapping_at(item, path, "an item")
    kind = item.get("type", "message")
    if kind == "message":
        return _message(item, path)
    known = ("message", *_CALLS, *_OUTPUTS)
    kind = text_at(item, "type", path, among=known)
    text_or_null(item, "status", path, among=_STATUSES)
    call_id = text_at(item, "call_id", path)
    if kind in _CALLS:
        return calls[kind, call_id], text_at(item, _CALLS[kind], path)
    title = calls.get((_OUTPUTS[kind], call_id))
    if title is None:
        message = f"no {_OUTPUTS[kind]} of the input has the id {shown(call_id)}"
        raise Fault((*path, "call_id"), message, found=call_id)
    output = member(item, "output", path)
    text = render_parts(output, (*path, "output"), _OUTPUT_PARTS, what="'output'")
    return f"output of {title}", text


def _message(item: Mapping[str, Any], path: Path) -> tuple[str, str]:
    role = text_at(item, "role", path, among=tuple(_PARTS_OF_ROLE))
    text_or_null(item, "phase", path, among=_PHASES)
    content = member(item, "content", path)
    kinds = _PARTS_OF_ROLE[role]
    return role, render_parts(content, (*path, "content"), kinds, what="'content'")


def _part(part: object, path: Path, kinds: tuple[str, ...]) -> str:
    part = mapping_at(part, path, "a part")
    kind = text_at(part, "type", path, among=kinds)
    if kind == "input_image":
        message = "this model reads text only: send no images, or say in words what they show"
        raise Fault(path, message)
    if kind == "input_json":
        return _json_part(member(part, "data", path), (*path, "data"))
    return text_at(part, _TEXTS[kind], path)


def _json_part(value: object, path: Path) -> str:
    objects = value if isinstance(value, list) else [value]
    if not all(isinstance(one, Mapping) for one in objects):
        message = f"'data' must be an object or an array of objects, not {shown(value)}"
        raise Fault(path, message, "type", found=value)
    levels, num_values = _measure(value)
    if levels > MAX_JSON_LEVELS:
        message = f"'data' must nest at most {MAX_JSON_LEVELS} levels deep, not {levels}"
        raise Fault(path, message)
    if num_values > MAX_JSON_VALUES:
        message = f"'data' must hold at most {MAX_JSON_VALUES} values, not {num_values}"
        raise Fault(path, message)
    compact = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    if len(compact) > MAX_JSON_BYTES:
        message = f"'data' must have at most {MAX_JSON_BYTES} bytes as JSON, not {len(compact)}"
        raise Fault(path, message)
    return dump(value)


def _measure(value: object) -> tuple[int, int]:
    """Return how many containers deep *value* nests, and how many values it holds in all."""
    levels, num_values, row = 0, 0, [value]
    while row:
        num_values += len(row)
        containers = [one for one in row if isinstance(one, (Mapping, list))]
        levels += bool(containers)
        row = [
            each
            for one in containers
            for each in (one.values() if isinstance(one, Mapping) else one)
        ]
    return levels, num_values
