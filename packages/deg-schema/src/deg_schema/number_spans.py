"""Where numbers stand in a text: every numeral that a reader would call a number, once.

A numeral glued into a longer token is none: `AB-12`, `v1.2.3`, `3-4`, `1/2`, `10:30`, `a1b2`, and
the digits of addresses, numeric dates and phone numbers. A unit may be glued (`5kg`, `5-year`).
The span holds the digits with their sign, accounting brackets and power of ten; currency and
unit stay outside unless a sign or a word that multiplies (`1.2 million`) lies beyond them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from deg_schema.addresses import find_emails, find_uris, find_uuids
from deg_schema.dates import find_numeric_dates
from deg_schema.lazy import lazy
from deg_schema.numbers import MONEY, NUMERAL, POWER, SIGNS, is_numeral
from deg_schema.scales import SPACES, has_scale, sign_word_before

__all__ = ["find_numbers"]

# letters right after the power would be those of a number in base sixteen, unless they are units
_POWER = rf"(?:{POWER}(?![0-9_]|[^\W\d]{{1,12}}[0-9]))?"
_CANDIDATE = lazy(NUMERAL + _POWER)
# the same, where blanks that do not break a line separate
_UNSPACED = lazy(r"[0-9]+(?:[.,'\u2019][0-9]+)*" + _POWER)
# all that may stand between the sign and the digits; longer than any currency
_LEFT = lazy(
    rf"(?P<sign>[{SIGNS}])?(?P<money>{MONEY}[{SPACES}]?)?(?P<inner>[{SIGNS}])?(?P<dot>\.)?\Z"
)
_LEFT_WIDTH = 9
_OPENERS = "([{<\"'\u2018\u201c\u00ab:=,;|*>~\u2248"
# slashes of fractions; marks that join digits without being read as a grouping
_SLASHES = "/\u2044\u2215"
_JOINTS = "\u00ad\u00b4`\u00b7\u200b\u2060\u066b\u066c\uff0c\uff0e"
# digits of every script: a numeral that they go on in is none of ours
_GLUED_LEFT = lazy(
    rf"(?:[_{_SLASHES}\\^%±]|[\d)\]][:×*+,.~\u2010\u2011\u2014]|\w[@&]|\d ?[{_SLASHES}] ?"
    rf"|\d(?:[×x{_JOINTS}]|\*\*)|\.\.|(?:^|[\s(|])\u2014"
    # a sign with a blank after it: "10 \u2212 5" as well as "\u2212 5"
    rf"|\u2212[{SPACES}]|[{SIGNS}][{SPACES[1:]}])\Z"
)
_GLUED_RIGHT = lazy(
    r"[_\\^@]|\.[^\W_]|\.\.+\d|[-\u2010-\u2014\u2212~+:×*][$€£.(]?\d"
    r"|[-\u2010\u2011\u2013\u2212](?:[A-Z]|[^\W_]{1,12}[-/.]?\d)|[-\u2212](?![^\W_])"
    rf"| ?[{_SLASHES}] ?\d|[×x{_JOINTS}]\d|\*\*\d"
    rf"| \d{{1,2}}[{_SLASHES}]\d{{1,2}}(?![0-9/])| ?[\u00bc-\u00be\u2150-\u215e]"
    r"| ?[aApP]\.?[mM]\b|[%€£$¥]\d|[^\W\d_]{13}|[^\W\d_]{1,12}[\d_@]|[.,'\u2019](?![0-9])\d"
)
_GROUP = lazy(rf"[0-9]{{3}}(?:[.,][0-9]+)?(?:{POWER})?")
_RANGE_RIGHT = lazy(r"[-\u2010-\u2014\u2212~][$€£.(]?[0-9]")
_UNIT_RIGHT = lazy(rf"(?:[{SPACES}]?(?:[%‰]|{MONEY}))?")
_OPENED = lazy(rf"\([{SPACES}\t]?\Z")
# as the parser reads it; more blanks than this are no part of a number
_CLOSED = lazy(rf"[{SPACES}\t\n]{{0,16}}\)")
_OTHER_NUMBERS = lazy(
    r"\b[A-Z]{2}[0-9]{2}(?: [A-Z0-9]{4}){3,7}(?: [A-Z0-9]{1,3})?\b"
    r"|\+(?=(?:[ .()\-\u00a0]{0,2}[0-9]){8})[0-9]{1,3}(?:[ .\-\u00a0]?\(?[0-9]{1,4}\)?){2,7}"
    r"|\([0-9]{3}\) ?[0-9]{3}[-. ][0-9]{4}"
)
_MONEY_BEFORE = lazy(rf"{MONEY}\Z")
_MONEY_AFTER = lazy(rf"[{SPACES}]?{MONEY}(?![^\W_])")
_WORD_BEFORE = lazy(r"[^\W\d_][:.]?[ \t]?\Z")
_NUMBER_WORD_BEFORE = lazy(
    r"(?i:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|teen|ty|hundred|thousand"
    r"|million|billion)[ ]?\Z"
)
_YEAR = lazy(r"(?:19|20)[0-9]{2}\Z")
_MAX_GROUPS = 7

_Span = tuple[int, int]


def find_numbers(text: str) -> list[_Span]:
    """Return the span of every number in *text*, in document order and linear time.

    Digits grouped by plain blanks (`12 345 678`) may be one number or a row of a table: the
    whole comes first, then its parts.
    """
    numerals = list(_outside(_numerals(text), _masks(text)))
    spans: list[_Span] = []
    index = 0
    while index < len(numerals):
        parts = numerals[index : index + _num_spaced(text, numerals, index)]
        index += len(parts)
        if len(parts) <= _MAX_GROUPS:
            whole = _span(text, parts[0].start(), parts[-1].end())
            spans += [whole] if whole is not None else []
        # "2 000" can only be one number
        if len(parts) > 1 and not any(part[0].startswith("0") for part in parts):
            spans += filter(None, (_span(text, part.start(), part.end()) for part in parts))
    return spans


def _numerals(text: str) -> Iterator[re.Match[str]]:
    for numeral in _CANDIDATE().finditer(text):
        if is_numeral(numeral[0]):
            yield numeral
        else:
            yield from _UNSPACED().finditer(text, *numeral.span())


def _masks(text: str) -> list[_Span]:
    """Return where digits belong to something that is no number, sorted."""
    # of telephones and bank accounts
    numbers = (match.span() for match in _OTHER_NUMBERS().finditer(text))
    addresses = (find_uris(text), find_emails(text), find_uuids(text))
    found = (*addresses, find_numeric_dates(text), numbers)
    return sorted(span for spans in found for span in spans)


def _outside(numerals: Iterable[re.Match[str]], masks: list[_Span]) -> Iterator[re.Match[str]]:
    index, masked_until = 0, 0
    for numeral in numerals:
        while index < len(masks) and masks[index][0] < numeral.end():
            masked_until = max(masked_until, masks[index][1])
            index += 1
        if numeral.start() >= masked_until:
            yield numeral


def _num_spaced(text: str, numerals: list[re.Match[str]], index: int) -> int:
    """Count the numerals from *index* that plain blanks group into one, 1 for no grouping."""
    first = numerals[index]
    if len(first[0]) > 3 or not first[0].isdigit() or first[0].startswith("0"):
        return 1
    run, end = 1, first.end()
    while index + run < len(numerals):
        group = numerals[index + run]
        if group.start() != end + 1 or text[end] != " " or not _GROUP().fullmatch(group[0]):
            break
        run, end = run + 1, group.end()
        if not group[0].isdigit():
            break
    return run


def _span(text: str, start: int, end: int) -> _Span | None:
    """Widen a numeral to its sign, brackets and scale, or drop it where it is part of a token."""
    left = _left(text, start)
    if left is None:
        return None
    begin, outer, has_money = left
    scaled = has_scale(text, end, money=has_money)
    if scaled is not None:
        return outer, scaled
    if _is_glued_right(text, end):
        return None
    unit = _UNIT_RIGHT().match(text, end)
    assert unit is not None
    if _RANGE_RIGHT().match(text, unit.end()) or not is_numeral(text[start:end]):
        return None
    opened = _OPENED().search(text[max(0, outer - 2) : outer])
    closed = _CLOSED().match(text, unit.end())
    if opened is not None and closed is not None:
        return _bracketed(text, (begin, end), (outer - len(opened[0]), closed.end()))
    sign = sign_word_before(text, outer)
    return (begin if sign is None else sign), end


def _left(text: str, start: int) -> tuple[int, int, bool] | None:
    """Return where the span begins, where its currency does, and whether it has one."""
    window = text[max(0, start - _LEFT_WIDTH) : start]
    found = _LEFT().search(window)
    assert found is not None
    money, outer = found["money"], start - len(window) + found.start()
    if money and _is_inside_word(window, found.start("money"), money):
        # in "5€ 234" it is the currency of the number before
        begin = start - len(found["dot"] or "") - len(found["inner"] or "")
        return (begin, begin, False) if money[-1] in SPACES and not found["sign"] else None
    before, previous = text[max(0, outer - 4) : outer], text[outer - 1 : outer]
    if found["dot"] and not (found["money"] or found["sign"] or found["inner"]):
        if previous.isalpha():
            return start, start, False
        if previous and not previous.isspace() and previous not in _OPENERS:
            return None
    # "++5" is no number, and "SEK-500" may be a name
    if found["inner"] and (found["sign"] or (found["money"] or "")[-1:].isalpha()):
        return None
    if found["sign"]:
        is_open = not previous or previous.isspace() or previous in _OPENERS
        return (outer, outer, bool(found["money"])) if is_open else None
    if not found["money"] and (_is_glued_to(previous) or _GLUED_LEFT().search(before)):
        return None
    begin = start - len(found["dot"] or "") - len(found["inner"] or "")
    return begin, outer, bool(found["money"])


def _is_inside_word(window: str, position: int, money: str) -> bool:
    previous = window[position - 1 : position]
    return previous.isdigit() or (money[0].isalpha() and previous.isalpha() and previous.isascii())


def _is_glued_to(previous: str) -> bool:
    # scripts without spaces between words, such as Han, write digits inside the running text
    return previous.isalnum() and unicodedata.category(previous) != "Lo"


def _is_glued_right(text: str, end: int) -> bool:
    following = text[end : end + 1]
    if following.isnumeric() and unicodedata.category(following) != "Lo":
        return True
    return _GLUED_RIGHT().match(text, end) is not None


def _bracketed(text: str, inner: _Span, outer: _Span) -> _Span | None:
    """Decide between an accountant's minus and a remark in brackets, or give neither."""
    before = text[max(0, outer[0] - 12) : outer[0]]
    following = text[outer[1] : outer[1] + 1]
    digits = text[slice(*inner)]
    if _NUMBER_WORD_BEFORE().search(before):
        return inner
    if "%" in text[inner[1] : outer[1]]:
        return inner if _WORD_BEFORE().search(before) else None
    is_call = before[-1:].isalnum() and not _MONEY_BEFORE().search(before)
    if _YEAR().match(digits) or is_call or following.isalnum():
        return None
    if before[-1:] and before[-1] in SIGNS:
        return None
    if has_scale(text, outer[1], money=False) is not None:
        return None
    # "(1) first, (2) second" counts the items of a list
    is_list_mark = len(digits) <= 2 and text[outer[1] : outer[1] + 2].strip().isalpha()
    return None if is_list_mark and not _MONEY_AFTER().match(text, outer[1]) else outer
