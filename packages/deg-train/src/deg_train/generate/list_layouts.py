"""How a document lays out the items of a list: one function a layout, each adding to a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from zlib import crc32

__all__ = ["LAYOUT_FOLDS", "Cell", "Grid", "Layout", "Page", "held_out_layouts", "layouts"]

LAYOUT_FOLDS = 5

Key = tuple[int, int]


@dataclass(slots=True)
class Page:
    """A text that knows where each cell of its lists was printed.

    Attributes:
        spans: The place of each cell, by what was handed in with it.
    """

    text: str = ""
    spans: dict[object, tuple[int, int]] = field(default_factory=dict)

    def say(self, text: str) -> None:
        """Add text that is no cell."""
        self.text += text

    def print(self, cell: Cell) -> None:
        """Add a cell."""
        start = len(self.text)
        self.text += cell.text
        self.spans[cell.key] = (start, len(self.text))


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as printed, and what it is known by."""

    text: str
    key: object


@dataclass(frozen=True, slots=True)
class Grid:
    """A list to lay out.

    Attributes:
        labels: What the document calls each column.
        rows: The cells of each item; a value that an item lacks is None.
    """

    labels: tuple[str, ...]
    rows: tuple[tuple[Cell | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """A way to lay out a list.

    Attributes:
        labelled: It says what each value is, so that one may be missing and two may look alike.
    """

    name: str
    lay_out: Callable[[Page, Grid, Random], None]
    labelled: bool = True


def layouts(*, held_out: bool) -> list[Layout]:
    """Return the layouts that training uses, or those held out from it."""
    return [each for each in _LAYOUTS if (each.name in held_out_layouts()) == held_out]


def held_out_layouts() -> frozenset[str]:
    """Name the layouts that are kept from training."""
    return frozenset(
        each.name for each in _LAYOUTS if crc32(each.name.encode()) % LAYOUT_FOLDS == 0
    )


_NOTHING = ("-", "n/a", "--", "?", "none", "")


def _table(separator: str, edge: str = "", rule: str = "") -> Callable[[Page, Grid, Random], None]:
    def lay_out(page: Page, grid: Grid, rng: Random) -> None:
        missing = rng.choice(_NOTHING)
        page.say(edge + separator.join(grid.labels) + edge[::-1] + "\n")
        if rule:
            page.say(edge + separator.join([rule] * len(grid.labels)) + edge[::-1] + "\n")
        for row in grid.rows:
            page.say(edge)
            _between(page, row, separator, missing)
            page.say(edge[::-1] + "\n")

    return lay_out


def _aligned(page: Page, grid: Grid, rng: Random) -> None:
    missing = rng.choice(_NOTHING[:-1])
    texts = [[cell.text if cell else missing for cell in row] for row in grid.rows]
    columns = zip(grid.labels, *texts, strict=True)
    widths = [max(map(len, column)) + rng.randint(2, 4) for column in columns]
    heads = "".join(label.ljust(width) for label, width in zip(grid.labels, widths, strict=True))
    page.say(heads.rstrip() + "\n")
    if rng.random() < 0.3:
        page.say("-" * len(heads.rstrip()) + "\n")
    for row in grid.rows:
        for cell, width in zip(row, widths, strict=True):
            start = len(page.text)
            _put(page, cell, missing)
            page.say(" " * (width - (len(page.text) - start)))
        page.text = page.text.rstrip()
        page.say("\n")


def _lines(before: str, separator: str, after: str = "\n") -> Callable[[Page, Grid, Random], None]:
    def lay_out(page: Page, grid: Grid, _: Random) -> None:
        for number, row in enumerate(grid.rows, 1):
            page.say(before.format(number))
            _between(page, row, separator, "")
            page.say(after)

    return lay_out


def _dressed(page: Page, grid: Grid, _: Random) -> None:
    for row in grid.rows:
        page.say("* ")
        _put(page, row[0], "")
        if len(row) > 1:
            page.say(" (")
            _between(page, row[1:], ", ", "")
            page.say(")")
        page.say("\n")


def _inline(page: Page, grid: Grid, rng: Random) -> None:
    page.say(rng.choice(("These are ", "Namely: ", "In short: ", "We have ")))
    for number, row in enumerate(grid.rows):
        page.say("" if number == 0 else "; ")
        _put(page, row[0], "")
        if len(row) > 1:
            page.say(" (")
            _between(page, row[1:], ", ", "")
            page.say(")")
    page.say(".\n")


def _labelled_blocks(
    before: str, between: str, after: str, end: str
) -> Callable[[Page, Grid, Random], None]:
    def lay_out(page: Page, grid: Grid, rng: Random) -> None:
        missing = rng.choice(_NOTHING[:-1])
        skips = rng.random() < 0.6
        for number, row in enumerate(grid.rows, 1):
            page.say(before.format(number))
            pairs = zip(grid.labels, row, strict=True)
            shown = [(label, cell) for label, cell in pairs if cell is not None or not skips]
            for place, (label, cell) in enumerate(shown):
                page.say(label + between)
                _put(page, cell, missing)
                page.say(after if place < len(shown) - 1 else end)

    return lay_out


def _headed(before: str, after: str) -> Callable[[Page, Grid, Random], None]:
    def lay_out(page: Page, grid: Grid, _: Random) -> None:
        for number, row in enumerate(grid.rows, 1):
            page.say(before.format(number))
            _put(page, row[0], "")
            page.say(after)
            for label, cell in zip(grid.labels[1:], row[1:], strict=True):
                if cell is not None:
                    page.say(f"  {label}: ")
                    _put(page, cell, "")
                    page.say("\n")

    return lay_out


def _sentences(page: Page, grid: Grid, rng: Random) -> None:
    openings = (
        "Then there is ",
        "Next comes ",
        "Also listed: ",
        "Another one is ",
        "We also note ",
    )
    for number, row in enumerate(grid.rows):
        page.say("First there is " if number == 0 else rng.choice(openings))
        _put(page, row[0], "")
        pairs = zip(grid.labels[1:], row[1:], strict=True)
        for place, (label, cell) in enumerate(pair for pair in pairs if pair[1] is not None):
            page.say((", with " if place == 0 else " and ") + label.lower() + " ")
            _put(page, cell, "")
        page.say(". " if rng.random() < 0.7 else ".\n")
    page.say("\n")


def _statements(page: Page, grid: Grid, _: Random) -> None:
    for row in grid.rows:
        _put(page, row[0], "")
        page.say(": ")
        pairs = [pair for pair in zip(grid.labels[1:], row[1:], strict=True) if pair[1] is not None]
        for place, (label, cell) in enumerate(pairs):
            page.say(("" if place == 0 else ", ") + label + " ")
            _put(page, cell, "")
        page.say("\n")


def _json_lines(page: Page, grid: Grid, _: Random) -> None:
    for row in grid.rows:
        page.say("{")
        pairs = [pair for pair in zip(grid.labels, row, strict=True) if pair[1] is not None]
        for place, (label, cell) in enumerate(pairs):
            page.say(("" if place == 0 else ", ") + f'"{label}": "')
            _put(page, cell, "")
            page.say('"')
        page.say("}\n")


def _tagged(page: Page, grid: Grid, _: Random) -> None:
    for row in grid.rows:
        page.say("<entry>")
        for label, cell in zip(grid.labels, row, strict=True):
            if cell is not None:
                tag = label.lower().replace(" ", "_")
                page.say(f"<{tag}>")
                _put(page, cell, "")
                page.say(f"</{tag}>")
        page.say("</entry>\n")


def _between(page: Page, row: Sequence[Cell | None], separator: str, missing: str) -> None:
    for place, cell in enumerate(row):
        page.say(separator if place else "")
        _put(page, cell, missing)


def _put(page: Page, cell: Cell | None, missing: str) -> None:
    if cell is None:
        page.say(missing)
    else:
        page.print(cell)


_LAYOUTS = (
    Layout("pipes-ruled", _table(" | ", "| ", "---")),
    Layout("pipes", _table(" | ")),
    Layout("pipes-tight", _table("|", "|", "-")),
    Layout("semicolons", _table(";")),
    Layout("semicolons-wide", _table("; ")),
    Layout("tabs", _table("\t")),
    Layout("commas", _table(",")),
    Layout("slashes-headed", _table(" / ")),
    Layout("aligned", _aligned),
    Layout("aligned-2", _aligned),
    Layout("bullets", _lines("- ", ", "), labelled=False),
    Layout("bullets-dashes", _lines("• ", " - "), labelled=False),
    Layout("bullets-bars", _lines("* ", " | "), labelled=False),
    Layout("numbers", _lines("{}. ", ", "), labelled=False),
    Layout("numbers-colons", _lines("{}) ", ": "), labelled=False),
    Layout("numbers-tens", _lines("{}0 ", "  "), labelled=False),
    Layout("plain-lines", _lines("", ", "), labelled=False),
    Layout("plain-wide", _lines("", "    "), labelled=False),
    Layout("quoted-lines", _lines("> ", ", "), labelled=False),
    Layout("dots", _lines("", " ... "), labelled=False),
    Layout("wrapped", _lines("- ", "\n  "), labelled=False),
    Layout("paragraphs", _lines("", "\n", "\n\n"), labelled=False),
    Layout("brackets", _dressed, labelled=False),
    Layout("inline", _inline, labelled=False),
    Layout("blocks", _labelled_blocks("", ": ", "\n", "\n\n")),
    Layout("blocks-numbered", _labelled_blocks("No. {}\n", ": ", "\n", "\n\n")),
    Layout("blocks-ruled", _labelled_blocks("---\n", " = ", "\n", "\n")),
    Layout("blocks-indented", _labelled_blocks("{}.\n  ", ": ", "\n  ", "\n")),
    Layout("pairs", _labelled_blocks("- ", ": ", ", ", "\n")),
    Layout("pairs-equal", _labelled_blocks("", "=", " ", "\n")),
    Layout("pairs-bars", _labelled_blocks("[{}] ", ": ", " | ", "\n")),
    Layout("headings", _headed("## ", "\n")),
    Layout("headings-numbered", _headed("{}. ", "\n")),
    Layout("headings-plain", _headed("", ":\n")),
    Layout("sentences", _sentences),
    Layout("statements", _statements),
    Layout("json-lines", _json_lines),
    Layout("tagged", _tagged),
)
