"""The one home of the questions that the model reads, one a fork; a trunk's text is its family's.

A fork's text follows from its field, or array, and the items around it alone (contract 12.1), so
its numbers cannot depend on the schema around it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from deg_model.encoding import EncodedContext
from deg_model.tokenizer import Tokenizer
from deg_schema import ArrayPlan, Constraints, FieldPlan

__all__ = ["Fork", "Item", "anchor_fork", "count_fork", "fork_of", "item_at"]

_LOCATOR_TOKENS = 24

_KINDS = {
    "decide.choice": "choose one option",
    "decide.score": "choose one level",
    "decide.noul": "yes or no",
    "extract.number": "number",
    "extract.date": "date",
    "extract.span": "text span",
}


@dataclass(frozen=True, slots=True)
class Fork:
    """One question as tokens.

    Attributes:
        ids: The tokens that continue the trunk; the answer is read at the last one.
        options: The position in `ids` of the last token of the line of each outcome, in plan order.
        head: Which head answers: `choice`, `score`, `noul`, `extract`, `count` or `anchor`.
        anchor: Of a value in an anchored item: the context token where the item starts, and the
            one after its region.
    """

    ids: tuple[int, ...]
    options: tuple[int, ...]
    head: str
    anchor: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """An item of an array that a question is about: the *index*-th, or the one at *anchor*.

    Attributes:
        array: The array.
        index: Its number, from 0, for an item that was counted.
        anchor: The context token where it starts, for one that was found by it.
        end: The context token after its region.
        text: What stands in the context where it starts.
    """

    array: ArrayPlan
    index: int | None = None
    anchor: int | None = None
    end: int = 0
    text: str = ""


def item_at(array: ArrayPlan, encoded: EncodedContext, context: str, anchor: int, end: int) -> Item:
    """Return the item of *array* in the context tokens *anchor* to *end*, exclusive."""
    last = min(anchor + _LOCATOR_TOKENS, end) - 1
    first_letter, stop = encoded.span(anchor, last)
    return Item(array, anchor=anchor, end=end, text=context[first_letter:stop])


def fork_of(
    field: FieldPlan,
    tokenizer: Tokenizer,
    items: Sequence[Item] = (),
    *,
    option_order: Sequence[int] | None = None,
) -> Fork:
    """Write the question of a decide or extract *field*.

    Args:
        field: What is asked.
        tokenizer: The base's.
        items: Those around it, from the outermost in.
        option_order: In which order the options of a choice are written, for training alone:
            `FieldPlan.asked_order` where it is not given.
    """
    ids = list(tokenizer.encode("\n".join(_header(field, items))))
    outcomes = _outcomes(field)
    options = [0] * len(outcomes)
    if outcomes:
        ids += tokenizer.encode("\nOPTIONS:")
        is_choice = field.mode == "decide.choice"
        for number in (option_order or field.asked_order) if is_choice else range(len(outcomes)):
            ids += tokenizer.encode(f"\n- {outcomes[number]}")
            options[number] = len(ids) - 1
    ids += tokenizer.encode("\nANSWER:")
    head = "extract" if field.mode.startswith("extract") else field.mode.removeprefix("decide.")
    anchor = _innermost_anchor(items) if head == "extract" else None
    return Fork(tuple(ids), tuple(options), head, anchor)


def count_fork(
    array: ArrayPlan,
    fields: Sequence[FieldPlan],
    tokenizer: Tokenizer,
    items: Sequence[Item] = (),
) -> Fork:
    """Ask how many items *array* has; *fields* are its leaves, *items* those around it."""
    lines = [*_array_header(array, fields, items), "KIND count the items", "ANSWER:"]
    return Fork(tokenizer.encode("\n".join(lines)), (), "count")


def anchor_fork(
    array: ArrayPlan,
    fields: Sequence[FieldPlan],
    tokenizer: Tokenizer,
    items: Sequence[Item] = (),
) -> Fork:
    """Ask where the items of *array* start; *fields* are its leaves, *items* those around it."""
    kind = "KIND mark where each item starts in the context"
    lines = [*_array_header(array, fields, items), kind, "ANSWER:"]
    return Fork(tokenizer.encode("\n".join(lines)), (), "anchor")


def _array_header(
    array: ArrayPlan, fields: Sequence[FieldPlan], items: Sequence[Item]
) -> list[str]:
    lines = [f"ARRAY {_pointer(array, items)}", *_locators(items), *_annotations(array)]
    inside = len(array.pointer) + len("/*")
    # in whichever order the schema has them, the question is the same
    names = sorted(name for field in fields if (name := field.pointer[inside:]))
    return [*lines, f"ITEM FIELDS {', '.join(names)}"] if names else lines


def _pointer(part: FieldPlan | ArrayPlan, items: Sequence[Item]) -> str:
    """Return the pointer with the index of each counted item and `*` for each anchored one."""
    return part.pointer_at(["*" if item.index is None else item.index for item in items])


def _innermost_anchor(items: Sequence[Item]) -> tuple[int, int] | None:
    for item in reversed(items):
        if item.anchor is not None:
            return item.anchor, item.end
    return None


def _locators(items: Sequence[Item]) -> list[str]:
    lines = []
    for depth, item in enumerate(items):
        pointer = _pointer(item.array, items[:depth])
        if item.index is not None:
            lines.append(f"ITEM {item.index} of {pointer}")
        else:
            lines.append(f"ITEM {pointer} AT: {json.dumps(item.text, ensure_ascii=False)}")
    return lines


def _annotations(part: FieldPlan | ArrayPlan) -> list[str]:
    lines = []
    if part.title:
        lines.append(f"TITLE {part.title}")
    if part.description:
        lines.append(f"DESCRIPTION {part.description}")
    return lines


def _header(field: FieldPlan, items: Sequence[Item]) -> list[str]:
    lines = [f"FIELD {_pointer(field, items)}", *_locators(items), *_annotations(field)]
    kind = field.format if field.mode == "extract.span" and field.format else _KINDS[field.mode]
    if field.mode == "extract.date" and field.format == "date-time":
        kind = "date and time"
    lines.append(f"KIND {kind}")
    limits = _limits(field.constraints) if field.mode.startswith("extract") else ""
    if limits:
        lines.append(f"CONSTRAINTS {limits}")
    return lines


def _limits(constraints: Constraints) -> str:
    named = (
        ("minLength", constraints.min_length),
        ("maxLength", constraints.max_length),
        ("pattern", constraints.pattern),
        ("minimum", constraints.minimum),
        ("maximum", constraints.maximum),
        ("exclusiveMinimum", constraints.exclusive_minimum),
        ("exclusiveMaximum", constraints.exclusive_maximum),
        ("multipleOf", constraints.multiple_of),
    )
    return ", ".join(f"{name} {limit}" for name, limit in named if limit is not None)


def _outcomes(field: FieldPlan) -> list[str]:
    if field.mode == "decide.choice":
        return [
            _option(value, described)
            for value, described in zip(
                field.options,
                field.option_descriptions or (None,) * len(field.options),
                strict=True,
            )
        ]
    if field.mode == "decide.score":
        labels = field.level_labels or (None,) * len(field.levels)
        lines = [
            f"{level}: {label}" if label else str(level)
            for level, label in zip(field.levels, labels, strict=True)
        ]
        return [*lines, "null"] if field.null_outcome else lines
    return []


def _option(value: object, description: str | None) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{text}: {description}" if description else text
