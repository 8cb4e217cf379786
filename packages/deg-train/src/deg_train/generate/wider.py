"""Wider records: those of another source, some of them changed in one of many ways."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from deg_train.generate.documents import DocumentSource
from deg_train.generate.hiding import Documents, hidden, without_document
from deg_train.generate.more_options import with_more_options
from deg_train.generate.noise import scanned
from deg_train.generate.rescaling import rescaled
from deg_train.generate.threads import in_chat, in_thread
from deg_train.generate.turning import turned, with_criteria
from deg_train.generate.value_questions import with_value_questions
from deg_train.records import Record

__all__ = [
    "CHANGES",
    "DECIDED_SHARES",
    "DOCUMENT_SHARES",
    "INTENT_SHARES",
    "LIST_SHARES",
    "QUESTION_SHARES",
    "WiderSource",
]

# some 1,000 tokens: what may be read of a document in training, and not much beyond it
_MOST_HIDDEN, _MOST_EMPTY = 4600, 4000

Change = Callable[[Record, Documents, Random], Record]


def _hidden(record: Record, others: Documents, rng: Random) -> Record:
    return hidden(record, _MOST_HIDDEN, others, rng)


def _emptied(record: Record, others: Documents, rng: Random) -> Record:
    return without_document(record, rng.randint(400, _MOST_EMPTY), others, rng) or record


def _plain(change: Callable[[Record, Random], Record]) -> Change:
    return lambda record, _, rng: change(record, rng)


CHANGES: dict[str, Change] = {
    "scanned": _plain(scanned),
    "mail thread": _plain(in_thread),
    "chat": _plain(in_chat),
    "hidden in other text": _hidden,
    "other text without it": _emptied,
    "negated questions": _plain(turned),
    "criteria of yes and no": _plain(with_criteria),
    "questions about values": _plain(with_value_questions),
    "more options": _plain(lambda record, rng: with_more_options(record, rng, most=80)),
    "most options": _plain(with_more_options),
    "scales by other numbers": _plain(rescaled),
}
"""What may be done to a record, by name. A record that a change does not fit stays as it is."""

DOCUMENT_SHARES: dict[str, float] = {
    "scanned": 0.05,
    "mail thread": 0.04,
    "chat": 0.02,
    "hidden in other text": 0.05,
}
"""How often the default recipe changes how a document looks."""

LIST_SHARES: dict[str, float] = {
    "scanned": 0.05,
    "mail thread": 0.03,
    "chat": 0.02,
    "hidden in other text": 0.12,
    "other text without it": 0.03,
}
"""The same for documents with lists, which are hard to find in long ones."""

QUESTION_SHARES: dict[str, float] = {
    "negated questions": 0.30,
    "criteria of yes and no": 0.05,
    "questions about values": 0.20,
    "more options": 0.10,
    "most options": 0.01,
    "scales by other numbers": 0.15,
}
"""How often the default recipe changes what is asked of a document."""

DECIDED_SHARES: dict[str, float] = {
    "negated questions": 0.60,
    "criteria of yes and no": 0.10,
    "more options": 0.10,
    "scales by other numbers": 0.15,
}
"""The same for documents that are only judged."""

INTENT_SHARES: dict[str, float] = {"negated questions": 0.40}
"""The same for queries with an intent."""


class WiderSource:
    """Draws from another source, and changes some of what it draws.

    Args:
        source: Where records come from.
        shares: How often each of `CHANGES` is made; a record gets one of them at most.
        others: Whose documents may stand around one that is hidden.
    """

    def __init__(
        self, source: Documents, shares: Mapping[str, float], *, others: Documents | None = None
    ) -> None:
        unknown = sorted(shares.keys() - CHANGES.keys())
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no change: one of {', '.join(CHANGES)}")
        if min(shares.values(), default=0) < 0 or sum(shares.values()) > 1:
            raise ValueError(f"shares must be positive and no more than 1 together: {dict(shares)}")
        self._source, self._others = source, others or DocumentSource("train")
        self._names = [*shares, None]
        self._weights = [*shares.values(), max(0.0, 1 - sum(shares.values()))]

    def sample(self, rng: Random) -> Record:
        """Draw a record."""
        record = self._source.sample(rng)
        (name,) = rng.choices(self._names, self._weights)
        return record if name is None else CHANGES[name](record, self._others, rng)
