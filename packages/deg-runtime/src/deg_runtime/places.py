"""Where a grammar could read a value, found once per document and kind, and what it reads there.

A table of many rows asks for the same kinds of values again and again. What the document alone
tells of them is kept here; a question only adds how likely each place is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from deg_model import EncodedContext
from deg_schema import FieldPlan, Options, Reading, find_candidates, read_span

# S distinct first tokens

__all__ = ["Candidate", "Candidates", "Places", "Readings"]


class Candidate(NamedTuple):
    """A span that a grammar finds.

    Attributes:
        start: Its first code point.
        end: The code point after its last.
        more_tokens: How many tokens cover it beside the first.
    """

    start: int
    end: int
    more_tokens: int


@dataclass(frozen=True, slots=True)
class Candidates:
    """All spans that one grammar finds in a document, by the token in which they start.

    Attributes:
        starts: The tokens in which a span starts, in order.
        starts_S: The same.
        groups: The spans that start in each of them.
        row_of: Which of the starts a span has.
    """

    starts: tuple[int, ...]
    starts_S: Tensor
    groups: tuple[tuple[Candidate, ...], ...]
    row_of: Mapping[tuple[int, int], int]

    @classmethod
    def of(cls, spans: Iterable[tuple[int, int]], encoded: EncodedContext) -> Candidates:
        """Find the tokens of *spans*."""
        groups: dict[int, list[Candidate]] = {}
        for start, end in dict.fromkeys(spans):
            first, last = encoded.cover(start, end)
            groups.setdefault(first, []).append(Candidate(start, end, last - first))
        starts = tuple(sorted(groups))
        rows = [(row, one) for row, start in enumerate(starts) for one in groups[start]]
        return cls(
            starts,
            torch.tensor(starts, dtype=torch.long),
            tuple(tuple(groups[start]) for start in starts),
            {(one.start, one.end): row for row, one in rows},
        )


class Readings:
    """What the candidates of a field say, each read when it is first asked for.

    Args:
        field: The field.
        context: The document.
        candidates: Those of its grammar.
        options: Of the request.

    Attributes:
        hopeful_S: Of each start, whether one of its candidates may be valid: not all were refused.
    """

    def __init__(
        self, field: FieldPlan, context: str, candidates: Candidates, options: Options
    ) -> None:
        self.candidates = candidates
        self.hopeful_S = torch.ones(len(candidates.starts), dtype=torch.bool)
        self._field, self._context, self._options = field, context, options
        self._read: dict[tuple[int, int], Reading] = {}
        self._num_left = [len(group) for group in candidates.groups]

    def read(self, start: int, end: int) -> Reading:
        """Return what the candidate at code points [start, end) says."""
        span = start, end
        if span not in self._read:
            reading = read_span(self._field, self._context[start:end], self._options)
            self._read[span] = reading
            if reading.reason is not None:
                self._refuse(self.candidates.row_of[span])
        return self._read[span]

    def _refuse(self, row: int) -> None:
        self._num_left[row] -= 1
        self.hopeful_S[row] = self._num_left[row] > 0


class Places:
    """What is known of the places of one document, whoever asks.

    Args:
        context: The document.
        encoded: Its tokens.
    """

    def __init__(self, context: str, encoded: EncodedContext) -> None:
        self._context, self._encoded = context, encoded
        self._candidates: dict[tuple[object, ...], Candidates] = {}
        self._readings: dict[tuple[object, ...], Readings] = {}

    def candidates(self, field: FieldPlan) -> Candidates:
        """Return the spans that the grammar of *field* finds."""
        kind = (field.mode, field.format)
        if kind not in self._candidates:
            spans = find_candidates(field, self._context)
            self._candidates[kind] = Candidates.of(spans, self._encoded)
        return self._candidates[kind]

    def readings(self, field: FieldPlan, options: Options) -> Readings:
        """Return what they say as values of *field*, and of all fields that read them alike."""
        # as much of them as `read_span` looks at
        key = (field.mode, field.type, field.format, field.constraints, options)
        if key not in self._readings:
            candidates = self.candidates(field)
            self._readings[key] = Readings(field, self._context, candidates, options)
        return self._readings[key]
