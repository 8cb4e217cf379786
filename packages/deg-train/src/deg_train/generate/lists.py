"""Generated records with arrays: documents that list items, and schemas that ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Literal, get_args

from deg_train.generate.drafts import draw_text
from deg_train.generate.fields import Field
from deg_train.generate.filler import draw_paragraph
from deg_train.generate.kinds import DECIDE_KINDS, HELD_OUT_KINDS
from deg_train.generate.library import default_library
from deg_train.generate.list_asking import Sheet
from deg_train.generate.list_drafts import Drawer, Listing, draw_sorts, words_in
from deg_train.generate.list_layouts import layouts
from deg_train.generate.list_page import Cell, Page
from deg_train.generate.list_printing import TOTAL_KEY, TOTAL_NAMES, print_listing, total_of
from deg_train.generate.names import content_words, reserved_names, styled_label
from deg_train.generate.phrasing import Naming
from deg_train.generate.setting import draw_setting
from deg_train.records import Record

__all__ = ["ListSource", "ListSplit"]

ListSplit = Literal["train", "val", "lists"]

_HEADER_LINES = ("{}: ", "{}: ", "{}: ", "{} - ", "* {}: ", "{} = ", "{}\t")
_PREFIXES = ("> ", "  ", "    ", "| ", "// ", "# ")


class ListSource:
    """An endless source of records with arrays.

    `train` draws what training may see, `val` the same by other seeds, and `lists` documents whose
    layouts and sentences are kept from training.

    Args:
        split: What is drawn.
        nested: Whether the first list of every document is of a sort that holds lists; otherwise
            one document in eight has such a list.
    """

    def __init__(self, split: ListSplit = "train", *, nested: bool = False) -> None:
        if split not in get_args(ListSplit):
            raise ValueError(f"{split!r} is no split: one of {', '.join(get_args(ListSplit))}")
        self.split = split
        self._nested = nested
        self._library = default_library()
        self._held_out = split == "lists"
        reserved = None if self._held_out else reserved_names(self._library)
        self._naming = Naming(reserved=reserved)
        self._layouts = layouts(held_out=self._held_out)

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
        setting = draw_setting(rng)
        drawer = Drawer(self._layouts, setting, rng, held_out=self._held_out)
        num_lists = 1 if rng.random() < 0.75 else 2
        has_stranger = rng.random() < 0.12
        sorts = draw_sorts(rng, num_lists + has_stranger)
        while self._nested and not sorts[0].holds:
            sorts = draw_sorts(rng, num_lists + has_stranger)
        strangers = sorts[num_lists:]
        first, *others = sorts
        if self._nested:
            columns = rng.choice((1, 1, 2, 3))
            draft = drawer.draw_nested(first, others, rng.randint(3, 9), most_columns=columns)
        elif first.holds and rng.random() < 0.6:
            draft = drawer.draw_nested(first, others)
        else:
            draft = drawer.draw(first)
        listings = [draft]
        listings += [drawer.draw(sort) for sort in others[: num_lists - 1]]
        page = Page()
        asked: list[tuple[Field, Cell | None]] = []
        taken = frozenset().union(*(_words(each) for each in listings), *map(words_in, strangers))
        if rng.random() < 0.15:
            page.say(draw_paragraph(rng) + "\n\n")
        if rng.random() < 0.5:
            domains = [name for sort in sorts for name in sort.domains]
            kinds = {spec.kind for each in listings for spec in _columns(each)}
            fields = self._header_fields(rng.choice(domains or ["newsletter"]), taken)
            lines = [
                (spec, Cell(draw_text(spec, rng, setting), ("header", spec.key)))
                for spec in _apart(fields, rng.randint(1, 4), rng)
            ]
            asked += _print_header(page, lines, self._naming, rng)
            asked += self._absent(fields, lines, kinds, rng)
        for number, listing in enumerate(listings):
            page.say("\n" if number else "")
            print_listing(page, listing, rng)
            asked += _print_total(page, listing, number, rng)
        if rng.random() < 0.25:
            page.say("\n" + draw_paragraph(rng))
        page.text = page.text.rstrip()
        if rng.random() < 0.06:
            page.start_lines(rng.choice(_PREFIXES))
        sheet = Sheet(page, self._naming, rng, crowded=len(listings) + len(strangers) > 1)
        for spec, cell in asked:
            sheet.ask_scalar(spec, cell)
        wanted = listings if rng.random() < 0.7 else [rng.choice(listings)]
        for listing in rng.sample(wanted, len(wanted)):
            sheet.ask_list(listing)
        for sort in strangers:
            sheet.ask_list(drawer.draw_none(sort))
        return sheet.finish()

    def _header_fields(self, domain: str, taken: frozenset[str]) -> list[Field]:
        """Return the fields of a domain that nothing in a list could be taken for."""
        return [
            spec
            for spec in self._library.domains[domain].fields.values()
            if spec.kind not in DECIDE_KINDS | {"headline"}
            and content_words(spec.names)
            and content_words(spec.names).isdisjoint(taken)
        ]

    def _absent(
        self,
        fields: list[Field],
        lines: list[tuple[Field, Cell]],
        kinds: set[str],
        rng: Random,
    ) -> list[tuple[Field, None]]:
        """Choose a field that neither the header nor a list tells, at times."""
        told = {word for spec, _ in lines for word in content_words(spec.names)}
        silent = [
            spec
            for spec in fields
            if spec.kind not in kinds | HELD_OUT_KINDS
            and content_words(spec.names).isdisjoint(told)
            and spec.kind not in {other.kind for other, _ in lines}
        ]
        return [(rng.choice(silent), None)] if silent and rng.random() < 0.3 else []


def _words(listing: Listing) -> frozenset[str]:
    inner = _words(listing.inner) if listing.inner is not None else frozenset()
    return words_in(listing.sort) | inner | {"total", "sum"}


def _columns(listing: Listing) -> list[Field]:
    return [*listing.columns, *(listing.inner.columns if listing.inner is not None else ())]


def _apart(fields: list[Field], most: int, rng: Random) -> list[Field]:
    """Choose fields that share no word, so that none could be taken for another."""
    chosen: list[Field] = []
    taken: set[str] = set()
    for spec in rng.sample(fields, len(fields)):
        words = content_words(spec.names)
        if len(chosen) < most and words.isdisjoint(taken):
            chosen.append(spec)
            taken |= words
    return chosen


def _print_header(
    page: Page, lines: list[tuple[Field, Cell]], naming: Naming, rng: Random
) -> list[tuple[Field, Cell | None]]:
    """Print facts of the whole document as labels and values; return those to ask for."""
    style, line = rng.choice(("words", "title", "caps")), rng.choice(_HEADER_LINES)
    for spec, cell in lines:
        page.say(line.format(styled_label(rng.choice(naming.names(spec)), style)))
        page.print(cell)
        page.say("\n")
    page.say("\n" if lines else "")
    return [line for line in lines if line[0].kind not in HELD_OUT_KINDS and rng.random() < 0.6]


def _print_total(
    page: Page, listing: Listing, number: int, rng: Random
) -> list[tuple[Field, Cell | None]]:
    """Print the sum of a list below it, at times, and at times ask for it."""
    total = total_of(listing) if rng.random() < 0.5 else None
    if total is None:
        return []
    text, spec = total
    cell = Cell(text, (TOTAL_KEY, number))
    page.say(rng.choice(("Total: ", "TOTAL ", "Sum: ", "All together: ", "Total - ")))
    page.print(cell)
    page.say("\n")
    if number or rng.random() < 0.5:
        return []
    abouts = (
        "The total of the whole list",
        "What everything comes to, all items together",
        "The sum printed below the list",
        "Sum of all",
    )
    return [(Field(TOTAL_KEY, spec.kind, TOTAL_NAMES, abouts), cell)]
