"""What a call did: rounds, rows, tokens and milliseconds, apart from what it answered."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["Round", "Trace", "Writing"]


@dataclass(frozen=True, slots=True)
class Round:
    """One round of questions: everything that could be asked at once."""

    rows: int
    tokens: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Writing:
    """The texts that were written: one row each, one token a row in each step.

    Attributes:
        context_tokens: Of the documents, and of what is known of them, that the writer read first:
            whole documents only where it cannot go on from what the fields were asked of.
    """

    rows: int
    steps: int
    tokens: int
    milliseconds: float
    context_tokens: int


@dataclass(slots=True)
class Trace:
    """Filled in by the call that it is given to.

    Attributes:
        num_requests: How many requests the call had.
        context_tokens: Of all distinct contexts.
        cached_tokens: How many of them had been read before.
        rounds: The rounds of questions.
        writing: The texts that were written, a batch each.
        phases: The milliseconds of each phase.
    """

    num_requests: int = 0
    context_tokens: int = 0
    cached_tokens: int = 0
    rounds: list[Round] = field(default_factory=list)
    writing: list[Writing] = field(default_factory=list)
    phases: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time of the block to the phase *name*."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.phases[name] = self.phases.get(name, 0.0) + _since(start)

    def read(self, context_tokens: int, cached_tokens: int) -> None:
        """Add a document, of which *cached_tokens* had been read before."""
        self.context_tokens += context_tokens
        self.cached_tokens += cached_tokens

    def asked(self, rows: int, tokens: int, start: float) -> None:
        """Add a round of *rows* questions that began at *start* on `time.perf_counter`."""
        self.rounds.append(Round(rows, tokens, _since(start)))

    def wrote(
        self, rows: int, steps: int, tokens: int, start: float, *, context_tokens: int
    ) -> None:
        """Add *rows* texts whose writing began at *start* on `time.perf_counter`."""
        self.writing.append(Writing(rows, steps, tokens, _since(start), context_tokens))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can say it."""
        return asdict(self)


def _since(start: float) -> float:
    return (time.perf_counter() - start) * 1000
