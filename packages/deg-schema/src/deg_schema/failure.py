"""Why a text was not read: what every parser returns instead of inventing a value."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Failure"]


@dataclass(frozen=True, slots=True)
class Failure:
    """A text that holds no value of the kind asked for, and why where there is a name for it.

    Attributes:
        detail: `ambiguous_number`, `number_word`, `ambiguous_date`, `partial_date`,
            `two_digit_year`, `no_time`, `ambiguous_offset`, `ambiguous_zone`, `out_of_range`,
            or None when the text simply is not of that form.
    """

    detail: str | None = None
