"""Drafts of lists: which columns a list shows, what each item says, and in which form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from random import Random

from deg_train.generate.drafts import draw_text
from deg_train.generate.fields import Field
from deg_train.generate.kinds import DECIDE_KINDS, NUMBER_KINDS
from deg_train.generate.list_layouts import Layout
from deg_train.generate.list_library import Frame, ListSort, list_sorts
from deg_train.generate.list_page import Cell
from deg_train.generate.names import content_words, styled_label
from deg_train.generate.setting import Setting

__all__ = ["Drawer", "Entry", "Listing", "are_apart", "draw_sorts", "words_in"]

_NUM_ENTRIES = (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14)
_NUM_WEIGHTS = (4, 8, 15, 18, 16, 12, 9, 6, 5, 3, 2, 2)
_MOST_OUTER, _MOST_INNER = 4, 4
_YES_NO = (("yes", "no"), ("Yes", "No"), ("true", "false"), ("y", "n"))
_CASES = ("as is", "as is", "title", "caps")
# what any array may be called says nothing of what is in it
_EMPTY_WORDS = frozenset("list listed entries order all seen".split())


@dataclass(frozen=True, slots=True)
class Entry:
    """One item of a list.

    Attributes:
        cells: What each column says, None where it says nothing or says it in words.
        labels: The label of each column that is decided.
        inner: The items of the list inside.
    """

    cells: tuple[Cell | None, ...]
    labels: tuple[str, ...]
    inner: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of a document.

    Attributes:
        labels: What the document calls each column.
        form: The layout or the sentence of every item.
        words: How it says yes and no, and the case of what it says from a list of options.
        gap: How often it lacks a value.
        inner: What the lists in the items have in common, without items.
    """

    sort: ListSort
    columns: tuple[Field, ...]
    labels: tuple[str, ...]
    form: Layout | Frame
    words: tuple[tuple[str, str], str]
    gap: float
    entries: tuple[Entry, ...] = ()
    inner: Listing | None = None


def draw_sorts(rng: Random, num_sorts: int) -> list[ListSort]:
    """Draw sorts of which no list could be taken for one of another."""
    sorts: list[ListSort] = []
    for sort in rng.sample(list_sorts(), len(list_sorts())):
        if all(are_apart(sort, other) for other in sorts):
            sorts.append(sort)
        if len(sorts) == num_sorts:
            break
    return sorts


def are_apart(one: ListSort, other: ListSort) -> bool:
    """Say whether a list of the one could not be taken for one of the other."""
    own, theirs = one.columns[0].kind, other.columns[0].kind
    if own == theirs and own != "text" or one is other:
        return False
    return not (_array_words(one) & words_in(other) or _array_words(other) & words_in(one))


def words_in(sort: ListSort) -> frozenset[str]:
    """Return the words by which the array and its columns are called."""
    return _array_words(sort).union(*(content_words(spec.names) for spec in sort.columns))


def _array_words(sort: ListSort) -> frozenset[str]:
    return content_words(sort.array.names) - _EMPTY_WORDS


class Drawer:
    """Draws the lists of one document."""

    def __init__(
        self, layouts: Sequence[Layout], setting: Setting, rng: Random, *, held_out: bool
    ) -> None:
        self._layouts, self._setting, self._rng = layouts, setting, rng
        self._held_out = held_out
        self._keys: Iterator[int] = count()

    def draw(self, sort: ListSort, num_entries: int | None = None) -> Listing:
        """Draw a list, of *num_entries* where given and as many items differ."""
        if num_entries is None:
            num_entries = self._rng.choices(_NUM_ENTRIES, _NUM_WEIGHTS)[0]
        return self._filled(self._empty(sort), num_entries)

    def draw_nested(
        self,
        sort: ListSort,
        others: Sequence[ListSort],
        num_entries: int | None = None,
        *,
        most_columns: int = 3,
    ) -> Listing:
        """Draw a list with lists in its items that are none of the *others*, or a plain one."""
        rng = self._rng
        most_outer = num_entries or _MOST_OUTER
        if num_entries is None:
            num_entries = rng.choices(_NUM_ENTRIES, _NUM_WEIGHTS)[0]
        held = [
            each
            for each in list_sorts()
            if each.name in sort.holds and all(are_apart(each, other) for other in others)
        ]
        if not held or not num_entries:
            return self._filled(self._empty(sort), num_entries)
        inner = self._empty(rng.choice(held), most_columns=most_columns)
        outer = self._empty(sort, most_columns=most_columns, avoid=inner.sort.columns[0].kind)
        outer = self._filled(outer, min(num_entries, most_outer))
        entries = []
        for entry in outer.entries:
            # some have none, and that is what the array in them must say
            num_inner = rng.choice((0, 1, 1, 2, 2, 3, 3, _MOST_INNER))
            entries.append(replace(entry, inner=self._filled(inner, num_inner).entries))
        return replace(outer, entries=tuple(entries), inner=inner)

    def draw_none(self, sort: ListSort) -> Listing:
        """Draw a list without items, as of a document that does not have it."""
        return self._empty(sort)

    def _empty(self, sort: ListSort, *, most_columns: int = 5, avoid: str = "") -> Listing:
        """Choose how a list looks: as a table or the like, or told in sentences."""
        rng = self._rng
        first, *others = [self._narrowed(spec) for spec in sort.columns]
        others = [spec for spec in others if spec.kind != avoid]
        usable = {first.key, *(spec.key for spec in others)}
        frames = [
            each
            for each in sort.frames
            if each.held_out == self._held_out and usable.issuperset(each.keys)
        ]
        if frames and rng.random() < 0.3:
            frame = rng.choice(frames)
            columns = (first, *(spec for spec in others if spec.key in frame.keys))
            form: Layout | Frame = frame
        else:
            num_others = rng.choices((0, 1, 2, 3, 4), (12, 25, 30, 20, 13))[0]
            num_others = min(num_others, most_columns - 1, len(others))
            columns = (first, *rng.sample(others, num_others))
            suitable = [each for each in self._layouts if _suits(each, columns)]
            form = rng.choice([each for each in suitable for _ in range(each.weight)])
        style = rng.choice(("words", "title", "caps", "snake", "title"))
        labels = tuple(styled_label(rng.choice(spec.names[:3]), style) for spec in columns)
        has_gaps = isinstance(form, Layout) and form.labelled and rng.random() < 0.4
        words = rng.choice(_YES_NO), rng.choice(_CASES)
        return Listing(sort, columns, labels, form, words, 0.12 if has_gaps else 0.0)

    def _narrowed(self, spec: Field) -> Field:
        """Let the sums and measures of one list mostly be of one currency or unit."""
        if spec.kind in NUMBER_KINDS and spec.values and self._rng.random() < 0.8:
            return replace(spec, values=(self._rng.choice(spec.values),))
        return spec

    def _filled(self, listing: Listing, num_entries: int) -> Listing:
        entries: dict[str, Entry] = {}
        for _ in range(num_entries):
            entry = self._entry(listing)
            first = entry.cells[0]
            assert first is not None
            entries.setdefault(first.text, entry)
        return replace(listing, entries=tuple(entries.values()))

    def _entry(self, listing: Listing) -> Entry:
        rng, columns = self._rng, listing.columns
        labels = [rng.choice(spec.labels) if spec.labels else "" for spec in columns]
        texts = [
            _printed(spec, label, listing.words) if label else draw_text(spec, rng, self._setting)
            for spec, label in zip(columns, labels, strict=True)
        ]
        _multiply(columns, texts)
        if isinstance(listing.form, Layout) and listing.form.name == "commas":
            texts = [text.replace(",", "") for text in texts]
        cells = [
            # what is decided must be said, and the first column tells items apart
            None
            if place and not labels[place] and rng.random() < listing.gap
            else Cell(text, next(self._keys))
            for place, text in enumerate(texts)
        ]
        return Entry(tuple(cells), tuple(labels))


def _printed(spec: Field, label: str, words: tuple[tuple[str, str], str]) -> str:
    (yes, no), case = words
    if spec.kind == "yes-no":
        return yes if label == "yes" else no
    return styled_label(label, case) if spec.kind == "choice" else label


def _multiply(columns: tuple[Field, ...], texts: list[str]) -> None:
    """Let the total of a line be what its pieces cost together."""
    places = {spec.key: place for place, spec in enumerate(columns)}
    if places.keys() >= {"quantity", "unit_price", "total"}:
        pieces, price = texts[places["quantity"]], texts[places["unit_price"]]
        texts[places["total"]] = f"{int(pieces) * float(price):.2f}"


def _suits(layout: Layout, columns: tuple[Field, ...]) -> bool:
    if layout.has_times and any(spec.kind in ("time", "datetime") for spec in columns):
        return False
    return layout.labelled or _is_clear(columns)


def _is_clear(columns: tuple[Field, ...]) -> bool:
    """Say whether the values alone tell the columns apart."""
    kinds = ["number" if spec.kind in NUMBER_KINDS else spec.kind for spec in columns]
    decided = [kind for kind in kinds if kind in DECIDE_KINDS - {"choice"}]
    return len(set(kinds)) == len(kinds) and not decided
