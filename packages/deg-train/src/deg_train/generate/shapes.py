"""Shapes: patterns of digits and letters that identifiers are drawn from."""

from __future__ import annotations

from random import Random

__all__ = ["fill_shape"]

_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_ALPHABETS = {
    "#": "0123456789",
    "%": "123456789",
    "?": _LETTERS,
    "x": "abcdefghijkmnpqrstuvwxyz",
    "^": "0123456789ABCDEF",
    "~": "0123456789abcdef",
    "*": _LETTERS + "0123456789",
}


def fill_shape(shape: str, rng: Random) -> str:
    """Fill a shape.

    `#` is a digit, `%` one that is not zero, `?` a capital, `x` a small letter, `^` and `~` a
    hexadecimal digit, `*` a capital or a digit; the letter after a backslash stands for itself.
    """
    made = []
    escaped = False
    for letter in shape:
        if escaped or letter not in _ALPHABETS:
            escaped = letter == "\\" and not escaped
            made.append("" if escaped else letter)
        else:
            alphabet = _ALPHABETS[letter]
            made.append(alphabet[int(rng.random() * len(alphabet))])
    return "".join(made)
