from __future__ import annotations

from functools import lru_cache

import pytest
from hypothesis import given, settings, strategies as st

from deg_runtime.automaton import Automaton, read_automaton
from deg_runtime.pattern_tree import UnwritablePattern
from deg_schema import search_pattern

PATTERNS = [
    "",
    "ab",
    "^a+$",
    "a$|^b",
    r"\bab\b",
    r"\Bb",
    r"^(?=.*[A-Z])(?=.*\d)(?!.*b).{3,6}$",
    "^(?:(?!ab).)*$",
    "(?:^|,)a(?=$|,)",
    "(?<!a)b(?<=b)$",
    r"^\d{2}-(0[1-9]|1[0-2])$",
    "(a?){0,3}b$",
    r"(|a)(|b)$|^(ab|b)*\b$",
    r"\p{L}é\S",
    "^[^a]*東$",
    r"^[^\p{L}]+$",
    r"^[\x41\u00e9\n-]*\u{1F600}?$",
]

texts = st.text(alphabet="abA1é東 \n,-0😀", max_size=8)


def accepts(automaton: Automaton, text: str) -> bool:
    state = 0
    for character in text:
        place = 0
        for byte in character.encode():
            place = automaton.alphabet.bytes_after[place][byte]
        state = automaton.steps[state][-2 - place]
    return automaton.accepts[state]


@lru_cache
def automaton_of(pattern: str) -> Automaton:
    return read_automaton(pattern)


@given(st.sampled_from(PATTERNS), texts)
@settings(max_examples=500, deadline=None)
def test_an_automaton_accepts_what_the_search_finds(pattern: str, text: str) -> None:
    assert accepts(automaton_of(pattern), text) == search_pattern(pattern, text)


@pytest.mark.parametrize("spelled", [b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80"])
def test_no_bytes_but_utf8_lead_anywhere(spelled: bytes) -> None:
    bytes_after = read_automaton("[^a]").alphabet.bytes_after
    place = 0
    for byte in spelled:
        place = bytes_after[place][byte]
        if place == -1:
            break
    assert place == -1


@pytest.mark.parametrize("number", [0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10FFFF])
def test_every_character_is_spelled(number: int) -> None:
    assert accepts(read_automaton(r"^[^\n]$"), chr(number))


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"(a)\1", "refers back"),
        (r"(?<x>a)\k<x>", "refers back"),
        ("(?<=ab)c", "looks back"),
        ("(?:a|b)*a(?:a|b){14}$", "states"),
        ("^a{0,65535}b{0,65535}$", "too many characters"),
    ],
)
def test_what_cannot_be_written_says_why(pattern: str, reason: str) -> None:
    with pytest.raises(UnwritablePattern, match=reason):
        read_automaton(pattern)
