"""How good arrays are against gold records: their counts, and the values in their items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from deg_schema import compile_schema
from deg_train.answered_fields import Pair, is_same
from deg_train.measures import Measure, mean
from deg_train.records import lookup

__all__ = ["aligned_values", "count_exact", "positional_values"]

Item = dict[str, Any]
"""The values in an item by their pointers in it; null and what is left out are no values."""


def count_exact(pairs: Iterable[Pair]) -> Measure:
    """Measure how many outermost arrays have as many items as the gold ones."""
    return mean(len(gold) == len(answer) for gold, answer in _arrays(pairs))


def positional_values(pairs: Iterable[Pair]) -> Measure:
    """Measure how many values in items, gold or answered, both have in the same item."""
    return _judged(pairs, lambda gold, answer: [(i, i) for i in range(min(len(gold), len(answer)))])


def aligned_values(pairs: Iterable[Pair]) -> Measure:
    """Measure the same after each gold item is put beside the answered one that is most like it.

    Pairs are made greedily, those first that have the most values in common.
    """
    return _judged(pairs, _aligned)


def _judged(
    pairs: Iterable[Pair], align: Callable[[list[Item], list[Item]], list[tuple[int, int]]]
) -> Measure:
    judged = []
    for gold, answer in _arrays(pairs):
        beside = dict(align(gold, answer))
        taken = set(beside.values())
        for number, item in enumerate(gold):
            other = answer[beside[number]] if number in beside else {}
            for key in item.keys() | other.keys():
                judged.append(key in item and key in other and is_same(item[key], other[key]))
        surplus = (item for number, item in enumerate(answer) if number not in taken)
        judged += [False for item in surplus for _ in item]
    return mean(judged)


def _aligned(gold: list[Item], answer: list[Item]) -> list[tuple[int, int]]:
    likeness = {
        (i, j): sum(key in other and is_same(value, other[key]) for key, value in item.items())
        for i, item in enumerate(gold)
        for j, other in enumerate(answer)
    }
    found: list[tuple[int, int]] = []
    left, right = set(range(len(gold))), set(range(len(answer)))
    # of equals those first that stand at like places
    for i, j in sorted(likeness, key=lambda pair: (-likeness[pair], abs(pair[0] - pair[1]), pair)):
        if i in left and j in right:
            found.append((i, j))
            left.remove(i)
            right.remove(j)
    return found


def _arrays(pairs: Iterable[Pair]) -> Iterator[tuple[list[Item], list[Item]]]:
    for record, response in pairs:
        arrays = compile_schema(record.schema).arrays
        outermost = {array.pointer for array in arrays if not array.item_steps}
        for pointer in (pointer for pointer in response["meta"] if pointer in outermost):
            gold = lookup(record.value, pointer) or []
            answer = lookup(response["value"], pointer) or []
            yield [dict(_values(item)) for item in gold], [dict(_values(item)) for item in answer]


def _values(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _values(inner, f"{pointer}/{name}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _values(inner, f"{pointer}/{number}")
    elif value is not None:
        yield pointer, value
