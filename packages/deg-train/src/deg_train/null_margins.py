"""`deg-train null-margin`: how much likelier than nothing a span should be before it is taken.

A field is answered twice, once with a margin at which any span beats null and once with one at
which null beats any. The two confidences are those of its best span and of null, and every margin
between follows from them (contract 12.1).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from deg_schema import DegError, FieldPlan, compile_schema
from deg_train.answered_fields import extract_fields
from deg_train.records import Record

__all__ = ["Filler", "MarginResult", "Weighed", "best_margin", "result_at", "weigh"]

_FAR = 1e6


class Filler(Protocol):
    """What an engine does here."""

    def fill_many(
        self, requests: Sequence[tuple[str, Mapping[str, Any], Mapping[str, Any]]], /
    ) -> Sequence[Mapping[str, Any] | DegError]:
        """Fill each schema from the context beside it, with the options behind it."""
        ...


@dataclass(frozen=True, slots=True)
class Weighed:
    """A field that may be null.

    Attributes:
        advantage: How much likelier its best valid span is than null, in nats.
        is_right: Whether that span is the value.
        is_null: Whether the document does not hold the value.
    """

    advantage: float
    is_right: bool
    is_null: bool


@dataclass(frozen=True, slots=True)
class MarginResult:
    """What a margin gives: the shares of right answers, of present values, and null's agreement."""

    margin: float
    num_right: int
    num_right_present: int
    num_right_null: int
    num_said_null: int
    num_null: int
    count: int

    @property
    def accuracy(self) -> float:
        """The share of fields that are right, null or not."""
        return self.num_right / self.count if self.count else math.nan

    def line(self) -> str:
        """Return the result as a line of text."""
        present = self.count - self.num_null
        return (
            f"margin {self.margin:+.2f}   right {self.accuracy:.3f}   "
            f"present {_share(self.num_right_present, present)}   "
            f"null precision {_share(self.num_right_null, self.num_said_null)}   "
            f"recall {_share(self.num_right_null, self.num_null)}   n {self.count}"
        )


def weigh(engine: Filler, records: Sequence[Record]) -> list[Weighed]:
    """Weigh the best span of every field outside arrays that may be null against null."""
    kept, dropped = (
        engine.fill_many(
            [(r.context, r.schema, r.options | {"null_margin": margin}) for r in records]
        )
        for margin in (-_FAR, _FAR)
    )
    return [
        each
        for record, span, null in zip(records, kept, dropped, strict=True)
        # what cannot be filled at all says nothing of margins
        if not isinstance(span, DegError) and not isinstance(null, DegError)
        for each in _weighed(record, span, null)
    ]


def result_at(margin: float, weighed: Iterable[Weighed]) -> MarginResult:
    """Return what *margin* gives."""
    listed = list(weighed)
    null = [each for each in listed if each.advantage < margin]
    present = sum(each.is_right for each in listed if each.advantage >= margin)
    right_null = sum(each.is_null for each in null)
    return MarginResult(
        margin=margin,
        num_right=present + right_null,
        num_right_present=present,
        num_right_null=right_null,
        num_said_null=len(null),
        num_null=sum(each.is_null for each in listed),
        count=len(listed),
    )


def best_margin(weighed: Sequence[Weighed]) -> MarginResult:
    """Return the margin with the most right answers, of several such the one nearest to 0.

    Raises:
        ValueError: There is nothing to choose by.
    """
    if not weighed:
        raise ValueError("no record has a field that may be null: there is no margin to choose")
    edges = sorted({each.advantage for each in weighed if math.isfinite(each.advantage)})
    # between two advantages every margin gives the same answers
    margins = [0.0, *((a + b) / 2 for a, b in itertools.pairwise(edges))]
    # and so does every one beyond them all: never null, or always
    margins += [edges[0] - 1, edges[-1] + 1] if edges else []
    results = (result_at(margin, weighed) for margin in margins)
    return max(results, key=lambda result: (result.num_right, -abs(result.margin)))


def _weighed(record: Record, span: Mapping[str, Any], null: Mapping[str, Any]) -> Iterator[Weighed]:
    plans: dict[str, FieldPlan] = {f.pointer: f for f in compile_schema(record.schema).fields}
    for field in extract_fields([(record, span)]):
        if plans[field.pointer].on_null == "forbid":
            continue
        chances = field.meta["confidence"], null["meta"][field.pointer]["confidence"]
        found = field.meta.get("span") is not None
        log_span, log_null = (math.log(max(chance, 1e-30)) for chance in chances)
        # without a valid span it is null at any margin
        advantage = log_span - log_null if found else -math.inf
        yield Weighed(advantage, found and field.is_exact, field.gold is None)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"
