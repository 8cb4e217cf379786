"""Differences of two plans: which answers can change, and which provably cannot."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from deg_schema.plan import ArrayPlan, Constraints, FieldPlan, FillPlan, ObjectPlan
from deg_schema.pointer import Pointer
from deg_schema.reading_order import in_reading_order

__all__ = ["Change", "Difference", "compare_plans"]

Change: TypeAlias = Literal["added", "removed", "can change", "same outcome"]

_Node: TypeAlias = ArrayPlan | FieldPlan
# a property may be named "*": the steps say which one stands for an item
_Key: TypeAlias = tuple[tuple[str, ...], tuple[int, ...]]

# what follows from the parts beside it, and where things stand
_IMPLIED = {"on_null", "null_outcome", "start", "stop"}
_NAMES = {"anchored": "items found by place"}
# what a schema spells as one word
_KEYWORDS = {part.name for part in dataclasses.fields(Constraints)} | {
    "min_items",
    "max_items",
    "unique_items",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """What became of the value at one pointer.

    Args:
        details: What is different about it, one part each.
    """

    pointer: str
    change: Change
    details: tuple[str, ...] = ()


def compare_plans(old: FillPlan, new: FillPlan) -> tuple[Difference, ...]:
    """Compare the leaves and arrays of two plans by their fingerprints, in the order of *new*.

    A leaf that is decided or extracted is answered from the document and its own spec alone: the
    same fingerprint is the same answer, and so is another order of its options. One in an array is
    asked of each item, and which items there are follows from all that the outermost array holds.
    One that is written also reads the other answers.
    """
    before, after = _Side.of(old), _Side.of(new)
    differences = [_difference(before, after, key) for key in after.nodes]
    removed = [
        Difference(node.pointer, "removed")
        for key, node in before.nodes.items()
        if key not in after.nodes
    ]
    return (*differences, *removed, *_objects(old, new))


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two plans: its nodes, and the hashes on which their answers depend.

    Args:
        arrays: What each outermost array and all within it are, whatever their order.
        parallel: What a written text can read.
    """

    nodes: Mapping[_Key, _Node]
    arrays: Mapping[_Key, Counter[str]]
    parallel: frozenset[str]

    @classmethod
    def of(cls, plan: FillPlan) -> _Side:
        nodes = {(node.path, node.item_steps): _as_asked(node) for node in in_reading_order(plan)}
        arrays: dict[_Key, Counter[str]] = {}
        for key, node in nodes.items():
            if (outermost := _outermost(node)) is not None:
                arrays.setdefault(outermost, Counter())[nodes[key].fingerprint] += 1
        parallel = (
            node.fingerprint
            for node in nodes.values()
            if isinstance(node, ArrayPlan) or node.mode != "generate"
        )
        return cls(nodes, arrays, frozenset(parallel))


def _as_asked(node: _Node) -> _Node:
    """Return *node* with the options of a choice in the order in which they are asked."""
    if not isinstance(node, FieldPlan) or not node.options:
        return node
    options = tuple(node.options[at] for at in node.asked_order)
    descriptions = node.option_descriptions and tuple(
        node.option_descriptions[at] for at in node.asked_order
    )
    return dataclasses.replace(node, options=options, option_descriptions=descriptions)


def _outermost(node: _Node) -> _Key | None:
    if node.item_steps:
        return node.path[: node.item_steps[0]], ()
    return (node.path, ()) if isinstance(node, ArrayPlan) else None


def _difference(before: _Side, after: _Side, key: _Key) -> Difference:
    old, new = before.nodes.get(key), after.nodes[key]
    if old is None:
        return Difference(new.pointer, "added")
    if old.fingerprint != new.fingerprint:
        return Difference(new.pointer, "can change", tuple(_details(old, new)))
    array = _outermost(new)
    if array is not None and before.arrays.get(array) != after.arrays.get(array):
        place = str(Pointer(array[0]))
        return Difference(new.pointer, "can change", (f"the items of {place}",))
    is_written = isinstance(new, FieldPlan) and new.mode == "generate"
    if is_written and before.parallel != after.parallel:
        return Difference(new.pointer, "can change", ("the answers that it is written from",))
    return Difference(new.pointer, "same outcome")


def _parts(node: _Node) -> dict[str, Any]:
    parts = dataclasses.asdict(node)
    if isinstance(node, FieldPlan):
        # beside what they are about: a list of none of them says nothing
        descriptions = zip(node.options, node.option_descriptions, strict=False)
        labels = zip(node.levels, node.level_labels, strict=False)
        parts["option_descriptions"] = tuple(pair for pair in descriptions if pair[1] is not None)
        parts["level_labels"] = tuple(pair for pair in labels if pair[1] is not None)
        parts |= parts.pop("constraints")
    return {name: value for name, value in parts.items() if name not in _IMPLIED}


def _details(old: _Node, new: _Node) -> Iterator[str]:
    if isinstance(old, ArrayPlan) != isinstance(new, ArrayPlan):
        yield f"mode: {_spell(_mode(old))} -> {_spell(_mode(new))}"
        return
    before = _parts(old)
    for name, value in _parts(new).items():
        # 1, 1.0 and true are not the same
        if repr(before[name]) != repr(value):
            yield from (f"{_name(name)}: {part}" for part in _changes(before[name], value))


def _mode(node: _Node) -> str:
    return "array" if isinstance(node, ArrayPlan) else node.mode


def _name(part: str) -> str:
    if part in _NAMES:
        return _NAMES[part]
    if part in _KEYWORDS:
        first, *words = part.split("_")
        return first + "".join(map(str.title, words))
    return part.replace("_", " ")


def _changes(old: Any, new: Any) -> Iterator[str]:
    if not isinstance(new, tuple):
        yield f"{_spell(old)} -> {_spell(new)}"
        return
    before, after = Counter(map(_spell, old)), Counter(map(_spell, new))
    gone = [f"without {part}" for part in before - after]
    come = [f"with {part}" for part in after - before]
    yield ", ".join([*gone, *come])


def _objects(old: FillPlan, new: FillPlan) -> Iterator[Difference]:
    before, after = _objects_of(old), _objects_of(new)
    for key in {**after, **before}:
        pointer = str(Pointer(key[0]))
        if key in before and key in after:
            required = before[key].required, after[key].required
            if required[0] != required[1]:
                detail = f"required: {_spell(required[0])} -> {_spell(required[1])}"
                yield Difference(pointer, "can change", (detail,))
        elif (nested := before.get(key) or after[key]).start == nested.stop:
            # an object that has leaves comes and goes with them
            yield Difference(pointer, "added" if key in after else "removed")


def _objects_of(plan: FillPlan) -> dict[_Key, ObjectPlan]:
    return {(nested.path, nested.item_steps): nested for nested in plan.objects}


def _spell(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
