"""What a span says: its text parsed to the field's value and held against its constraints."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from deg_schema.constraints import violated_keyword
from deg_schema.dates import parse_date
from deg_schema.datetimes import parse_datetime
from deg_schema.failure import Failure
from deg_schema.numbers import parse_number
from deg_schema.plan import FieldPlan, JsonScalar

if TYPE_CHECKING:
    from deg_schema.request import Options

__all__ = ["Reading", "read_span"]


@dataclass(frozen=True, slots=True)
class Reading:
    """The value of a span, or why it has none.

    Attributes:
        reason: None for a valid value, else `unparsable` or the name of the violated keyword.
        detail: What made it unparsable, where there is a name for it (see `Failure`), or
            `not_an_integer`.
        assumed_offset: The date-time names no zone, so the default one was added.
    """

    value: JsonScalar
    reason: str | None = None
    detail: str | None = None
    assumed_offset: bool = False


def read_span(field: FieldPlan, text: str, options: Options) -> Reading:
    """Read *text* as the value of an extract field, without ever adding to what it says."""
    if field.mode == "extract.number":
        return _read_number(field, text, options)
    if field.mode == "extract.date" and field.format == "date-time":
        return _read_datetime(field, text, options)
    if field.mode == "extract.date":
        return _read_date(field, text, options)
    return _checked(field, text)


def _read_number(field: FieldPlan, text: str, options: Options) -> Reading:
    number = parse_number(text, decimal_separator=options.decimal_separator)
    if isinstance(number, Failure):
        return Reading(None, "unparsable", number.detail)
    if isinstance(number, Decimal) and field.type == "integer":
        if number != number.to_integral_value():
            return Reading(None, "unparsable", "not_an_integer")
        number = int(number)
    if isinstance(number, int):
        return _checked(field, number)
    value = float(number)
    # JSON would print another number than the one that is written
    if Decimal(repr(value)) != number:
        return Reading(None, "unparsable", "out_of_range")
    return _checked(field, value)


def _read_datetime(field: FieldPlan, text: str, options: Options) -> Reading:
    moment = parse_datetime(
        text, date_order=options.date_order, default_offset=options.default_offset
    )
    if isinstance(moment, Failure):
        return Reading(None, "unparsable", moment.detail)
    return _checked(field, moment.text, assumed_offset=moment.assumed_offset)


def _read_date(field: FieldPlan, text: str, options: Options) -> Reading:
    day = parse_date(text, date_order=options.date_order)
    if isinstance(day, Failure) and day.detail is None:
        # a span may hold a time as well; the date is the part that was asked for
        moment = parse_datetime(text, date_order=options.date_order)
        day = moment if isinstance(moment, Failure) else moment.text[:10]
    if isinstance(day, Failure):
        return Reading(None, "unparsable", day.detail)
    return _checked(field, day)


def _checked(field: FieldPlan, value: JsonScalar, *, assumed_offset: bool = False) -> Reading:
    keyword = violated_keyword(field.constraints, field.format, value)
    if keyword is not None:
        return Reading(None, keyword)
    return Reading(value, assumed_offset=assumed_offset)
