from __future__ import annotations

from random import Random

from hypothesis import given, strategies as st

from deg_train.generate.drafts import render
from deg_train.generate.fields import Field
from deg_train.generate.library import Domain
from deg_train.generate.template import parse_templates

NAMES, ABOUTS = ("a", "b", "c"), ("About a.", "What is it?")
TEXT = """\
=== d.1
{who} wrote on {day}. [Dear|Hi] {who}!
? phone {phone} or {_phone}
<mood: 0 = Fine. | 1 = Awful.> <mood: 1 = Truly. | 2 = Never.>
"""
DOMAIN = Domain(
    "d",
    {
        "who": Field("who", "person", NAMES, ABOUTS),
        "day": Field("day", "date", NAMES, ABOUTS),
        "phone": Field("phone", "phone", NAMES, ABOUTS),
        "mood": Field("mood", "score", NAMES, ABOUTS, highest=2),
    },
    tuple(parse_templates(TEXT, "t.txt")[0]),
)
seeds = st.integers(0, 10**9)


@given(seeds)
def test_the_spans_of_a_fact_hold_its_text(seed: int) -> None:
    draft = render(DOMAIN.templates[0], DOMAIN, Random(seed))
    context, spans = draft.flatten()
    for number, found in spans.items():
        assert {context[start:end] for start, end in found} == {draft.facts[number].text}
    assert len(spans[0]) == 2


@given(seeds)
def test_a_dropped_line_makes_its_keys_absent(seed: int) -> None:
    draft = render(DOMAIN.templates[0], DOMAIN, Random(seed))
    is_printed = "phone" in draft.flatten()[0]
    assert is_printed == ("phone" in {fact.field.key for fact in draft.facts})
    assert is_printed != ("phone" in {spec.key for spec in draft.absent})
    assert is_printed == ("phone" in draft.decoy_kinds)


@given(seeds)
def test_two_wordings_of_a_key_agree_on_the_label(seed: int) -> None:
    draft = render(DOMAIN.templates[0], DOMAIN, Random(seed))
    assert [fact.label for fact in draft.facts if fact.field.key == "mood"] == ["1"]
    assert draft.flatten()[0].endswith("Awful. Truly.")
