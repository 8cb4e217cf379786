import math
import time

import pytest

from deg_schema.patterns import SlowPattern, parse_pattern, search_pattern


@pytest.mark.parametrize(
    ("pattern", "shortest", "longest"),
    [
        ("^a{2}$", 2, 2),
        ("^a+$", 1, math.inf),
        ("a|bc", 1, math.inf),
        ("^(a|bc)$", 1, 2),
        ("^a$|^bcd$", 1, 3),
        ("^(?:ab?){2,3}$", 2, 6),
        ("^(?=abc)a$", 1, 1),
        ("^$", 0, 0),
        (r"^\bab\b$", 2, 2),
        (r"^(a)\1$", 1, math.inf),
    ],
)
def test_a_pattern_knows_the_lengths_it_allows(pattern: str, shortest: int, longest: float) -> None:
    parsed = parse_pattern(pattern)
    assert (parsed.min_length, parsed.max_length) == (shortest, longest)


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        ")",
        "a++",
        "(?i)a",
        "(?P<x>a)",
        "[z-a]",
        "[",
        "[]",
        "(" * 10_000,
        "(" * 100 + ")" * 100,
        r"\Z",
        "*a",
        "a{3,2}",
        "a{99999}",
        r"\p{Nonsense}",
        r"\1",
        r"\k",
        "\\",
        r"\u{110000}",
    ],
)
def test_what_is_no_ecma_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="."):
        parse_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("^a$", "a\n", False),
        (r"^\d+$", "٣", False),
        (r"^\w$", "é", False),
        (r"^\W$", "é", True),
        (r"^\s$", "\u00a0", True),
        (r"^[\s]$", "\ufeff", True),
        (r"^[\S]$", "\u00a0", False),
        (r"^[^\S]$", "\u00a0", True),
        (r"^[\D]$", "5", False),
        (r"^[\W]$", "_", False),
        (r"^[\w-x]$", "-", True),
        (r"^[\w-x]$", "`", False),
        (r"^\p{L}+$", "été", True),
        (r"^(?<n>a)\k<n>$", "aa", True),
        (r"\bfoo\b", "a foo!", True),
        (r"\bfoo\b", "food", False),
        (r"a\Bb", "ab", True),
        (r"^\u0041\x42\u{43}$", "ABC", True),
        (r"^a.b$", "a\u2028b", False),
        (r"^\/$", "/", True),
        (r"^[\b]$", "\b", True),
        ("^{a}]$", "{a}]", True),
        ("b", "abc", True),
    ],
)
def test_search_reads_a_pattern_as_ecma_262_does(pattern: str, text: str, found: bool) -> None:
    assert search_pattern(pattern, text) is found


@pytest.mark.parametrize(
    "pattern",
    [
        "^(a|aa)+$",
        "^(a{1,20}){1,20}$",
        "^x(a|b|ab)+$",
        r"(\w|\w\w)+;",
        "^(?:[a-y]|[b-z][b-z])+$",
        r"^[^x](?:\d|\d\d)*$",
        "a?" * 1500 + "$",
    ],
)
def test_a_pattern_whose_search_does_not_end_is_refused(pattern: str) -> None:
    start = time.process_time()
    for _ in range(20):
        with pytest.raises(SlowPattern, match="in too many ways"):
            parse_pattern(pattern)
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "pattern",
    [
        r"^([A-Za-z]+\s?)+$",
        r"^(\w+)+:$",
        r"^[a-z0-9]+([._-][a-z0-9]+)*@[a-z]+\.[a-z]{2,}$",
        r"^(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\.){3}(?:25[0-5]|[01]?[0-9][0-9]?)$",
        r"^(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-z-][0-9a-z-]*)(?:\.(?:0|[1-9]\d*))*))?$",
        r"^(?=.*\d)(?=.*[a-z]).{8,20}$",
    ],
)
def test_a_pattern_that_only_looks_slow_is_taken(pattern: str) -> None:
    assert parse_pattern(pattern).cost < 500


@pytest.mark.parametrize(
    "pattern",
    ["a{4097}", "(?:a{100}){100}", "(?:(?:(?=a)){65535}){65535}", "(?:a|" * 30 + "b" + "){2}" * 30],
)
def test_what_repeats_too_often_to_be_compiled_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="more than 4096 characters"):
        parse_pattern(pattern)


def test_a_search_that_takes_too_long_does_not_match() -> None:
    assert not search_pattern("^(?:.*,){3}P", "1," * 4000)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", r"a '\(' is never closed"),
        ("a)", r"the '\)' at position 1 was never opened"),
        ("(?i)a", "unknown group at position 0"),
        ("a(?P<x>a)", "unknown group at position 1"),
        ("(" * 40 + ")" * 40, "its groups nest deeper than 32"),
        ("*a", "nothing to repeat at position 0"),
        ("a++", "nothing to repeat at position 2"),
        (r"\k", r"'\\k' without a name at position 0"),
        (r"a\Z", r"unknown escape '\\Z' at position 1"),
        ("[]", r"the '\[' at position 0 holds nothing"),
        ("[a", r"the '\[' at position 0 is never closed"),
        ("a{3,2}", r"'\{3,2\}' asks for more than it allows"),
        ("a{0,65536}", r"'\{0,65536\}' repeats more than 65535 times"),
        (r"\u{110000}", r"U\+110000 is no character"),
        ("a" * 5000, "longer than 4096 characters"),
        ("[z-a]", "bad character range"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_where(pattern: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_pattern(pattern)
