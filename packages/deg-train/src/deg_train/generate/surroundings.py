"""Surroundings: a record's document put behind, before or between text that has no part in it."""

from __future__ import annotations

from dataclasses import replace

from deg_train.records import Record

__all__ = ["surrounded"]


def surrounded(record: Record, before: str, after: str = "") -> Record:
    """Return the record with text around its document, every place moved along with it.

    The texts must answer nothing that the record asks; they bring their own blank lines.
    """
    moved = {
        pointer: tuple((start + len(before), end + len(before)) for start, end in places)
        for pointer, places in record.spans.items()
    }
    return replace(record, context=before + record.context + after, spans=moved)
