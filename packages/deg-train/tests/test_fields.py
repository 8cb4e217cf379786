from __future__ import annotations

import pytest

from deg_train.generate.fields import Option, parse_fields

GOOD = """\
number : invoice_id
  names: number, no, id, bill no, reference
  about: The number. | Which bill is it? | number as printed
topic : choice
  names: topic, category, theme, subject, kind
  about: What is it about? | Its topic | Theme of the message
  option billing: charges, refunds
  option other
anger : score 0..3
  names: anger, mood, fury, temper, heat
  about: How angry? | Anger | Level of anger
  level 0: calm
"""


def test_a_field_has_its_kind_names_and_abouts() -> None:
    fields, faults = parse_fields(GOOD, "f.txt")
    assert not faults
    assert fields["number"].kind == "invoice_id"
    assert fields["number"].names == ("number", "no", "id", "bill no", "reference")
    assert fields["number"].abouts[1] == "Which bill is it?"


def test_options_and_levels_become_labels() -> None:
    fields, _ = parse_fields(GOOD, "f.txt")
    assert fields["topic"].options == (Option("billing", "charges, refunds"), Option("other"))
    assert fields["topic"].labels == ("billing", "other")
    assert fields["anger"].labels == ("0", "1", "2", "3")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("number invoice_id", "f.txt:1: 'number invoice_id' is not"),
        ("number : zebra\n", "f.txt:1: unknown kind 'zebra'"),
        ("  names: a\n", "f.txt:1: an indented line"),
        ("a : date\n  nmaes: b", "f.txt:2: cannot read"),
        ("a : date\n  names: b\n", "f.txt:1: 'a' has 1 names"),
        ("a : text\n", "it needs 'values"),
        ("a : choice\n  option x: y\n", "a choice with 1 options"),
        ("a : date\n  option x: y\n", "f.txt:2: 'option' does not belong"),
        ("a : score 0..20\n", "2 to 11 levels"),
        ("a : score 0..3\n  level 5: y\n", "has no level '5'"),
        (GOOD + GOOD, "f.txt:13: the key 'number' is declared twice"),
    ],
)
def test_each_fault_has_its_line(text: str, message: str) -> None:
    _, faults = parse_fields(text, "f.txt")
    assert any(message in str(fault) for fault in faults), [str(fault) for fault in faults]
