"""Values: text of any kind, drawn at random."""

from __future__ import annotations

from random import Random

from deg_train.generate import (
    kinds_amounts,
    kinds_codes,
    kinds_people,
    kinds_time,
    kinds_words,
)

__all__ = ["make_value"]

MAKERS = {
    **kinds_people.MAKERS,
    **kinds_time.MAKERS,
    **kinds_amounts.MAKERS,
    **kinds_codes.MAKERS,
    **kinds_words.MAKERS,
}


def make_value(kind: str, rng: Random) -> str:
    """Draw the text of a value of the kind."""
    return MAKERS[kind](rng)
