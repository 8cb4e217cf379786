"""Marks: a text cut where spans begin and end, and the words around one span."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

__all__ = ["Around", "Segment", "around", "segments"]

_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text that the same spans cover from end to end.

    Args:
        owners: Who covers it, the shortest span first.
        openers: Whose span begins here.
    """

    text: str
    owners: tuple[int, ...]
    openers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Around:
    """A span with some words of both sides, on one line."""

    before: str
    inside: str
    after: str


def segments(text: str, spans: Mapping[int, tuple[int, int]]) -> Iterator[Segment]:
    """Cut *text* so that each segment lies wholly inside or outside of every span."""
    by_length = sorted(spans, key=lambda owner: (spans[owner][1] - spans[owner][0], owner))
    cuts = sorted({0, len(text), *(cut for span in spans.values() for cut in span)})
    for start, end in zip(cuts, cuts[1:], strict=False):
        covering = (key for key in by_length if spans[key][0] <= start and end <= spans[key][1])
        owners = tuple(covering)
        openers = tuple(key for key in owners if spans[key][0] == start)
        yield Segment(text[start:end], owners, openers)


def around(text: str, span: tuple[int, int], width: int) -> Around:
    """Return the words around *span* in about *width* characters, blanks joined."""
    start, end = span
    inside = _BLANKS.sub(" ", text[start:end])
    if len(inside) > width:
        half = max(1, (width - 1) // 2)
        inside = f"{inside[:half]}…{inside[-half:]}"
    room = max(0, width - len(inside)) // 2
    # blanks shrink, so more is looked at than fits
    before = _BLANKS.sub(" ", text[max(0, start - 8 * room) : start]).lstrip()
    after = _BLANKS.sub(" ", text[end : end + 8 * room]).rstrip()
    # a word that does not fit is dropped whole
    if len(before) > room:
        before = before[len(before) - room - 1 :].partition(" ")[2]
    if len(after) > room:
        after = after[: room + 1].rpartition(" ")[0]
    return Around(before, inside, after)
