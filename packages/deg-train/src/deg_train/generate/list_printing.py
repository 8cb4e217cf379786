"""Printing lists: headings, items in their layout or in sentences, lists in items, and sums."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from deg_train.generate.fields import Field
from deg_train.generate.list_drafts import Entry, Listing
from deg_train.generate.list_layouts import Layout, is_kept
from deg_train.generate.list_library import Frame, key_of
from deg_train.generate.list_page import Grid, Page
from deg_train.generate.template import Labelled, Node, Wording

__all__ = ["TOTAL_KEY", "TOTAL_NAMES", "print_listing", "total_of"]

TOTAL_KEY = "total"
"""The key of the cell with the sum of a list."""

TOTAL_NAMES = ("overall_total", "total_of_all", "sum_of_all", "total_of_list", "total_altogether")

_HEADINGS = ("{}:\n", "{}\n", "{}\n\n", "# {}\n", "{} -\n", "*{}*\n", "== {} ==\n")
_NOTHING = ("none\n", "(empty)\n", "nothing to report\n", "There are none.\n", "no entries\n")
_JOINTS = ("{}\n", "{}\n", "- {}\n", "* {}\n", "{}\n\n", "{} ")


def print_listing(page: Page, listing: Listing, rng: Random) -> None:
    """Print a list; one without items is left out or said to be empty."""
    is_left_out = not listing.entries and rng.random() < 0.5 and page.text.strip()
    if is_left_out:
        return
    if rng.random() < 0.6 or not listing.entries:
        heading = rng.choice(listing.sort.array.values)
        page.say(rng.choice(_HEADINGS).format(heading))
    if not listing.entries:
        page.say(rng.choice(_NOTHING))
    elif listing.inner is not None:
        _print_nested(page, listing, rng)
    else:
        _print_entries(page, listing, listing.entries, rng)


def total_of(listing: Listing) -> tuple[str, Field] | None:
    """Return the sum of the one column that can be summed up, and the column."""
    columns = [
        (place, spec)
        for place, spec in enumerate(listing.columns)
        if spec.kind in ("money", "amount", "integer") and spec.key not in _UNSUMMED
    ]
    summed = [each for each in columns if each[1].key == "total"] or columns
    if len(summed) != 1 or len(listing.entries) < 2 or listing.inner is not None:
        return None
    place, spec = summed[0]
    cells = [entry.cells[place] for entry in listing.entries]
    parts = [_AMOUNT.fullmatch(cell.text) if cell else None for cell in cells]
    affixes = {(part[1], part[3]) for part in parts if part}
    if len(affixes) != 1 or None in parts:
        return None
    ((before, after),) = affixes
    total = sum(float(part[2].replace(",", "")) for part in parts if part)
    is_whole = all(part is None or "." not in part[2] for part in parts)
    return f"{before}{total:,.{0 if is_whole else 2}f}{after}", spec


_UNSUMMED = frozenset({"unit_price", "price_per_night"})
_AMOUNT = re.compile(r"(\D*)(\d[\d,]*(?:\.\d+)?)(\D*)")


def _print_entries(page: Page, listing: Listing, entries: tuple[Entry, ...], rng: Random) -> None:
    form = listing.form
    if isinstance(form, Frame):
        joint = rng.choice(_JOINTS if _ends_a_sentence(form) else _JOINTS[:4])
        before, after = joint.split("{}")
        for entry in entries:
            page.say(before)
            _tell(page, form.nodes, listing, entry, rng)
            page.say(after)
        page.say("" if after.endswith("\n") else "\n")
        return
    half = len(entries) // 2
    if form.has_head and len(entries) >= 6 and rng.random() < 0.2:
        _lay_out(page, form, listing, entries[:half], rng)
        page.say(rng.choice(("\n- page 2 -\n\n", "\n(continued)\n", "\n[page break]\n\n")))
        entries = entries[half:]
    _lay_out(page, form, listing, entries, rng)


def _lay_out(
    page: Page, layout: Layout, listing: Listing, entries: tuple[Entry, ...], rng: Random
) -> None:
    grid = Grid(listing.labels, tuple(entry.cells for entry in entries))
    layout.lay_out(page, grid, rng)


def _ends_a_sentence(frame: Frame) -> bool:
    last = frame.nodes[-1]
    while isinstance(last, Labelled):
        last = last.ways[0][1][-1]
    return isinstance(last, str) and last.endswith(".")


def _tell(page: Page, nodes: tuple[Node, ...], listing: Listing, entry: Entry, rng: Random) -> None:
    places = {spec.key: place for place, spec in enumerate(listing.columns)}
    for node in nodes:
        if isinstance(node, str):
            page.say(node)
        elif isinstance(node, Wording):
            _tell(page, rng.choice(node.ways), listing, entry, rng)
        elif isinstance(node, Labelled):
            label = entry.labels[places[node.key]]
            _tell(page, dict(node.ways)[label], listing, entry, rng)
        else:
            cell = entry.cells[places[key_of(node)]]
            assert cell is not None
            page.print(cell)


def _print_nested(page: Page, listing: Listing, rng: Random) -> None:
    inner = listing.inner
    assert inner is not None
    held_out = isinstance(listing.form, Layout) and is_kept(listing.form.name)
    names = [name for name in _OUTER if is_kept(name) == held_out]
    head = _OUTER[rng.choice(names)]
    heading = rng.choice(inner.sort.array.values)
    shows_heading, indent = rng.random() < 0.4, rng.choice(("", "", "  ", "    "))
    seed = rng.getrandbits(32)
    for number, entry in enumerate(listing.entries, 1):
        if isinstance(listing.form, Frame):
            _tell(page, listing.form.nodes, listing, entry, rng)
            page.say("\n")
        else:
            head(page, number, Grid(listing.labels, (entry.cells,)))
        below = Page()
        if shows_heading:
            below.say(f"{heading}:\n" if entry.inner else f"{heading}: none\n")
        if entry.inner:
            # the same choices for each of them, as one writer makes
            _print_entries(below, inner, entry.inner, Random(seed))
        if below.text.strip():
            below.text = below.text.rstrip("\n")
            below.start_lines(indent)
            page.append(below)
            page.say("\n")
        page.say("\n")


def _head(before: str, opening: str, joint: str, end: str) -> Callable[[Page, int, Grid], None]:
    def print_head(page: Page, number: int, grid: Grid) -> None:
        (row,) = grid.rows
        page.say(before.format(number))
        shown = [(label, cell) for label, cell in zip(grid.labels, row, strict=True) if cell]
        for place, (label, cell) in enumerate(shown):
            page.say("" if place == 0 else f"{opening if place == 1 else joint}{label}: ")
            page.print(cell)
        page.say(end if len(shown) > 1 or not end.startswith(")") else end[1:])

    return print_head


_OUTER = {
    "plain": _head("", ", ", ", ", "\n"),
    "hash": _head("## ", "\n", "\n", "\n"),
    "numbered": _head("{}. ", "\n   ", "\n   ", "\n"),
    "enclosed": _head("", " (", "; ", ")\n"),
    "bars": _head("", " | ", " | ", ":\n"),
    "bullets": _head("* ", ", ", ", ", "\n"),
    "ruled": _head("--- ", ", ", ", ", " ---\n"),
    "lines": _head("", "\n", "\n", "\n\n"),
    "stars": _head("*** ", " / ", " / ", "\n"),
}
