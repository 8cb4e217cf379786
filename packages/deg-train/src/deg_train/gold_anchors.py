"""Where the items of an array start, by the places of their values (contract 12.6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from deg_model import EncodedContext

__all__ = ["gold_anchors", "item_starts", "regions_of"]

Span = tuple[int, int]


def gold_anchors(
    spans: Mapping[str, Sequence[Span]],
    pointer: str,
    num_items: int,
    context: EncodedContext,
    region: tuple[int, int],
) -> tuple[int, ...] | None:
    """Return the token at which each item of the array at *pointer* starts.

    It is the first token of what `item_starts` gives for it.

    Args:
        spans: The places of every value, by pointer; of several places the first counts.
        pointer: The array's own, with the index of each item around it.
        num_items: How many items it has.
        context: The document's tokens.
        region: The tokens in which items may start: the first, and the one after the last.

    Returns:
        None where an item has no place, starts outside the region or where another one starts.
    """
    starts = []
    for place in item_starts(spans, pointer, num_items):
        if place is None:
            return None
        starts.append(context.cover(*place)[0])
    inside = all(region[0] <= start < region[1] for start in starts)
    return tuple(starts) if inside and len(set(starts)) == len(starts) else None


def item_starts(
    spans: Mapping[str, Sequence[Span]], pointer: str, num_items: int
) -> list[Span | None]:
    """Return for each item its earliest place that no sibling shares, else its earliest, or None.

    A place that two items share, such as the heading of a column, locates neither.
    """
    places = [_places(spans, f"{pointer}/{index}") for index in range(num_items)]
    sharers = Counter(place for own in places for place in own)
    return [
        min(own, key=lambda place: (sharers[place] > 1, place)) if own else None for own in places
    ]


def regions_of(starts: Sequence[int], end: int) -> list[tuple[int, int]]:
    """Return each item's tokens: from its start to the next start, the last one's to *end*."""
    order = sorted(starts)
    after = dict(pairwise([*order, end]))
    return [(start, after[start]) for start in starts]


def _places(spans: Mapping[str, Sequence[Span]], pointer: str) -> set[Span]:
    inside = f"{pointer}/"
    return {
        found[0]
        for name, found in spans.items()
        if found and (name == pointer or name.startswith(inside))
    }
