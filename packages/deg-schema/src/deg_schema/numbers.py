"""Numbers as people write them, read exactly or not at all.

Read: `1,234,567.89`, `1 234,56` (with a decimal comma), `1'234.50`, `-5`, `(5)`, `12%`, `$1,200`,
`EUR 12`, `5 kg`, `5-year`, `1e5`, `6.02 x 10^23`. Refused: fractions, ranges, number words
(`1.2 million`, `5k`, `minus 5`), and groupings that do not add up.
"""

from __future__ import annotations

import re
from decimal import Decimal

from deg_schema.failure import Failure
from deg_schema.lazy import lazy
from deg_schema.scales import SPACES, has_scale, has_sign_word

__all__ = [
    "MONEY",
    "NUMERAL",
    "POWER",
    "SIGNS",
    "is_numeral",
    "parse_number",
]

# the minus sign, and the dashes and hyphens that word processors put in its place
_MINUSES = "\u2212\u2013\u2010\u2011\ufe63\uff0d"
SIGNS = f"-+{_MINUSES}"

_SYMBOLS = "$€£¥₹₩₽₺₫₴₦₱฿₪¢₡₲₵₸₼₾"
_CODES = (
    "AED|ARS|AUD|BDT|BGN|BHD|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|ISK"
    "|JPY|KES|KRW|KWD|KZT|LKR|MAD|MXN|MYR|NGN|NOK|NZD|OMR|PEN|PHP|PKR|PLN|QAR|RMB|RON|RSD|RUB|SAR"
    "|SEK|SGD|THB|TND|TRY|TWD|UAH|USD|UYU|VND|ZAR"
)
MONEY = rf"(?:[A-Z]{{0,3}}[{_SYMBOLS}]|(?<![A-Za-z])(?:{_CODES}|Rs\.?|kr\.?|z\u0142|Fr\.?))"

# digits with single separators inside: one way to match, so linear in the text
NUMERAL = rf"[0-9]+(?:[.,'\u2019{SPACES[1:]}][0-9]+)*"
POWER = (
    r"(?:[eE][+\-\u2212]?[0-9]+"
    rf"|[{SPACES}]?[xX\u00d7*][{SPACES}]?10(?:\^[+\-\u2212]?[0-9]+|[⁻⁺]?[⁰¹²³⁴-⁹]+))"
)

_SPACED = r"[1-9][0-9]{0,2}(?: [0-9]{3})+(?:[.,][0-9]+)?"
_WRITTEN = lazy(
    rf"(?:{MONEY}[{SPACES}]?(?=\())?(?P<open>\([{SPACES}]?)?"
    rf"(?:(?P<sign>[{SIGNS}])?(?:(?P<money>{MONEY})(?P<gap>[{SPACES}])?)?(?P<inner>[{SIGNS}])?"
    rf"|[~≈][{SPACES}]?|\#[{SPACES}]?(?=[0-9]))"
    rf"(?P<numeral>{_SPACED}(?![0-9])|\.[0-9]+|{NUMERAL})(?P<power>{POWER})?(?P<rest>.*)",
    re.DOTALL,
)
_MONEY_AFTER = lazy(rf"[{_SYMBOLS}]|{_CODES}|kr\.?|z\u0142|Rs\.?|Fr\.?")
_UNIT = lazy(r"(?:(?:-(?![A-Z])|/)?(?![²³])[^\W\d_]|[%‰°])(?:[ ./·-]?(?:[^\W\d_]|[%‰°]))*\.?")
_RESTS = {"", "%", "‰", ",-", ".-", ",\u2013", ".\u2013", ",\u2014", ".\u2014"}
_NUMBER_WORDS = {"and", "or", "to", "half", "quarter", "hundred", "thousand", "million", "billion"}

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_MINUS = str.maketrans("\u2212", "-")
_MAX_LENGTH = 400
_MAX_MAGNITUDE = 308


def parse_number(text: str, *, decimal_separator: str = ".") -> int | Decimal | Failure:
    """Read the one number that *text* is, with its sign and whatever currency or unit it carries.

    A percentage is the number before the sign. The separator decides only what the text leaves
    open: `1,234` is 1234 or 1.234, `1.234,56` is 1234.56 either way.
    """
    if len(text) > 2 * _MAX_LENGTH:
        return Failure("out_of_range")
    stripped = text.strip()
    written = _WRITTEN().fullmatch(stripped)
    if written is None:
        return Failure("number_word" if has_sign_word(stripped) else None)
    problem = _refusal(written)
    if problem is not None:
        return problem
    digits = _plain_digits(written["numeral"], decimal_separator)
    if isinstance(digits, Failure):
        return digits
    return _number(digits, written["power"], negative=_is_negative(written))


def is_numeral(text: str) -> bool:
    """Say whether digits with marks between them are a number under one separator or the other."""
    digits = re.split(POWER, text)[0]
    return digits.isdigit() or any(isinstance(_plain_digits(digits, mark), str) for mark in ".,")


def _refusal(written: re.Match[str]) -> Failure | None:
    """Say why what stands around the digits keeps them from being a plain number."""
    rest = written["rest"]
    # "--5" is no number, and "SEK-500" may be a name
    named = written["money"] and written["money"][-1].isalpha() and not written["gap"]
    if written["inner"] and (written["sign"] or named):
        return Failure()
    if written["open"]:
        inside, closed, outside = rest.partition(")")
        if not closed or not _is_bare(outside):
            return Failure()
        # brackets around an amount mean minus; around anything else, nobody can tell
        return None if _is_bare(inside) else Failure("ambiguous_number")
    stripped = rest.strip(SPACES)
    if stripped in _RESTS or _MONEY_AFTER().fullmatch(stripped):
        return None
    if has_scale(rest, 0, money=written["money"] is not None) is not None:
        return Failure("number_word")
    if len(rest) > 30 or _UNIT().fullmatch(stripped) is None or any(map(_is_fraction, rest)):
        return Failure()
    words = set(re.findall(r"[^\W\d_]+", stripped.lower()))
    return Failure("number_word") if words & _NUMBER_WORDS else None


def _is_bare(text: str) -> bool:
    """Say whether no more than a percent sign or a currency stands there."""
    stripped = text.strip()
    return stripped in {"", "%", "‰"} or _MONEY_AFTER().fullmatch(stripped) is not None


def _is_fraction(character: str) -> bool:
    """Say whether a character is a number itself, such as a half, and no exponent of a unit."""
    return character.isnumeric() and character not in "²³"


def _is_negative(written: re.Match[str]) -> bool:
    sign = written["sign"] or written["inner"]
    if sign is None:
        return written["open"] is not None
    return sign != "+"


def _plain_digits(numeral: str, decimal_separator: str) -> str | Failure:
    """Return the numeral in the form `1234.56`."""
    if len(numeral) > _MAX_LENGTH:
        return Failure("out_of_range")
    kinds = [_kind(character) for character in numeral if not "0" <= character <= "9"]
    if not kinds:
        return numeral
    present = set(kinds)
    if present == {"."} or present == {","}:
        return _one_mark(numeral, kinds[0], len(kinds), decimal_separator)
    groupers, mark = present - {kinds[-1]}, kinds[-1]
    if not groupers:
        return _grouped(numeral)
    if len(groupers) > 1 or kinds.count(mark) > 1 or mark not in ".,":
        return Failure()
    if groupers.isdisjoint(".,") and mark != decimal_separator:
        return Failure("ambiguous_number")
    whole, _, fraction = numeral.rpartition(mark)
    integral = _grouped(whole)
    return integral if isinstance(integral, Failure) else f"{integral}.{fraction}"


def _kind(separator: str) -> str:
    if separator in "'\u2019":
        return "'"
    return " " if separator in SPACES else separator


def _one_mark(numeral: str, mark: str, count: int, decimal_separator: str) -> str | Failure:
    """Decide whether the only kind of mark in a numeral groups its digits or ends its integer."""
    if mark == decimal_separator and count == 1:
        return numeral.replace(mark, ".") if numeral[0] != mark else f"0.{numeral[1:]}"
    if mark == "." and decimal_separator == ".":
        # a version, an address, or 1.234.567 from elsewhere
        return Failure("ambiguous_number") if isinstance(_grouped(numeral), str) else Failure()
    if mark == "." and count == 3 and all(int(part) < 256 for part in numeral.split(".")):
        return Failure("ambiguous_number")
    grouped = _grouped(numeral)
    if isinstance(grouped, Failure) and count == 1:
        return Failure("ambiguous_number")
    return grouped


def _grouped(numeral: str) -> str | Failure:
    """Join digits grouped in threes, or in the Indian way, where the groups are complete."""
    first, *groups = re.split("[^0-9]", numeral)
    if not groups:
        return first
    if first.startswith("0") or not first:
        return Failure()
    threes = len(first) <= 3 and all(len(group) == 3 for group in groups)
    indian = (
        "," in numeral
        and len(groups) > 1
        and len(first) <= 2
        and len(groups[-1]) == 3
        and all(len(group) == 2 for group in groups[:-1])
    )
    return "".join((first, *groups)) if threes or indian else Failure()


def _number(digits: str, power: str | None, *, negative: bool) -> int | Decimal | Failure:
    exponent = _exponent(power)
    if exponent is None:
        return Failure("out_of_range")
    value = Decimal(f"{'-' if negative else ''}{digits}E{exponent}")
    if value.adjusted() > _MAX_MAGNITUDE:
        return Failure("out_of_range")
    integral = "." not in digits if not power else value == value.to_integral_value()
    return int(value) if integral else value


def _exponent(power: str | None) -> int | None:
    """Return the power of ten, or None when no number we keep has it."""
    if power is None:
        return 0
    plain = power.translate(_SUPERSCRIPTS).translate(_MINUS)
    written = re.search(r"10\^?([+-]?[0-9]+)\Z|[eE]([+-]?[0-9]+)\Z", plain)
    assert written is not None
    digits = written[1] or written[2]
    return int(digits) if len(digits) <= 4 and abs(int(digits)) <= _MAX_LENGTH else None
