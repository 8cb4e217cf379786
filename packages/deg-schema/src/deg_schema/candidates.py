"""The places in a context that a field's deterministic grammar could read."""

from __future__ import annotations

import re

from deg_schema.addresses import find_emails, find_uris, find_uuids
from deg_schema.dates import find_dates
from deg_schema.datetimes import find_datetimes
from deg_schema.number_spans import find_numbers
from deg_schema.plan import FieldPlan

__all__ = ["find_candidates", "has_candidates"]

_ESCAPE = re.compile(r"\\(?:[nrtbf]|\\|\"|u[0-9a-f]{4})")
_BLANKED = {'\\"': ' "', "\\\\": "\\\\"}
_FINDERS = {"email": find_emails, "uri": find_uris, "uuid": find_uuids}


def has_candidates(field: FieldPlan) -> bool:
    """Say whether a grammar, and not the model alone, tells where the field's value may stand."""
    if field.mode in ("extract.number", "extract.date"):
        return True
    return field.mode == "extract.span" and field.format in _FINDERS


def find_candidates(field: FieldPlan, context: str) -> list[tuple[int, int]]:
    """Return the code-point spans [start, end) that may hold the field's value, in order.

    Some may be refused when they are read, by the name of what is wrong with them. The time
    taken is linear in the context.

    Raises:
        ValueError: The field is one of those that `has_candidates` denies.
    """
    if not has_candidates(field):
        raise ValueError(f"a {field.mode} field of format {field.format!r} has no candidates")
    text = _without_escapes(context)
    if field.mode == "extract.number":
        return find_numbers(text)
    if field.format == "date-time":
        return sorted(moment for _, moment in find_datetimes(text))
    if field.mode == "extract.date":
        return find_dates(text)
    assert field.format is not None
    return list(_FINDERS[field.format](text))


def _without_escapes(context: str) -> str:
    """Blank the escapes of a JSON context, so that the `n` of a line break joins no word."""
    if context[:1] not in ("{", "["):
        return context
    return _ESCAPE.sub(lambda escape: _BLANKED.get(escape[0], " " * len(escape[0])), context)
