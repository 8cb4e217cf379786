"""Generated records with arrays: documents that list items, and schemas that ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Literal, get_args

from deg_train.generate.drafts import Fact, draw_text
from deg_train.generate.fields import Field
from deg_train.generate.filler import draw_paragraph
from deg_train.generate.gold import is_parsed, read_slot
from deg_train.generate.kinds import DECIDE_KINDS, NUMBER_KINDS
from deg_train.generate.library import Domain, default_library
from deg_train.generate.list_layouts import Cell, Grid, Layout, Page, layouts
from deg_train.generate.list_library import ListSort, list_sorts
from deg_train.generate.names import content_words, reserved_names, styled_label, styled_name
from deg_train.generate.phrasing import Naming, Question, as_text, make_nullable, phrase
from deg_train.generate.setting import Setting, draw_setting
from deg_train.records import Record

__all__ = ["ListSource", "ListSplit"]

ListSplit = Literal["train", "val", "lists"]

Span = tuple[int, int]

_NUM_ITEMS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14)
_NUM_WEIGHTS = (5, 8, 15, 18, 16, 12, 9, 6, 5, 3, 2, 1)
_YES_NO = (("yes", "no"), ("Yes", "No"), ("true", "false"), ("y", "n"))


@dataclass(frozen=True, slots=True)
class _Item:
    """One item: the text of each column, None where it says nothing, and the items in it."""

    texts: tuple[str | None, ...]
    labels: tuple[str, ...]
    inner: tuple[_Item, ...] = ()


@dataclass(slots=True)
class _List:
    """A list of a document, with the columns that it shows."""

    sort: ListSort
    columns: tuple[Field, ...]
    items: list[_Item]
    inner: _List | None = None
    spans: dict[object, Span] = field(default_factory=dict)


class ListSource:
    """An endless source of records with arrays.

    `train` draws what training may see, `val` the same by other seeds, and `lists` documents whose
    layouts are kept from training.
    """

    def __init__(self, split: ListSplit = "train") -> None:
        if split not in get_args(ListSplit):
            raise ValueError(f"{split!r} is no split: one of {', '.join(get_args(ListSplit))}")
        self.split = split
        library = default_library()
        self._domains = list(library.domains.values())
        self._naming = Naming(reserved=None if split == "lists" else reserved_names(library))
        self._layouts = layouts(held_out=split == "lists")

    def records(self, count: int, seed: int) -> list[Record]:
        """Return the records of a seed, always the same."""
        rng = Random(f"lists/{self.split}/{seed}")
        return [self.sample(rng) for _ in range(count)]

    def stream(self, seed: int) -> Iterator[Record]:
        """Yield records without end, always the same for a seed."""
        rng = Random(f"lists/{self.split}/{seed}")
        while True:
            yield self.sample(rng)

    def sample(self, rng: Random) -> Record:
        """Draw a record."""
        while True:
            try:
                return _Author(self._domains, self._layouts, self._naming, rng).write()
            except _Discord:
                continue


class _Discord(Exception):
    """The items of nested arrays came to be asked about in different ways."""


class _Author:
    """Writes one document and asks about it."""

    def __init__(
        self, domains: list[Domain], layouts: list[Layout], naming: Naming, rng: Random
    ) -> None:
        self._domains, self._layouts, self._naming, self._rng = domains, layouts, naming, rng
        self._setting: Setting = draw_setting(rng)
        self._page = Page()
        self._schema: dict[str, Any] = {"type": "object", "properties": {}}
        self._value: dict[str, Any] = {}
        self._spans: dict[str, tuple[Span, ...]] = {}

    def write(self) -> Record:
        rng = self._rng
        sorts = rng.sample(list_sorts(), 3)
        num_lists = 1 if rng.random() < 0.75 else 2
        lists = [self._draw_list(sort, nests=rng.random() < 0.15) for sort in sorts[:num_lists]]
        if rng.random() < 0.15:
            self._page.say(draw_paragraph(rng) + "\n\n")
        if rng.random() < 0.5:
            self._print_header(lists)
        for number, each in enumerate(lists):
            self._page.say("\n" if number else "")
            self._print_list(each)
        if rng.random() < 0.25:
            self._page.say("\n" + draw_paragraph(rng))
        asked = lists if rng.random() < 0.7 else lists[:1]
        for each in rng.sample(asked, len(asked)):
            self._ask_list(each)
        if rng.random() < 0.12:
            self._ask_list(self._draw_list(sorts[2], is_empty=True))
        return Record(self._page.text.rstrip(), self._schema, self._value, self._spans, "lists")

    def _draw_list(
        self, sort: ListSort, *, nests: bool = False, is_empty: bool = False, most: int = 14
    ) -> _List:
        rng = self._rng
        first, *others = sort.columns
        num_columns = rng.choices((1, 2, 3, 4, 5), (15, 25, 30, 20, 10))[0]
        # a column more than one list item needs to be told from the next
        columns = (first, *rng.sample(others, min(num_columns - 1, len(others))))
        num_items = 0 if is_empty else min(rng.choices(_NUM_ITEMS, _NUM_WEIGHTS)[0], most)
        inner = None
        if nests and num_items:
            others_sorts = [other for other in list_sorts() if _differ(other, sort)]
            inner = self._draw_list(rng.choice(others_sorts), is_empty=True)
            columns, num_items = columns[:2], min(num_items, 4)
        seen: set[str] = set()
        items = []
        for _ in range(num_items):
            item = self._draw_item(columns)
            if item.texts[0] in seen:
                continue
            seen.add(str(item.texts[0]))
            if inner is not None:
                own = self._draw_list(inner.sort, most=4)
                drawn = tuple(self._draw_item(inner.columns) for _ in own.items)
                item = replace(item, inner=_distinct(drawn))
            items.append(item)
        return _List(sort, columns, items, inner)

    def _draw_item(self, columns: tuple[Field, ...]) -> _Item:
        texts, labels = [], []
        for spec in columns:
            label = self._rng.choice(spec.labels) if spec.kind in DECIDE_KINDS else ""
            texts.append(label or draw_text(spec, self._rng, self._setting))
            labels.append(label)
        return _Item(tuple(texts), tuple(labels))

    def _print_header(self, lists: list[_List]) -> None:
        """Print some facts of the whole document as labels and values, and ask for some."""
        rng = self._rng
        taken = {word for each in lists for word in _words(each)}
        domain = rng.choice(self._domains)
        usable = [
            spec
            for spec in domain.fields.values()
            if spec.kind not in DECIDE_KINDS
            and spec.kind != "headline"
            and content_words(spec.names).isdisjoint(taken)
        ]
        style = rng.choice(("words", "title", "caps"))
        for spec in rng.sample(usable, min(len(usable), rng.randint(1, 4))):
            if not content_words(spec.names).isdisjoint(taken):
                continue
            taken |= content_words(spec.names)
            label = styled_label(rng.choice(self._naming.names(spec)), style)
            cell = Cell(draw_text(spec, rng, self._setting), ("header", spec.key))
            self._page.say(f"{label}: ")
            self._page.print(cell)
            self._page.say("\n")
            if rng.random() < 0.6:
                self._ask_scalar(spec, cell)
        self._page.say("\n")

    def _ask_scalar(self, spec: Field, cell: Cell) -> None:
        question = phrase(spec, Fact(spec, cell.text), self._naming, self._rng)
        if question is None or question.name in self._schema["properties"]:
            return
        span = self._page.spans[cell.key]
        schema, value, places = self._read(question.schema, [span])
        self._schema["properties"][question.name] = schema
        self._value[question.name] = value[0]
        self._spans[f"/{_escape(question.name)}"] = (places[0],)

    def _print_list(self, each: _List) -> None:
        rng = self._rng
        if not each.items and rng.random() < 0.5:
            return
        if rng.random() < 0.6:
            heading = rng.choice(each.sort.array.values)
            self._page.say(
                rng.choice(("{}:\n", "{}\n", "{}\n\n", "# {}\n", "{} -\n")).format(heading)
            )
        if not each.items:
            self._page.say(rng.choice(("none\n", "(empty)\n", "nothing to report\n", "-\n")))
            return
        is_plain = each.inner is None and _is_clear(each.columns)
        usable = [layout for layout in self._layouts if layout.labelled or is_plain]
        layout = rng.choice(usable)
        if each.inner is None:
            self._lay_out(each, layout, tuple(range(len(each.items))), ())
            return
        plain = _is_clear(each.inner.columns)
        inner_layouts = [layout for layout in self._layouts if layout.labelled or plain]
        inner_layout = rng.choice(inner_layouts)
        for number in range(len(each.items)):
            self._lay_out(each, Layout("heading", _heading), (number,), ())
            own = list(each.items[number].inner)
            inner = _List(each.inner.sort, each.inner.columns, own)
            if inner.items:
                self._lay_out(inner, inner_layout, tuple(range(len(inner.items))), (number,))
            each.spans |= inner.spans
            self._page.say("\n")

    def _lay_out(
        self, each: _List, layout: Layout, numbers: tuple[int, ...], outer: tuple[int, ...]
    ) -> None:
        rng = self._rng
        style = rng.choice(("words", "title", "caps", "snake", "title"))
        labels = tuple(styled_label(rng.choice(spec.names[:3]), style) for spec in each.columns)
        yes, no = rng.choice(_YES_NO)
        gap = 0.12 if layout.labelled and rng.random() < 0.4 else 0.0
        has_commas = layout.name == "commas"
        rows = []
        for number in numbers:
            row: list[Cell | None] = []
            texts = list(each.items[number].texts)
            for place, spec in enumerate(each.columns):
                text = str(texts[place])
                if spec.kind == "yes-no":
                    text = yes if text == "yes" else no
                if has_commas:
                    text = text.replace(",", "")
                # what is decided must be said, and the first column tells items apart
                if place and spec.kind not in DECIDE_KINDS and rng.random() < gap:
                    row.append(None)
                else:
                    row.append(Cell(text, (*outer, number, id(each.sort), place)))
            rows.append(tuple(row))
        layout.lay_out(self._page, Grid(labels, tuple(rows)), rng)
        each.spans |= {
            (*outer, number, place): self._page.spans[cell.key]
            for number, row in zip(numbers, rows, strict=True)
            for place, cell in enumerate(row)
            if cell is not None
        }

    def _ask_list(self, each: _List) -> None:
        rng = self._rng
        name = self._array_name(each.sort.array)
        if name in self._schema["properties"]:
            return
        schema, values = self._array(each, each.items, (), f"/{_escape(name)}")
        self._schema["properties"][name] = schema
        self._value[name] = values
        if rng.random() < 0.5:
            self._schema.setdefault("required", []).append(name)

    def _array_name(self, array: Field) -> str:
        rng = self._rng
        name = rng.choice(self._naming.names(array))
        return styled_name(name, rng)

    def _array(
        self, each: _List, items: list[_Item], outer: tuple[int, ...], pointer: str
    ) -> tuple[dict[str, Any], list[Any]]:
        """Return the schema of an array and its value, and note where its values stand."""
        rng = self._rng
        shown = list(enumerate(each.columns))
        asked = [shown[0]] if rng.random() < 0.9 or len(shown) == 1 else []
        asked += [one for one in shown[1:] if rng.random() < 0.8]
        asked = asked or shown[:1]
        numbers = range(len(items))
        leaves: list[tuple[Question, list[Any], list[Span | None]]] = []
        names: set[str] = set()
        for place, spec in asked:
            keys = [(*outer, number, place) for number in numbers]
            leaf = self._leaf(spec, [each.spans.get(key) for key in keys], items, place)
            if leaf is not None and leaf[0].name not in names:
                names.add(leaf[0].name)
                leaves.append(leaf)
        schema: dict[str, Any] = {"type": "array"}
        if rng.random() < 0.15:
            schema["title"] = styled_label(rng.choice(each.sort.array.names[:3]), "title")
        if rng.random() < 0.75:
            schema["description"] = rng.choice(self._naming.abouts(each.sort.array))
        if len(leaves) == 1 and each.inner is None and rng.random() < 0.6:
            question, values, places = leaves[0]
            if all(place is not None for place in places) or question.decided:
                schema["items"] = question.schema
                for number, span in enumerate(places):
                    if span is not None and not question.decided:
                        self._spans[f"{pointer}/{number}"] = (span,)
                return self._bounded(schema, len(values), outer), values
        properties: dict[str, Any] = {}
        rows: list[dict[str, Any]] = [{} for _ in numbers]
        required = []
        for question, values, places in rng.sample(leaves, len(leaves)):
            property_schema, key = question.schema, question.name
            has_gaps = any(value is None for value in values)
            is_nullable = question.nullable and not question.decided
            if has_gaps and not is_nullable and rng.random() < 0.5:
                property_schema, is_nullable = make_nullable(property_schema, rng), True
            properties[key] = property_schema
            if is_nullable or not has_gaps:
                required += [key] if rng.random() < 0.6 else []
            for number, (value, span) in enumerate(zip(values, places, strict=True)):
                if value is not None or is_nullable:
                    rows[number][key] = value
                if span is not None and not question.decided:
                    self._spans[f"{pointer}/{number}/{_escape(key)}"] = (span,)
        if each.inner is not None:
            self._nest(each, items, rows, properties, pointer)
        item: dict[str, Any] = {"type": "object", "properties": properties}
        if required:
            item["required"] = required
        schema["items"] = item
        return self._bounded(schema, len(rows), outer), rows

    def _nest(
        self,
        each: _List,
        items: list[_Item],
        rows: list[dict[str, Any]],
        properties: dict[str, Any],
        pointer: str,
    ) -> None:
        assert each.inner is not None
        name = self._array_name(each.inner.sort.array)
        if name in properties:
            return
        # the same draws for each item, so that one schema asks for all of them
        state = self._rng.getstate()
        telling: list[dict[str, Any]] = []
        for number, item in enumerate(items):
            self._rng.setstate(state)
            inner = _List(each.inner.sort, each.inner.columns, list(item.inner), spans=each.spans)
            properties[name], rows[number][name] = self._array(
                inner, inner.items, (number,), f"{pointer}/{number}/{_escape(name)}"
            )
            if item.inner:
                telling.append(properties[name])
        properties[name] = telling[-1] if telling else properties[name]
        if any(schema != properties[name] for schema in telling):
            raise _Discord

    def _bounded(
        self, schema: dict[str, Any], num_items: int, outer: tuple[int, ...]
    ) -> dict[str, Any]:
        # a bound that one nested array keeps, the next may not
        if outer:
            return schema
        if self._rng.random() < 0.08:
            # a limit that the list keeps
            schema["maxItems"] = num_items + self._rng.randint(0, 20) + (num_items == 0)
        if num_items and self._rng.random() < 0.08:
            schema["minItems"] = 1
        return schema

    def _leaf(
        self, spec: Field, spans: list[Span | None], items: list[_Item], place: int
    ) -> tuple[Question, list[Any], list[Span | None]] | None:
        """Return the question for a column, with the value and the place of each item's answer."""
        rng = self._rng
        printed = [self._page.text[slice(*span)] for span in spans if span is not None]
        fact = Fact(spec, printed[0]) if printed else None
        if spec.kind in DECIDE_KINDS:
            label = spec.labels[0]
            question = phrase(spec, Fact(spec, label=label), self._naming, rng)
            if question is None:
                return None
            schema, answers = _decision(spec, question.schema, rng)
            values = [answers[item.labels[place]] for item in items]
            return replace(question, schema=schema, nullable=False), values, spans
        question = phrase(spec, fact, self._naming, rng)
        if question is None:
            return None
        # a pattern that was made of one value would refuse the others
        schema = {key: rule for key, rule in question.schema.items() if key != "pattern"}
        for branch in ("anyOf", "oneOf"):
            if branch in schema:
                schema[branch] = [
                    {key: rule for key, rule in one.items() if key != "pattern"}
                    for one in schema[branch]
                ]
        schema, values, places = self._read(schema, spans)
        return replace(question, schema=schema), values, places

    def _read(
        self, schema: dict[str, Any], spans: list[Span | None]
    ) -> tuple[dict[str, Any], list[Any], list[Any]]:
        """Read the value in each span; what the parsers cannot read is asked for as text."""
        text = self._page.text
        if is_parsed(schema):
            read = [span and read_slot(schema, text, span) for span in spans]
            if all(one is not None for one, span in zip(read, spans, strict=True) if span):
                return (
                    schema,
                    [one[0] if one else None for one in read],
                    [one[1] if one else None for one in read],
                )
            schema = as_text(schema)
        return schema, [span and text[slice(*span)] for span in spans], spans


def _heading(page: Page, grid: Grid, rng: Random) -> None:
    (row,) = grid.rows
    first, *others = row
    assert first is not None
    page.print(first)
    for label, cell in zip(grid.labels[1:], others, strict=True):
        if cell is not None:
            page.say(f", {label}: ")
            page.print(cell)
    page.say("\n")


def _decision(
    spec: Field, schema: dict[str, Any], rng: Random
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema of a decision in an item, and the answer for each label."""
    notes = {key: note for key, note in schema.items() if key in ("title", "description")}
    if spec.kind == "yes-no":
        return {**notes, "type": "boolean"}, {"yes": True, "no": False}
    if spec.kind == "score":
        bounds = {"type": "integer", "minimum": spec.lowest, "maximum": spec.highest}
        return {**notes, **bounds}, {label: int(label) for label in spec.labels}
    options = rng.sample(spec.options, len(spec.options))
    answers = {option.name: option.name for option in options}
    if all(option.description for option in options) and rng.random() < 0.3:
        branches = [{"const": o.name, "description": o.description} for o in options]
        return {**notes, "oneOf": branches}, answers
    return {**notes, "enum": [option.name for option in options]}, answers


def _is_clear(columns: tuple[Field, ...]) -> bool:
    """Say whether the values alone tell the columns apart."""
    kinds = ["number" if spec.kind in NUMBER_KINDS else spec.kind for spec in columns]
    decided = [kind for kind in kinds if kind in ("yes-no", "score")]
    return len(set(kinds)) == len(kinds) and not decided


def _differ(one: ListSort, other: ListSort) -> bool:
    own = {word for spec in (one.array, *one.columns) for word in content_words(spec.names)}
    theirs = {word for spec in (other.array, *other.columns) for word in content_words(spec.names)}
    return len(own & theirs) <= 3 and one is not other


def _distinct(items: tuple[_Item, ...]) -> tuple[_Item, ...]:
    return tuple({item.texts[0]: item for item in items}.values())


def _words(each: _List) -> set[str]:
    inner = _words(each.inner) if each.inner is not None else set()
    specs = (each.sort.array, *each.sort.columns)
    return inner | {word for spec in specs for word in content_words(spec.names)}


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
