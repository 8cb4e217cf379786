"""Layouts put together from parts: marks, separators and ends drawn anew for every list.

No list of layouts is ever long enough: what an item is must be read from what repeats. The parts
are chosen so that no layout which is kept from training can come of them.
"""

from __future__ import annotations

from random import Random

from deg_train.generate.list_page import Cell, Grid, Page

__all__ = ["lay_out_bare", "lay_out_labelled", "lay_out_table"]

# before an item; `{}` is its number
_MARKS = (
    *("", "", "- ", "- ", "+ ", "o ", "– ", "» ", "> ", "[ ] ", "~ ", ". ", "__ ", "=> ", "@ "),
    *("{}. ", "({}) ", "#{} ", "{}: ", "{} - ", "{}/ ", "Item {}: ", "Nr. {} ", "<{}> ", "{}\t"),
    *("Entry {} - ", "0{} ", "[{}] ", "No {}, ", "Line {}: ", "{}.1 ", "P{} "),
)
_BARE_SEPARATORS = (
    ", ",
    "; ",
    " / ",
    " - ",
    " – ",
    "   ",
    " :: ",
    " · ",
    " ~ ",
    " + ",
    "\t",
    " _ ",
)
_WRAPS = ("{}", "{}", "{}", "{}", "**{}**", "'{}'", "[{}]", "<{}>", "_{}_", "«{}»", '"{}"')
_ENDS = ("\n", "\n", "\n", ";\n", ".\n", "\n\n", " /\n", " |\n", ",\n", " <\n")

_TABLE_SEPARATORS = (" : ", "  |  ", " ¦ ", ",  ", " - ", "   ", "~", "#", " || ", "\t|\t", "*")
_TABLE_EDGES = (("", ""), ("", ""), ("", ""), ("# ", ""), ("[", "]"), ("(", ")"), (": ", " :"))

# between a label and its value, between one pair and the next
_LABEL_MARKS = (": ", ": ", "=", " = ", " -> ", ":", " : ", " (", " is ", " >> ", "\t")
_PAIR_SEPARATORS = (", ", "; ", " | ", " / ", "\n", "\n  ", "\n - ", "\n    ", " - ", " & ", "\n\t")
_LABELLED_ENDS = ("\n", "\n\n", "\n***\n", "\n\n\n", ";\n", " //\n", "\n~~~\n")


def lay_out_bare(page: Page, grid: Grid, rng: Random) -> None:
    """Print each item as a line of values without labels."""
    mark, between, end = rng.choice(_MARKS), rng.choice(_BARE_SEPARATORS), rng.choice(_ENDS)
    before, after = rng.choice(_WRAPS).split("{}")
    for number, row in enumerate(grid.rows, 1):
        page.say(mark.format(number) + before)
        _print(page, row[0], "")
        page.say(after)
        for cell in row[1:]:
            page.say(between)
            _print(page, cell, "")
        page.say(end)


def lay_out_labelled(page: Page, grid: Grid, rng: Random) -> None:
    """Print each item as pairs of a label and a value, the first at times without its label."""
    mark, names_first = rng.choice(_MARKS), rng.random() < 0.6
    sign, between = rng.choice(_LABEL_MARKS), rng.choice(_PAIR_SEPARATORS)
    end = rng.choice(_LABELLED_ENDS)
    opening = between if names_first else rng.choice(("; ", ", ", " | ", "\n  ", "\n- "))
    for number, row in enumerate(grid.rows, 1):
        page.say(mark.format(number))
        shown = [
            (label, cell) for label, cell in zip(grid.labels, row, strict=True) if cell is not None
        ]
        for place, (label, cell) in enumerate(shown):
            page.say("" if place == 0 else opening if place == 1 else between)
            page.say(label + sign if place or names_first else "")
            page.print(cell)
            page.say(")" if sign == " (" and (place or names_first) else "")
        page.say(end)


def lay_out_table(page: Page, grid: Grid, rng: Random) -> None:
    """Print the labels once, then each item as a row."""
    # the second half of a table that goes on after a break looks like the first
    style = Random(" ".join(grid.labels))
    between, (left, right) = style.choice(_TABLE_SEPARATORS), style.choice(_TABLE_EDGES)
    missing = rng.choice(("-", "n/a", "--", "none"))
    page.say(left + between.join(grid.labels) + right + "\n")
    if style.random() < 0.3:
        page.say(style.choice("-=~_.") * style.randint(8, 40) + "\n")
    for row in grid.rows:
        page.say(left)
        for place, cell in enumerate(row):
            page.say(between if place else "")
            _print(page, cell, missing)
        page.say(right + "\n")


def _print(page: Page, cell: Cell | None, missing: str) -> None:
    if cell is None:
        page.say(missing)
    else:
        page.print(cell)
