"""The table: the findings of one document, for a terminal of any width or for a pipe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from deg_runtime.findings import Finding, visible
from deg_runtime.marks import around

__all__ = ["findings_table"]

_WIDE, _NARROW = 110, 60
_MAX_NAME, _MAX_VALUE = 22, 36
_MODE, _SURE, _GAP = 6, 4, 3


def findings_table(found: Sequence[Finding], context: str, console: Console) -> Table:
    """Build a table that *console* can show: the words around a span get a column or a line."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="dim")
    if console.width < _NARROW:
        return _narrow(table, found, context, console)
    is_wide = console.width >= _WIDE
    table.add_column("field", max_width=_MAX_NAME, overflow="fold", style="cyan")
    table.add_column("mode", no_wrap=True, style="dim")
    table.add_column("sure", no_wrap=True, justify="right")
    table.add_column("value", max_width=_MAX_VALUE if is_wide else None, overflow="fold")
    room = console.width - _longest((finding.name for finding in found), _MAX_NAME)
    room -= _MODE + _SURE + 4 * _GAP
    if is_wide:
        table.add_column("in the document", overflow="fold")
        room -= _longest((finding.shown_value for finding in found), _MAX_VALUE) + _GAP
    for finding in found:
        told = [_value(finding), _words(finding, context, room, console)]
        cells = told if is_wide else [_lines(told)]
        table.add_row(Text(finding.name), Text(finding.mode), _sureness(finding), *cells)
    return table


def _narrow(table: Table, found: Sequence[Finding], context: str, console: Console) -> Table:
    table.add_column("field, mode, sure, value", overflow="fold")
    for finding in found:
        name = Text(finding.name, style="cyan")
        head = Text("  ").join([name, Text(finding.mode, style="dim"), _sureness(finding)])
        words = _words(finding, context, console.width - 2 * _GAP, console)
        table.add_row(_lines([head, _value(finding), words, Text(" ")]))
    return table


def _lines(texts: Iterable[Text]) -> Text:
    return Text("\n").join([text for text in texts if text])


def _longest(texts: Iterable[str], most: int) -> int:
    return min(most, max(map(len, texts), default=0))


def _value(finding: Finding) -> Text:
    if finding.value is None:
        return Text(finding.shown_value, style="dim italic")
    return Text(finding.shown_value, style="bold")


def _sureness(finding: Finding) -> Text:
    if finding.sureness is None:
        return Text("")
    colour = "green" if finding.sureness >= 0.8 else "yellow" if finding.sureness >= 0.5 else "red"
    return Text(f"{finding.sureness:.2f}", style="dim" if finding.reason else colour)


def _words(finding: Finding, context: str, width: int, console: Console) -> Text:
    if finding.span is None:
        return Text(visible(finding.reason or finding.answer_note or ""), style="dim")
    place = around(context, finding.span, width - 2)
    # without colour, something else has to set the span off
    inside = f"»{place.inside}«" if console.color_system is None else place.inside
    return Text.assemble(
        (visible(place.before), "dim"),
        (visible(inside), "black on bright_yellow"),
        (visible(place.after), "dim"),
    )
