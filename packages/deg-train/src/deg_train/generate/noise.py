"""Noise: what scanning does to a page, everywhere but in its values."""

from __future__ import annotations

import re
from random import Random

from deg_train.generate.edits import Edit, edited, free_stretches
from deg_train.records import Record

__all__ = ["scanned"]

_CONFUSED = {
    "l": "1",
    "O": "0",
    "S": "5",
    "rn": "m",
    "m": "rn",
    "e": "c",
    "I": "l",
    "i": "l",
    "B": "8",
    "cl": "d",
    "h": "b",
}
_WORD = re.compile(r"[A-Za-z]{4,}")
_GAP = re.compile(r"(?<=[^\s]) (?=[^\s])")
_SPECKS = (" .", " '", " ,", " |", " ~", " `", " *")


def scanned(record: Record, rng: Random) -> Record:
    """Return the record as a scanner might have read it.

    Letters are mistaken, blanks are added and lost, lines broken, and specks read as signs; how
    often is drawn too. Values and the words beside them stay as they are.
    """
    rate = rng.choice((0.01, 0.03, 0.06, 0.12))
    edits: list[Edit] = []
    for start, end in free_stretches(record):
        text = record.context[start:end]
        for match in _WORD.finditer(text):
            if _is_whole(text, match) and rng.random() < rate:
                place, old, new = _misread(match[0], rng)
                at = start + match.start() + place
                edits.append(Edit(at, at + len(old), new))
        for match in _GAP.finditer(text):
            if rng.random() < rate / 2:
                edits.append(Edit(start + match.start(), start + match.end(), _gap(rng)))
    return edited(record, edits)


def _is_whole(text: str, match: re.Match[str]) -> bool:
    # a stretch may begin or end in the middle of a word
    return match.start() > 0 and match.end() < len(text)


def _misread(word: str, rng: Random) -> tuple[int, str, str]:
    """Return a place in the word, what stands there, and what is read instead."""
    roll = rng.random()
    place = rng.randint(1, len(word) - 1)
    if roll < 0.25:
        return place, "", " "
    if roll < 0.32:
        return place, "", "-\n"
    found = [(at, old) for old in _CONFUSED for at in _places(word, old)]
    if not found:
        return place, word[place], ""
    at, old = rng.choice(found)
    return at, old, _CONFUSED[old]


def _places(word: str, part: str) -> list[int]:
    return [match.start() for match in re.finditer(part, word)]


def _gap(rng: Random) -> str:
    roll = rng.random()
    if roll < 0.4:
        return "  "
    if roll < 0.6:
        return "\n"
    return "" if roll < 0.75 else rng.choice(_SPECKS) + " "
