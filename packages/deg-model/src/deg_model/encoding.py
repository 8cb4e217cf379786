"""A context as tokens, and the way between its tokens and its code points."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from deg_model.tokenizer import Tokenizer

__all__ = ["EncodedContext", "encode_context"]


@dataclass(frozen=True, slots=True)
class EncodedContext:
    """The trunk's tokens, and where its context tokens stand in the text.

    Attributes:
        ids: Prefix, context and suffix tokens.
        first: The index in `ids` of the first context token.
        starts: The first code point of each context token, never decreasing.
        ends: The code point after the last of each context token, never decreasing.
    """

    ids: tuple[int, ...]
    first: int
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @property
    def num_tokens(self) -> int:
        """How many tokens the context itself has."""
        return len(self.starts)

    def cover(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and the last context token that touch code points [start, end)."""
        first = bisect_right(self.ends, start)
        last = bisect_left(self.starts, end) - 1
        return first, max(first, last)

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the code points [start, end) of context tokens *first* to *last*."""
        return self.starts[first], self.ends[last]


def encode_context(context: str, tokenizer: Tokenizer) -> EncodedContext:
    """Tokenize *context* as the trunk of its forks."""
    prefix = tokenizer.encode(tokenizer.chat.trunk_prefix, special=True)
    suffix = tokenizer.encode(tokenizer.chat.trunk_suffix)
    ids, offsets = tokenizer.encode_with_offsets(context)
    return EncodedContext(
        ids=(*prefix, *ids, *suffix),
        first=len(prefix),
        starts=tuple(start for start, _ in offsets),
        ends=tuple(end for _, end in offsets),
    )
