"""Where e-mail addresses, URIs and UUIDs stand in a text, without the punctuation around them."""

from __future__ import annotations

from collections.abc import Iterator

from deg_schema.lazy import lazy

__all__ = ["find_emails", "find_uris", "find_uuids"]

_ATOM = r"A-Za-z0-9!#$%&'*+/=?^_`{|}~."
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_EMAIL = lazy(
    rf"(?:(?<![{_ATOM}@-])(?P<local>[{_ATOM}-]{{1,64}})|\"[^\"\\\r\n]{{1,62}}\")"
    rf"@(?:{_LABEL}(?:\.{_LABEL}){{0,30}}|\[[0-9A-Fa-f:.IPv]{{2,48}}\])"
)
# what prose and markup put right before an address, though an address may hold it
_BEFORE_EMAIL = "'*`|{/.=~#&?!^-"

_SCHEME = (
    r"(?<![A-Za-z0-9+.\-])(?:[A-Za-z][A-Za-z0-9+.\-]{0,30}://"
    r"|(?ai:mailto|tel|urn|news|sms|sip|sips|doi|data|geo|magnet|xmpp):)"
)
_URI = lazy(rf"{_SCHEME}[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]+")
_AFTER_URI = ".,;:!?'*_~"
# after these, which no URI may hold, the address goes on and what was matched is a piece of it
_CUTS = {"\\", "^", "{", "}", "\0"}
_PAIRS = {")": "(", "]": "["}

_UUID = lazy(
    r"(?<![0-9A-Za-z\-])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Za-z\-])"
)

_Span = tuple[int, int]


def find_emails(text: str) -> Iterator[_Span]:
    """Yield every address that is whole: none is cut at a letter that e-mail does not allow."""
    for match in _EMAIL().finditer(text):
        start, end = match.span()
        if match["local"]:
            start += _num_leading(match["local"])
        if text[start] != "@" and not _is_cut(text, start, end):
            yield start, end


def find_uris(text: str) -> Iterator[_Span]:
    """Yield every absolute URI, without the punctuation of the sentence around it."""
    for match in _URI().finditer(text):
        start, end = match.span()
        following = text[end : end + 1]
        if not _continues(following) and following not in _CUTS:
            end = _without_trailing(text, start, end)
            if end > text.index(":", start) + 1 and not text.endswith("://", start, end):
                yield start, end


def find_uuids(text: str) -> Iterator[_Span]:
    """Yield every UUID that is not part of a longer word."""
    for match in _UUID().finditer(text):
        start, end = match.span()
        if not _continues(text[start - 1 : start]) and not _continues(text[end : end + 1]):
            yield start, end


def _num_leading(local: str) -> int:
    """Count the characters before the address proper, such as those of `email=`."""
    key = local.rfind("=") + 1
    return key + len(local[key:]) - len(local[key:].lstrip(_BEFORE_EMAIL))


def _is_cut(text: str, start: int, end: int) -> bool:
    if text[end : end + 1] in {"@", "-"} or text.endswith("//", 0, start):
        return True
    return _continues(text[start - 1 : start]) or _continues(text[end : end + 1])


def _continues(character: str) -> bool:
    # beyond ASCII the word goes on, and what was matched is only a piece of it
    return character.isalnum()


def _without_trailing(text: str, start: int, end: int) -> int:
    counts = {bracket: text.count(bracket, start, end) for bracket in "()[]"}
    while end > start:
        last = text[end - 1]
        if last in _PAIRS and counts[last] > counts[_PAIRS[last]]:
            counts[last] -= 1
        elif last not in _AFTER_URI:
            break
        end -= 1
    return end
