"""Settings: what the values of one document have in common, as those of a real one do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

__all__ = ["Setting", "draw_setting"]

_FIRST, _LAST = date(1985, 1, 1), date(2028, 12, 31)
_RECENT = date(2015, 1, 1)


@dataclass(frozen=True, slots=True)
class Setting:
    """When a document was written, and how it writes dates, times and sums.

    `style` is the seed of one way to write; without it every value is written in its own.
    """

    today: date
    style: int | None

    def draw_date(self, rng: Random) -> date:
        """Draw a day, mostly within two months of the document's own, sometimes years before."""
        roll = rng.random()
        if self.style is None:
            return _anywhere(rng)
        days = rng.randint(-45, 60) if roll < 0.85 else -rng.randint(60, 3000)
        return self.today + timedelta(days=days)

    def writer(self, rng: Random) -> Random:
        """Return what a format is drawn from: the same for every value, where there is a style."""
        return rng if self.style is None else Random(self.style)


def draw_setting(rng: Random) -> Setting:
    """Draw the setting of a document."""
    return Setting(_anywhere(rng), rng.getrandbits(32) if rng.random() < 0.75 else None)


def _anywhere(rng: Random) -> date:
    first = _RECENT if rng.random() < 0.8 else _FIRST
    return first + timedelta(days=rng.randrange((_LAST - first).days))
