"""Values: text of any kind, drawn at random."""

from __future__ import annotations

import re
from random import Random

from deg_train.generate import (
    kinds_amounts,
    kinds_codes,
    kinds_people,
    kinds_time,
    kinds_words,
)
from deg_train.generate.setting import Setting, draw_setting

__all__ = ["expand", "make_value"]

MAKERS = {
    **kinds_people.MAKERS,
    **kinds_time.MAKERS,
    **kinds_amounts.MAKERS,
    **kinds_codes.MAKERS,
    **kinds_words.MAKERS,
}
SETTING_MAKERS = {**kinds_time.SETTING_MAKERS, **kinds_amounts.SETTING_MAKERS}

_RANGE = re.compile(r"\{(-?\d+(?:\.(\d+))?)\.\.(-?\d+(?:\.\d+)?)\}")


def make_value(kind: str, rng: Random, setting: Setting | None = None) -> str:
    """Draw the text of a value of the kind, in a setting of its own where none is given."""
    if kind in SETTING_MAKERS:
        return SETTING_MAKERS[kind](rng, setting or draw_setting(rng))
    return MAKERS[kind](rng)


def expand(text: str, rng: Random) -> str:
    """Draw a number for each `{low..high}` in *text*, with as many decimals as `low` has."""

    def draw(match: re.Match[str]) -> str:
        low, decimals, high = match.groups()
        if decimals is None:
            return str(rng.randint(int(low), int(float(high))))
        return f"{rng.uniform(float(low), float(high)):.{len(decimals)}f}"

    return _RANGE.sub(draw, text)
