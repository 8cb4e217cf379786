"""Pages: a text that knows where each value of its lists was printed."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

__all__ = ["Cell", "Grid", "Page"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as printed, on one line, and what it is known by."""

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


@dataclass(slots=True)
class Page:
    """A text with the place of each cell, by the cell's key."""

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

    def append(self, other: Page) -> None:
        """Add what stands on another page."""
        offset = len(self.text)
        self.text += other.text
        self.spans |= {
            key: (start + offset, end + offset) for key, (start, end) in other.spans.items()
        }

    def start_lines(self, prefix: str) -> None:
        """Put *prefix* before every line."""
        breaks = [place for place, letter in enumerate(self.text) if letter == "\n"]
        self.spans = {
            key: (
                start + len(prefix) * (1 + bisect_left(breaks, start)),
                end + len(prefix) * (1 + bisect_left(breaks, start)),
            )
            for key, (start, end) in self.spans.items()
        }
        self.text = prefix + self.text.replace("\n", "\n" + prefix)
