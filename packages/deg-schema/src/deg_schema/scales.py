"""Words and letters that make another number of digits: `5 million`, `5k`, `minus 5`."""

from __future__ import annotations

from deg_schema.lazy import lazy

__all__ = ["SPACES", "has_scale", "has_sign_word", "sign_word_before"]

SPACES = " \u00a0\u202f\u2007\u2009"

_BLANKS = rf"[{SPACES}\t]{{1,2}}"
_PARTS = (
    "hal(?:f|ves)|thirds|quarters|fifths|sixths|eighths|tenths|hundredths|thousandths|millionths"
)
_FOREIGN = (
    "tausend|tsd|millionen|milliarden?|milliers?|milliards?|mill[oó]n(?:es)?|mila|milion[iy]?"
    "|miliard[iy]?|miljoen|miljard|milh(?:ão|ões)|bilh(?:ão|ões)|тыс|млн|млрд"
)
_WORDS = (
    rf"(?:hundreds?|thousands?|(?:m|b|tr)illions?|lakhs?|lacs?|crores?|dozens?|{_PARTS}|{_FOREIGN}"
    rf"|(?:and|&){_BLANKS}(?:(?:an?|one|two|three|four|five){_BLANKS})?"
    rf"(?:half|thirds?|quarters?|fifths?|eighths?|tenths?|[0-9]{{1,3}}/[0-9]))"
)
_LETTERS = "[Bb]n|BN|bln|mn|mln|tn|trn|mil|[Mm]io|[Mm]rd|[Mm]ld|MM|k|M"
_SCALE = lazy(
    rf"(?:(?:[{SPACES}\t]{{0,2}}|-)(?i:{_WORDS})|[{SPACES}\t]?\r?\n[{SPACES}\t]{{0,2}}{_WORDS}"
    rf"|[{SPACES}-]?(?:{_LETTERS})|[KB])(?![^\W_])|[{SPACES}]?[百千万萬億亿兆]"
)
# a bare "m" is metres, but "$5m" is not
_MONEY_SCALE = lazy(rf"[{SPACES}]?(?:m|mm|b|B|t|T|K|[Cc]rs?|grand)(?![^\W_])")

_SIGN_WORD = r"(?<![^\W_])(?i:minus|negative)"
_SIGN_WORD_FIRST = lazy(rf"{_SIGN_WORD}[\s-]")
_SIGN_WORD_BEFORE = lazy(rf"{_SIGN_WORD}(?:{_BLANKS}|\r?\n|-)\Z")
_SIGN_WORD_WIDTH = len(" negative  ")


def has_scale(text: str, position: int, *, money: bool) -> int | None:
    """Return where the word that multiplies a number ends, when one follows at *position*."""
    scale = _SCALE().match(text, position)
    if scale is None and money:
        scale = _MONEY_SCALE().match(text, position)
    return scale.end() if scale is not None else None


def has_sign_word(text: str) -> bool:
    """Say whether *text* begins with a sign that is written as a word."""
    return _SIGN_WORD_FIRST().match(text) is not None


def sign_word_before(text: str, position: int) -> int | None:
    """Return where the sign begins, when one that is written as a word ends at *position*."""
    first = max(0, position - _SIGN_WORD_WIDTH)
    # a slice, so that the end of the pattern is the position
    word = _SIGN_WORD_BEFORE().search(text[first:position])
    return first + word.start() if word is not None else None
