from __future__ import annotations

from random import Random

from hypothesis import given, strategies as st

from deg_train.generate.composition import dress, join
from deg_train.generate.drafts import Draft, Fact
from deg_train.generate.fields import Field
from deg_train.generate.library import Domain

SPEC = Field("k", "text", ("k",), ())


def make_draft(name: str, *texts: str) -> Draft:
    draft = Draft(domains=[Domain(name, {}, ())])
    for text in texts:
        draft.say("line\n")
        draft.print(Fact(SPEC, text))
    return draft


@given(st.integers(0, 10**6))
def test_facts_stay_where_they_are_printed(seed: int) -> None:
    rng = Random(seed)
    draft = join(make_draft("a", "One", "two Two"), make_draft("b", "Three"), rng)
    dress(draft, rng)
    context, spans = draft.flatten()
    read = [context[start:end] for number in range(3) for start, end in spans[number]]
    assert read == ["One", "two Two", "Three"]


def test_drafts_of_one_domain_are_not_joined() -> None:
    first = make_draft("a", "One")
    assert join(first, make_draft("a", "Two"), Random(1)) is first
