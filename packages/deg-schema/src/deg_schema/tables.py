"""Plans as a person reads them: a row for each field and array, as wide as the terminal."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence

from deg_schema.plan import ArrayPlan, FieldPlan, FillPlan, JsonScalar
from deg_schema.reading_order import in_reading_order
from deg_schema.reports import visible

__all__ = ["plan_table"]

_HEADER = ("field", "mode", "options or levels", "if not found", "constraints")
_GAP = "  "
_MIN_WIDTH = 6
_MAX_OPTIONS = 16

_NOT_FOUND = {
    "null": "null",
    "omit": "left out",
    "forbid": "best valid span, or the fill fails",
}


def plan_table(plan: FillPlan, width: int) -> str:
    """Lay out *plan* in *width* columns; a very narrow terminal gets a wider table."""
    rows = [_HEADER, *map(_row, in_reading_order(plan))]
    columns = list(zip(*rows, strict=True))
    available = width - len(_GAP) * (len(columns) - 1)
    widths = [max(map(_width, column)) for column in columns]
    words = [max(_width(word) for cell in column for word in cell.split(" ")) for column in columns]
    # words are broken only where breaking lines does not suffice
    for floors in (words, [_MIN_WIDTH] * len(columns)):
        widths = _narrow(widths, floors, sum(widths) - available)
    return "\n".join(line for row in rows for line in _lines(row, widths))


def _row(node: ArrayPlan | FieldPlan) -> tuple[str, ...]:
    cells = _cells_of_array(node) if isinstance(node, ArrayPlan) else _cells_of_field(node)
    return tuple(visible(cell) for cell in cells)


def _cells_of_field(field: FieldPlan) -> tuple[str, ...]:
    return (
        field.pointer,
        field.mode,
        ", ".join(_answers(field)),
        _not_found(field),
        ", ".join(_constraints(field)),
    )


def _cells_of_array(array: ArrayPlan) -> tuple[str, ...]:
    return (
        array.pointer,
        "array",
        "items found by place" if array.anchored else "items counted",
        _too_few(array),
        ", ".join(_bounds(array)),
    )


def _too_few(array: ArrayPlan) -> str:
    if not array.min_items:
        return "an empty array"
    if array.item_steps:
        return "the item around it is left out"
    return "the fill fails"


def _bounds(array: ArrayPlan) -> Iterator[str]:
    if array.min_items:
        yield f"minItems {array.min_items}"
    if array.max_items is not None:
        yield f"maxItems {array.max_items}"
    elif (most := array.limit()) is not None:
        yield f"at most {most}"
    if array.unique_items:
        yield "uniqueItems"


def _answers(field: FieldPlan) -> Iterator[str]:
    yield from map(_spell, field.options[:_MAX_OPTIONS])
    if len(field.options) > _MAX_OPTIONS:
        yield f"and {len(field.options) - _MAX_OPTIONS} more"
    labels = field.level_labels or (None,) * len(field.levels)
    for level, label in zip(field.levels, labels, strict=True):
        yield str(level) if label is None else f"{level} {label}"
    if field.mode == "decide.noul":
        yield from ("true", "false")
    if field.null_outcome:
        yield "null"


def _not_found(field: FieldPlan) -> str:
    if field.mode == "generate":
        return "always written"
    if field.mode.startswith("decide"):
        can_be_null = field.null_outcome or None in field.options
        return "null is an answer" if can_be_null else "always answered"
    if field.on_null == "forbid" and field.item_steps:
        return "best valid span, or the item is left out"
    return _NOT_FOUND[field.on_null]


def _constraints(field: FieldPlan) -> Iterator[str]:
    bounds = field.constraints
    if field.mode == "extract.number" and field.type == "integer":
        yield "integer"
    if field.format is not None:
        yield f"format {field.format}"
    texts = {
        "minLength": bounds.min_length,
        "maxLength": bounds.max_length,
        ">=": bounds.minimum,
        ">": bounds.exclusive_minimum,
        "<=": bounds.maximum,
        "<": bounds.exclusive_maximum,
        "multipleOf": bounds.multiple_of,
        "pattern": bounds.pattern,
        "max tokens": field.max_tokens,
    }
    # a score lists its levels; its bounds add nothing
    if not field.levels:
        yield from (f"{name} {value}" for name, value in texts.items() if value is not None)


def _spell(value: JsonScalar) -> str:
    return json.dumps(value, ensure_ascii=False)


def _narrow(widths: Sequence[int], floors: Sequence[int], excess: int) -> list[int]:
    """Take *excess* from the widest columns, from none of them more than its floor allows."""
    narrowed = list(widths)
    for _ in range(excess):
        spare = [index for index, floor in enumerate(floors) if narrowed[index] > floor]
        if not spare:
            break
        narrowed[max(spare, key=narrowed.__getitem__)] -= 1
    return narrowed


def _lines(row: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    cells = [_fold(cell, width) for cell, width in zip(row, widths, strict=True)]
    for number in range(max(map(len, cells))):
        parts = [cell[number] if number < len(cell) else "" for cell in cells]
        padded = [part + " " * (to - _width(part)) for part, to in zip(parts, widths, strict=True)]
        yield _GAP.join(padded).rstrip()


def _fold(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and _width(lines[-1]) + 1 + _width(word) <= width:
            lines[-1] += f" {word}"
        else:
            pieces = _pieces(word, width)
            lines = [*lines, *pieces] if lines[-1] else [*lines[:-1], *pieces]
    return lines


def _pieces(word: str, width: int) -> list[str]:
    pieces = [""]
    for char in word:
        if pieces[-1] and _width(pieces[-1]) + _width(char) > width:
            pieces.append("")
        pieces[-1] += char
    return pieces


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
