"""Asking for lists: the array of a schema, its value, and where each value of it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from random import Random
from typing import Any

from deg_train.generate.drafts import Fact
from deg_train.generate.fields import Field
from deg_train.generate.kinds import DECIDE_KINDS
from deg_train.generate.list_drafts import Entry, Listing
from deg_train.generate.list_leaves import Leaf, leaf_of, read_leaf
from deg_train.generate.list_page import Cell, Page
from deg_train.generate.names import seen_names, styled_label, styled_name
from deg_train.generate.phrasing import Naming, make_nullable, phrase
from deg_train.records import Record, step

__all__ = ["Sheet"]

Span = tuple[int, int]

# the items of one array: where it stands in the value, and what the document says of each
Group = tuple[str, Sequence[Entry]]


@dataclass(slots=True)
class Sheet:
    """The questions about a printed page while they are collected.

    Attributes:
        crowded: The page has several lists, so that an array must say which one it wants.
    """

    page: Page
    naming: Naming
    rng: Random
    crowded: bool
    _properties: dict[str, Any] = field(default_factory=dict)
    _required: list[str] = field(default_factory=list)
    _value: dict[str, Any] = field(default_factory=dict)
    _spans: dict[str, tuple[Span, ...]] = field(default_factory=dict)

    def ask_scalar(self, spec: Field, cell: Cell | None) -> None:
        """Ask for a value of the whole document, or for one that it lacks."""
        fact = Fact(spec, cell.text) if cell is not None else None
        question = phrase(spec, fact, self.naming, self.rng)
        if question is None or question.name in self._properties:
            return
        if cell is None:
            self._properties[question.name] = question.schema
            if question.nullable:
                self._value[question.name] = None
            return
        leaf = read_leaf(question, self.page.text, [self.page.spans[cell.key]])
        self._properties[question.name] = leaf.question.schema
        self._value[question.name] = leaf.values[0]
        self._note(step(question.name), leaf.spans[0])

    def ask_list(self, listing: Listing) -> None:
        """Ask for a list."""
        leaves = self._leaves(listing, listing.entries)
        if listing.inner is None and len(leaves) == 1 and self.rng.random() < 0.6:
            spec, leaf = leaves[0]
            is_first = spec is listing.columns[0]
            if leaf.question.decided or None not in leaf.spans:
                name, schema = self._head(listing) if is_first else self._head_of(spec, listing)
                if name not in self._properties:
                    schema["items"] = leaf.question.schema
                    for number, span in enumerate(leaf.spans):
                        if not leaf.question.decided:
                            self._note(f"{step(name)}/{number}", span)
                    self._put(name, self._bounded(schema, [len(leaf.values)]), leaf.values)
                return
        name, schema = self._head(listing)
        if name not in self._properties:
            groups = [(step(name), listing.entries)]
            schema, (value,) = self._array(listing, leaves, schema, groups)
            self._put(name, schema, value)

    def finish(self) -> Record:
        """Return the record of everything that was asked."""
        rng = self.rng
        names = rng.sample(list(self._properties), len(self._properties))
        schema: dict[str, Any] = {"type": "object"}
        schema["properties"] = {name: self._properties[name] for name in names}
        required = [name for name in names if name in self._required]
        if required:
            schema["required"] = required
        value = {name: self._value[name] for name in names if name in self._value}
        spans = self._spans
        if rng.random() < 0.05:
            outer = rng.choice(("data", "document", "content", "result", "extracted"))
            schema = {"type": "object", "properties": {outer: schema}, "required": [outer]}
            value = {outer: value}
            spans = {f"/{outer}{pointer}": found for pointer, found in spans.items()}
        return Record(self.page.text, schema, value, spans, "lists")

    def _put(self, name: str, schema: dict[str, Any], value: list[Any]) -> None:
        self._properties[name] = schema
        self._value[name] = value
        if self.rng.random() < 0.5:
            self._required.append(name)

    def _head(self, listing: Listing, *, inside: bool = False) -> tuple[str, dict[str, Any]]:
        """Return the name of an array and what its schema says about it."""
        rng, array = self.rng, listing.sort.array
        name = styled_name(rng.choice(self.naming.names(array)), rng)
        schema: dict[str, Any] = {"type": "array"}
        if rng.random() < 0.15:
            schema["title"] = styled_label(rng.choice(seen_names(array)), "title")
        if self.crowded or rng.random() < 0.75:
            about = rng.choice(self.naming.abouts(array))
            is_bare = about.endswith("?") or about.startswith("One entry") or rng.random() < 0.6
            way = "{}" if is_bare else rng.choice(_WAYS)
            schema["description"] = way.format(about, about[:1].lower() + about[1:])
            if rng.random() < 0.1 and not inside and self.naming.reserved is not None:
                name = styled_name(rng.choice(_MUTE), rng)
        return name, schema

    def _head_of(self, spec: Field, listing: Listing) -> tuple[str, dict[str, Any]]:
        """Return the name and the notes of an array with one column that is not the first."""
        rng, naming = self.rng, self.naming
        of_all = styled_label(rng.choice(seen_names(listing.sort.array)), "lower")
        name = rng.choice(("{}_of_each", "all_{}", "{}_list", "{}_by_entry", "{}_in_order"))
        about = rng.choice([each for each in naming.abouts(spec) if not each.endswith("?")])
        way = rng.choice(("{} - for each of the {}", "{}, of all {} in order", "{} ({}, each)"))
        schema = {"type": "array", "description": way.format(about, of_all)}
        return styled_name(name.format(rng.choice(naming.names(spec))), rng), schema

    def _array(
        self,
        listing: Listing,
        leaves: list[tuple[Field, Leaf]],
        schema: dict[str, Any],
        groups: Sequence[Group],
    ) -> tuple[dict[str, Any], list[list[Any]]]:
        """Return the schema of arrays of objects, and the value of each of the groups."""
        rng = self.rng
        item = _Object()
        shuffled = rng.sample([leaf for _, leaf in leaves], len(leaves))
        grouped = _Object()
        if len(shuffled) >= 3 and rng.random() < 0.12:
            num_grouped = rng.randint(1, len(shuffled) - 1)
            grouped_leaves, shuffled = shuffled[:num_grouped], shuffled[num_grouped:]
            for leaf in grouped_leaves:
                grouped.add(leaf, rng)
        for leaf in shuffled:
            item.add(leaf, rng)
        outer = rng.choice(_GROUPS)
        if grouped.properties and outer not in item.properties:
            item.properties[outer] = grouped.to_schema(rng)
            item.required += [outer] if grouped.required else []
        rows: list[list[Any]] = []
        entries: list[tuple[str, Entry, dict[str, Any]]] = []
        number = 0
        for pointer, own in groups:
            rows.append([])
            for index, entry in enumerate(own):
                at = f"{pointer}/{index}"
                row = self._row(item, number, at)
                if outer in item.properties and grouped.properties:
                    row[outer] = self._row(grouped, number, f"{at}/{outer}")
                rows[-1].append(row)
                entries.append((at, entry, row))
                number += 1
        if listing.inner is not None:
            self._nest(listing.inner, item, entries)
        schema["items"] = item.to_schema(rng)
        return self._bounded(schema, [len(own) for _, own in groups]), rows

    def _row(self, item: _Object, number: int, pointer: str) -> dict[str, Any]:
        row = {}
        for name, (leaf, is_nullable) in item.leaves.items():
            value = leaf.values[number]
            if value is not None or is_nullable:
                row[name] = value
            if not leaf.question.decided:
                self._note(f"{pointer}{step(name)}", leaf.spans[number])
        return row

    def _nest(
        self, inner: Listing, item: _Object, entries: list[tuple[str, Entry, dict[str, Any]]]
    ) -> None:
        """Ask for the lists in the items, of all items at once."""
        name, schema = self._head(inner, inside=True)
        if name in item.properties:
            return
        groups = [(f"{at}{step(name)}", entry.inner) for at, entry, _ in entries]
        together = [entry for _, own in groups for entry in own]
        leaves = self._leaves(inner, together)
        leaf = leaves[0][1]
        is_plain = leaves[0][0] is inner.columns[0] and len(leaves) == 1
        if is_plain and None not in leaf.spans and self.rng.random() < 0.6:
            schema["items"] = leaf.question.schema
            values = iter(leaf.values)
            found = iter(leaf.spans)
            for (at, own), (_, _, row) in zip(groups, entries, strict=True):
                row[name] = list(islice(values, len(own)))
                for index, span in enumerate(islice(found, len(own))):
                    self._note(f"{at}/{index}", span)
        else:
            schema, rows = self._array(inner, leaves, schema, groups)
            for (_, _, row), value in zip(entries, rows, strict=True):
                row[name] = value
        item.properties[name] = schema
        item.required += [name] if self.rng.random() < 0.5 else []

    def _leaves(self, listing: Listing, entries: Sequence[Entry]) -> list[tuple[Field, Leaf]]:
        """Ask for some of the columns, mostly for the one that tells the items apart."""
        rng, columns = self.rng, listing.columns
        asked = [place for place in range(len(columns)) if rng.random() < (0.8 if place else 0.9)]
        decided = [place for place, spec in enumerate(columns) if spec.kind in DECIDE_KINDS]
        if decided and listing.inner is None and rng.random() < 0.15:
            asked = decided
        leaves: dict[str, tuple[Field, Leaf]] = {}
        for place in asked or [0]:
            leaf = leaf_of(columns[place], place, entries, self.page, self.naming, rng)
            leaves.setdefault(leaf.question.name, (columns[place], leaf))
        return list(leaves.values())

    def _bounded(self, schema: dict[str, Any], lengths: list[int]) -> dict[str, Any]:
        """Put limits that the arrays keep into their schema, at times."""
        rng = self.rng
        if rng.random() < 0.08:
            schema["maxItems"] = max([*lengths, 1]) + rng.randint(0, 20)
        least = min(lengths, default=0)
        if least and rng.random() < 0.08:
            schema["minItems"] = rng.randint(1, least)
        return schema

    def _note(self, pointer: str, span: Span | None) -> None:
        if span is not None:
            self._spans[pointer] = (span,)


@dataclass(slots=True)
class _Object:
    """The object of an item while its properties are collected."""

    leaves: dict[str, tuple[Leaf, bool]] = field(default_factory=dict)
    properties: dict[str, Any] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)

    def add(self, leaf: Leaf, rng: Random) -> None:
        question = leaf.question
        schema, is_nullable = question.schema, question.nullable and not question.decided
        has_gaps = any(value is None for value in leaf.values)
        if has_gaps and not is_nullable and rng.random() < 0.5:
            schema, is_nullable = make_nullable(schema, rng), True
        self.properties[question.name] = schema
        self.leaves[question.name] = (leaf, is_nullable)
        if (is_nullable or not has_gaps) and rng.random() < 0.6:
            self.required.append(question.name)

    def to_schema(self, rng: Random) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "object", "properties": self.properties}
        if self.required:
            schema["required"] = self.required
        if rng.random() < 0.15:
            schema["additionalProperties"] = False
        return schema


_WAYS = (
    "List of: {1}",
    "{0}, one object each",
    "{0}; empty if there are none",
    "{0}, in the order of the document",
    "Array: {1}",
    "Extract {1}",
)
_MUTE = ("items", "rows", "elements", "list_1", "array_field", "list_2", "result_list")
_GROUPS = ("details", "info", "further", "attributes", "properties_of_it")
