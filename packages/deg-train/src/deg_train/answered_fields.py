"""Answers held against gold, field by field: what every measure outside arrays is taken over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from deg_train.records import Record, lookup

__all__ = ["AnsweredField", "Pair", "answered_fields", "decide_fields", "extract_fields", "is_same"]

Pair = tuple[Record, Mapping[str, Any]]
"""A gold record and the response to its context and schema, as contract section 8 shapes it."""


@dataclass(frozen=True, slots=True)
class AnsweredField:
    """One field of one record: what was asked, what is right, what was answered, and how."""

    record: Record
    pointer: str
    mode: str
    gold: Any
    answer: Any
    meta: Mapping[str, Any]

    @property
    def gold_spans(self) -> tuple[tuple[int, int], ...]:
        """Every place of the value."""
        return self.record.spans.get(self.pointer, ())

    @property
    def is_exact(self) -> bool:
        """Whether a present value was answered with its value, or from one of its places."""
        if self.gold is None or self.answer is None:
            return False
        if is_same(self.gold, self.answer):
            return True
        span = self.meta.get("span")
        if span is not None and tuple(span) in self.gold_spans:
            return True
        # only a copied text may equal another wording of itself: a number's text is not its value
        texts = {self.record.context[start:end] for start, end in self.gold_spans}
        return self.mode == "extract.span" and self.answer in texts

    @property
    def has_gold(self) -> bool:
        """Whether the record says what is right; null may be it: then the key is there."""
        parent, _, name = self.pointer.rpartition("/")
        holder = lookup(self.record.value, parent)
        return isinstance(holder, dict) and name.replace("~1", "/").replace("~0", "~") in holder

    @property
    def is_right(self) -> bool:
        """Whether the answer is the gold one, null where it is null."""
        if self.mode.startswith("decide."):
            return is_same(self.gold, self.answer)
        return self.answer is None if self.gold is None else self.is_exact


def answered_fields(pairs: Iterable[Pair]) -> Iterator[AnsweredField]:
    """Yield every answered field outside arrays."""
    for record, response in pairs:
        arrays = [pointer for pointer, meta in response["meta"].items() if meta["mode"] == "array"]
        # which item of a gold array a value belongs to is for `item_metrics` to say
        inside = tuple(f"{pointer}/" for pointer in arrays)
        for pointer, meta in response["meta"].items():
            if meta["mode"] == "array" or (inside and pointer.startswith(inside)):
                continue
            gold, answer = lookup(record.value, pointer), lookup(response["value"], pointer)
            yield AnsweredField(record, pointer, meta["mode"], gold, answer, meta)


def extract_fields(pairs: Iterable[Pair], mode: str = "extract.") -> Iterator[AnsweredField]:
    """Yield the answered extract fields outside arrays, those of a *mode* alone if it is given."""
    return (field for field in answered_fields(pairs) if field.mode.startswith(mode))


def decide_fields(pairs: Iterable[Pair], mode: str) -> Iterator[AnsweredField]:
    """Yield the decided fields of a *mode* that their record says something about."""
    return (
        field for field in answered_fields(pairs) if field.mode.startswith(mode) and field.has_gold
    )


def is_same(gold: object, answer: object) -> bool:
    """Return whether two values are equal; true is not 1, though Python says so."""
    return isinstance(gold, bool) == isinstance(answer, bool) and gold == answer
