"""Spans of words, freed of the blanks and punctuation that came with their first and last token."""

from __future__ import annotations

from deg_schema.lazy import lazy

__all__ = ["trim_span"]

_CLOSERS = {")": "(", "]": "[", "}": "{", ">": "<", "\u201d": "\u201c", "\u00bb": "\u00ab"}
_OPENERS = {opener: closer for closer, opener in _CLOSERS.items()}
_QUOTES = "\"'`*\u2018\u2019\u201e"
_BEFORE = ",;:.!?|\u2022\u00b7\u2026"
_AFTER = ",;:|\u2026"
_DASHES = "-\u2013\u2014"
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\0"
_ABBREVIATION = lazy(
    r"(?<![^\W_])(?:[^\W\d_](?:\.[^\W\d_])+|Inc|Ltd|Co|Corp|Bros|Jr|Sr|St|Ave|Blvd|Rd|Dr|Dept"
    r"|etc|approx|Esq|Mr|Mrs|Ms|Prof)\Z"
)


def trim_span(context: str, start: int, end: int) -> tuple[int, int]:
    """Shrink a span to the words a reader would mark.

    Blanks, separators and a sentence's full stop go; the stop of an abbreviation, balanced
    brackets and question or exclamation marks stay. Nothing left gives an empty span.
    """
    counts = {mark: context.count(mark, start, end) for mark in (*_CLOSERS, *_OPENERS, *_QUOTES)}
    while start < end:
        if _goes_first(context, start, end, counts):
            _drop(counts, context[start])
            start += 1
        elif _goes_last(context, start, end, counts):
            end -= 1
            _drop(counts, context[end])
        elif _is_quoted(context, start, end, counts):
            start, end = start + 1, end - 1
        else:
            break
    return start, end


def _goes_first(context: str, start: int, end: int, counts: dict[str, int]) -> bool:
    first, following = context[start], context[start + 1 : min(start + 2, end)]
    if first.isspace() or first in _INVISIBLE or first in _CLOSERS:
        return True
    if first == "." and following.isdigit():
        return False
    if first in _BEFORE:
        return True
    if first in _DASHES:
        return not following or following.isspace() or first != "-"
    if first in _OPENERS:
        return counts[first] > counts[_OPENERS[first]]
    return first in _QUOTES and _is_odd(first, counts)


def _goes_last(context: str, start: int, end: int, counts: dict[str, int]) -> bool:
    last, previous = context[end - 1], context[max(start, end - 2) : end - 1]
    if last.isspace() or last in _INVISIBLE or last in _AFTER or last in _OPENERS:
        return True
    if last == ".":
        return not _ABBREVIATION().search(context, max(start, end - 12), end - 1)
    if last in _DASHES:
        return True
    if last in _CLOSERS:
        return counts[last] > counts[_CLOSERS[last]]
    # a mark after digits means feet, inches, minutes or seconds
    return last in _QUOTES and not previous.isdigit() and _is_odd(last, counts)


def _is_odd(quote: str, counts: dict[str, int]) -> bool:
    if quote in "\u2018\u2019\u201e":
        return counts["\u2018"] + counts["\u201e"] != counts["\u2019"]
    return counts[quote] % 2 == 1


def _is_quoted(context: str, start: int, end: int, counts: dict[str, int]) -> bool:
    """Say whether one pair of quotation marks holds the whole span and nothing else."""
    if end - start < 2:
        return False
    first, last = context[start], context[end - 1]
    if first == last and first in "\"'`":
        return counts[first] == 2
    return (first, last) in {("\u201c", "\u201d"), ("\u2018", "\u2019"), ("\u00ab", "\u00bb")}


def _drop(counts: dict[str, int], character: str) -> None:
    if character in counts:
        counts[character] -= 1
