"""Edits: changes of a record's document that leave its values alone and move their places."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from deg_train.records import Record

__all__ = ["Edit", "edited", "free_stretches", "start_lines"]

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Edit:
    """Puts *text* in the place of what stands from *start* to *end*."""

    start: int
    end: int
    text: str


def edited(record: Record, edits: Sequence[Edit]) -> Record:
    """Return the record with its document changed; no edit may touch a value or another edit."""
    ordered = sorted(edits, key=lambda edit: (edit.start, edit.end))
    ends = [edit.end for edit in ordered]
    grown = [0, *accumulate(len(edit.text) - (edit.end - edit.start) for edit in ordered)]
    starts = [edit.start for edit in ordered]
    context, done = [], 0
    for edit in ordered:
        assert done <= edit.start <= edit.end, f"{edit} overlaps the edit before it"
        context += [record.context[done : edit.start], edit.text]
        done = edit.end
    context.append(record.context[done:])

    def moved(place: Span) -> Span:
        num_before = bisect_right(ends, place[0])
        assert num_before == bisect_left(starts, place[1]), f"an edit touches the value at {place}"
        return place[0] + grown[num_before], place[1] + grown[num_before]

    spans = {pointer: tuple(map(moved, places)) for pointer, places in record.spans.items()}
    return replace(record, context="".join(context), spans=spans)


def free_stretches(record: Record) -> list[Span]:
    """Return what stands between the values, without the word before and the one behind each.

    How a value reads may depend on its neighbours: a sign, a unit, a label.
    """
    text = record.context
    kept = sorted(
        _with_neighbours(text, place) for found in record.spans.values() for place in found
    )
    stretches, done = [], 0
    for start, end in (*kept, (len(text), len(text))):
        if start > done:
            stretches.append((done, start))
        done = max(done, end)
    return stretches


def start_lines(record: Record, prefix: str) -> Record | None:
    """Put *prefix* before every line, None where a value runs over several lines."""
    places = {place for found in record.spans.values() for place in found}
    if any("\n" in record.context[start:end] for start, end in places):
        return None
    lines = [0, *(match.end() for match in re.finditer("\n", record.context))]
    return edited(record, [Edit(at, at, prefix) for at in lines])


_BEFORE, _BEHIND = re.compile(r"\S*\s*\S*$"), re.compile(r"\S*\s*\S*")
_REACH = 60


def _with_neighbours(text: str, place: Span) -> Span:
    start, end = place
    before = _BEFORE.search(text[max(0, start - _REACH) : start])
    behind = _BEHIND.match(text[end : end + _REACH])
    assert before is not None
    assert behind is not None
    return start - len(before[0]), end + len(behind[0])
