"""How a document lays out the items of a list: one function a layout, each adding to a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from zlib import crc32

from deg_train.generate.assembled_layouts import lay_out_bare, lay_out_labelled, lay_out_table
from deg_train.generate.list_page import Cell, Grid, Page

__all__ = ["LAYOUT_FOLDS", "Layout", "held_out_layouts", "is_kept", "layouts"]

LAYOUT_FOLDS = 5


@dataclass(frozen=True, slots=True)
class Layout:
    """A way to lay out a list.

    Attributes:
        labelled: It says what each value is, so that one may be missing and two may look alike.
        has_head: It prints the labels once, above the items.
        has_times: It prints a time of day before each item.
        weight: How often it is drawn beside the others, of which each counts 1.
    """

    name: str
    lay_out: Callable[[Page, Grid, Random], None]
    labelled: bool = True
    has_head: bool = False
    has_times: bool = False
    weight: int = 1


def layouts(*, held_out: bool) -> list[Layout]:
    """Return the layouts that training uses, or those held out from it."""
    return [each for each in _LAYOUTS if (each.name in held_out_layouts()) == held_out]


def held_out_layouts() -> frozenset[str]:
    """Name the layouts that are kept from training."""
    return frozenset(each.name for each in _LAYOUTS if is_kept(each.name))


def is_kept(name: str) -> bool:
    """Say whether the layout, or the sentence, is kept from training."""
    return crc32(name.encode()) % LAYOUT_FOLDS == 0


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


def _gapped(page: Page, grid: Grid, rng: Random) -> None:
    number = rng.randint(1, 30)
    for row in grid.rows:
        page.say(f"{number}. ")
        _between(page, row, ", ", "")
        page.say("\n")
        number += rng.randint(1, 3)


def _lettered(page: Page, grid: Grid, _: Random) -> None:
    for letter, row in zip("abcdefghijklmnopqrstuvwxyz", grid.rows, strict=False):
        page.say(f"{letter}) ")
        _between(page, row, "; ", "")
        page.say("\n")


def _timed(before: str, after: str) -> Callable[[Page, Grid, Random], None]:
    def lay_out(page: Page, grid: Grid, rng: Random) -> None:
        minute = rng.randint(400, 900)
        for row in grid.rows:
            page.say(f"{before}{minute // 60:02}:{minute % 60:02}{after}")
            _between(page, row, ", ", "")
            page.say("\n")
            minute += rng.randint(0, 25)

    return lay_out


def _sentence_of_all(page: Page, grid: Grid, rng: Random) -> None:
    has_commas = any("," in cell.text for row in grid.rows for cell in row if cell is not None)
    page.say(rng.choice(("The following are listed: ", "There are ", "The list names ", "Here: ")))
    for number, row in enumerate(grid.rows):
        is_last = number == len(grid.rows) - 1
        page.say("" if number == 0 else " and " if is_last else "; " if has_commas else ", ")
        _put(page, row[0], "")
        if len(row) > 1:
            page.say(" (")
            _between(page, row[1:], "; " if has_commas else ", ", "")
            page.say(")")
    page.say(".\n")


def _marked_up(page: Page, grid: Grid, _: Random) -> None:
    page.say("<table>\n<tr>" + "".join(f"<th>{label}</th>" for label in grid.labels) + "</tr>\n")
    for row in grid.rows:
        page.say("<tr>")
        for cell in row:
            page.say("<td>")
            _put(page, cell, "")
            page.say("</td>")
        page.say("</tr>\n")
    page.say("</table>\n")


def _quoted(page: Page, grid: Grid, _: Random) -> None:
    page.say(",".join(f'"{label}"' for label in grid.labels) + "\n")
    for row in grid.rows:
        page.say('"')
        _between(page, row, '","', "")
        page.say('"\n')


def _first_then(
    before: str, opening: str, between: str, joint: str, end: str
) -> Callable[[Page, Grid, Random], None]:
    """Make a layout of the first value, then the others with their labels."""

    def lay_out(page: Page, grid: Grid, _: Random) -> None:
        for row in grid.rows:
            page.say(before)
            _put(page, row[0], "")
            pairs = zip(grid.labels[1:], row[1:], strict=True)
            shown = [(label, cell) for label, cell in pairs if cell is not None]
            for place, (label, cell) in enumerate(shown):
                page.say((joint if place else opening) + label + between)
                _put(page, cell, "")
            page.say(end if shown or not end.startswith(")") else end[1:])

    return lay_out


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
    Layout("pipes-ruled", _table(" | ", "| ", "---"), has_head=True),
    Layout("pipes", _table(" | "), has_head=True),
    Layout("pipes-tight", _table("|", "|", "-"), has_head=True),
    Layout("semicolons", _table(";"), has_head=True),
    Layout("semicolons-wide", _table("; "), has_head=True),
    Layout("tabs", _table("\t"), has_head=True),
    Layout("commas", _table(","), has_head=True),
    Layout("slashes-headed", _table(" / "), has_head=True),
    Layout("aligned", _aligned, has_head=True),
    Layout("aligned-2", _aligned, has_head=True),
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
    Layout("numbers-gaps", _gapped, labelled=False),
    Layout("letters", _lettered, labelled=False),
    Layout("arrows", _lines("", " -> "), labelled=False),
    Layout("log-dashes", _timed("", " - "), labelled=False, has_times=True),
    Layout("chat-brackets", _timed("[", "] "), labelled=False, has_times=True),
    Layout("inline-and", _sentence_of_all, labelled=False),
    Layout("html-rows", _marked_up, has_head=True),
    Layout("quoted-csv", _quoted, has_head=True),
    Layout("yaml", _labelled_blocks("- ", ": ", "\n  ", "\n")),
    Layout("markdown-cards", _first_then("* ", "\n  ", ": ", " · ", "\n\n")),
    Layout("parentheses-labels", _first_then("", " (", ": ", "; ", ")\n")),
    Layout("wrapped-labels", _first_then("- ", ",\n    ", ": ", ",\n    ", "\n")),
    Layout("definition", _first_then("", "\n    ", " - ", "; ", "\n")),
    Layout("assembled-bare", lay_out_bare, labelled=False, weight=10),
    Layout("assembled-labels", lay_out_labelled, weight=10),
    Layout("assembled-table", lay_out_table, has_head=True, weight=6),
)
