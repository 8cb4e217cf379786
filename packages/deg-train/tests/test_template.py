from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from deg_train.generate.template import Labelled, Slot, Wording, parse_templates

TEXT = """\
=== shop.plain.1

BILL {number}
[Date|On {_weekday}]: {day}
? Due {due} <{email}>
<topic: billing = I was charged [twice|again].
 | delivery = The parcel to {city}
   never came.>

"""


def test_a_template_keeps_its_lines_without_the_outer_blank_ones() -> None:
    (template,), faults = parse_templates(TEXT, "t.txt")
    assert not faults
    assert template.id == "shop.plain.1"
    assert [line.number for line in template.lines] == [3, 4, 5, 6]
    assert [line.optional for line in template.lines] == [False, False, True, False]


def test_nodes_are_texts_slots_wordings_and_labels() -> None:
    (template,), _ = parse_templates(TEXT, "t.txt")
    assert template.lines[0].nodes == ("BILL ", Slot("number"))
    way = ("On ", Slot("weekday", decoy=True))
    assert template.lines[1].nodes[0] == Wording((("Date",), way))
    assert template.lines[2].nodes[1:] == (Slot("due"), " <", Slot("email"), ">")
    labelled = template.lines[3].nodes[0]
    assert isinstance(labelled, Labelled)
    assert [label for label, _ in labelled.ways] == ["billing", "delivery"]


def test_wordings_of_one_key_share_their_labels() -> None:
    text = "=== a\n<k: x = 1 | y = 2> <k: y = 3 | z = 4>"
    (template,), _ = parse_templates(text, "t.txt")
    assert template.labels == {"k": ("y",)}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[b]", "has no '|'"),
        ("[a|b", "never closed"),
        ("a]", "']' without"),
        ("{Foo}", "'{Foo}' is no slot"),
        ("<key: a = b | c = d", "never closed"),
        ("<key: a = b>", "at least two labels"),
        ("<key: a = b | c>", "is not 'label = text'"),
    ],
)
def test_each_fault_has_its_line(line: str, message: str) -> None:
    _, faults = parse_templates(f"=== a.b\nfine {{key}}\n{line}\n", "t.txt")
    assert [fault.line for fault in faults] == [3]
    assert message in str(faults[0])


def test_text_before_the_first_template_is_a_fault() -> None:
    _, faults = parse_templates("# a comment\nhello\n=== a\nb", "t.txt")
    assert [str(fault) for fault in faults] == ["t.txt:2: text before the first '=== id'"]


@given(st.text(alphabet="ab {}[]|<>=:_?\n", max_size=60))
def test_any_text_is_read_or_refused_with_a_line(body: str) -> None:
    templates, faults = parse_templates("=== a\n" + body, "t.txt")
    assert len(templates) == 1
    assert all(fault.line >= 1 for fault in faults)
