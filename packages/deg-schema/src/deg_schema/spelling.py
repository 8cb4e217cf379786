"""Slips of the keyboard: the word of a list that a misspelled one was meant to be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

__all__ = ["meant_word"]

# what is longer than any keyword is no slip
_MAX_LENGTH = 32
# two shorter words are one slip apart without one being meant
_MIN_LENGTH = 4


def meant_word(text: str, words: frozenset[str]) -> str | None:
    """Find the one of *words* that *text* is in another style, or with one letter amiss."""
    if len(text) > _MAX_LENGTH:
        return None
    known = _parts_of(words)
    found = (known.get(part) for part in _parts(_fold(text)))
    return next((word for word in found if word is not None), None)


@cache
def _parts_of(words: frozenset[str]) -> Mapping[str, str]:
    folds = {_fold(word): word for word in sorted(words)}
    parts = {part: word for fold, word in folds.items() for part in _parts(fold)}
    # a whole word is meant before a part of another
    return parts | folds


def _parts(fold: str) -> Iterator[str]:
    """Give *fold*, and what is left of it without any one letter: a slip shares one of these."""
    yield fold
    if len(fold) >= _MIN_LENGTH:
        yield from (fold[:index] + fold[index + 1 :] for index in range(len(fold)))


def _fold(text: str) -> str:
    return text.casefold().replace("_", "").replace("-", "").replace("$", "")
