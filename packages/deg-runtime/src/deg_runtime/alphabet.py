"""The classes of characters that a pattern tells apart, and how UTF-8 spells each of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence, Set
from functools import cached_property

import torch
from torch import Tensor

from deg_runtime.pattern_tree import Points

# P places inside a character, C classes

__all__ = ["DEAD", "FAR", "Alphabet"]

DEAD = -1
"""Where a byte leads that continues no character."""

FAR = 1 << 29
"""A distance that nothing reaches."""

_MOST = 0x10FFFF


class Alphabet:
    """Characters in classes, those together that are in the same ones of *sets*.

    Attributes:
        sets_of: For each class, one bit for each of the sets that it is in.
        bytes_after: For each place inside a character where each byte leads: to another place, to
            `DEAD`, or to the end of a character of class `-2 - it`. Place 0 is between characters.
    """

    def __init__(self, sets: Sequence[Points]) -> None:
        toggles: dict[int, int] = {0: 0}
        for number, points in enumerate(sets):
            for first, last in points:
                toggles[first] = toggles.get(first, 0) ^ 1 << number
                toggles[last + 1] = toggles.get(last + 1, 0) ^ 1 << number
        self._edges = sorted(toggles)
        known: dict[int, int] = {}
        self._classes = []
        signature = 0
        for edge in self._edges:
            signature ^= toggles[edge]
            self._classes.append(known.setdefault(signature, len(known)))
        self.sets_of = tuple(known)
        self.bytes_after: list[list[int]] = [[DEAD] * 256]
        self._places: dict[tuple[int, ...], int] = {}
        for byte in range(0x80):
            self.bytes_after[0][byte] = self._block(byte, 0, 0)
        for first, last, more in ((0xC2, 0xDF, 1), (0xE0, 0xEF, 2), (0xF0, 0xF4, 3)):
            least = (0, 0x80, 0x800, 0x10000)[more]
            for byte in range(first, last + 1):
                start = (byte - (0xC0, 0xE0, 0xF0)[more - 1]) << 6 * more
                self.bytes_after[0][byte] = self._block(start, more, least)

    def __len__(self) -> int:
        return len(self.sets_of)

    @cached_property
    def table_PB(self) -> Tensor:
        """`bytes_after` as a tensor."""
        return torch.tensor(self.bytes_after)

    def distances_PC(self, known_bytes: Set[int]) -> Tensor:
        """Return how many bytes, all *known*, lead from each place to a character of each class."""
        rows: dict[int, list[int]] = {}

        def row_of(place: int) -> list[int]:
            if place not in rows:
                best = [FAR] * len(self)
                after = self.bytes_after[place]
                for target in {after[byte] for byte in known_bytes} - {DEAD}:
                    if target < 0:
                        best[-2 - target] = 1
                        continue
                    best = [min(a, 1 + b) for a, b in zip(best, row_of(target), strict=True)]
                rows[place] = best
            return rows[place]

        places = range(len(self.bytes_after))
        return torch.tensor([row_of(place) for place in places], dtype=torch.int32)

    def _block(self, start: int, more: int, least: int) -> int:
        """Return the place of the characters from *start* that *more* bytes tell apart."""
        last = start + (1 << 6 * more) - 1
        if last < least or start > _MOST or 0xD800 <= start <= last <= 0xDFFF:
            return DEAD
        index = bisect_right(self._edges, start) - 1
        is_uniform = index + 1 == len(self._edges) or self._edges[index + 1] > last
        if is_uniform and start >= least and last <= _MOST and not start <= 0xD800 <= last:
            return self._uniform(self._classes[index], more)
        size = 1 << 6 * (more - 1)
        return self._place([self._block(start + i * size, more - 1, least) for i in range(64)])

    def _uniform(self, number: int, more: int) -> int:
        return self._place([self._uniform(number, more - 1)] * 64) if more else -2 - number

    def _place(self, targets: Sequence[int]) -> int:
        key = tuple(targets)
        if key not in self._places:
            self._places[key] = len(self.bytes_after)
            self.bytes_after.append([DEAD] * 0x80 + list(key) + [DEAD] * 0x40)
        return self._places[key]
