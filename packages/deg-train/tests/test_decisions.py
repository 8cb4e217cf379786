from __future__ import annotations

from random import Random

from hypothesis import given, strategies as st

from deg_schema import compile_schema
from deg_train.generate.decisions import phrase_decision
from deg_train.generate.fields import Field, Option

OPTIONS = tuple(Option(name, f"about {name}") for name in ("billing", "lost_parcel", "other"))
FIELDS = {
    "choice": Field("k", "choice", (), (), options=OPTIONS),
    "score": Field("k", "score", (), (), options=(Option("0", "calm"),), highest=4),
    "yes-no": Field("k", "yes-no", (), ()),
}


@given(st.sampled_from(sorted(FIELDS)), st.booleans(), st.integers(0, 10**6))
def test_the_answer_is_one_that_the_schema_allows(kind: str, is_said: bool, seed: int) -> None:
    rng = Random(seed)
    spec = FIELDS[kind]
    label = rng.choice(spec.labels) if is_said else None
    schema, answer = phrase_decision(spec, label, rng)
    (field,) = compile_schema({"type": "object", "properties": {"k": schema}}).fields
    assert field.mode.startswith("decide")
    assert (answer is None) == (label is None)
    if field.mode == "decide.choice":
        assert answer in field.options
    elif field.mode == "decide.score":
        assert answer in field.levels or (answer is None and field.null_outcome)


def test_options_are_shuffled_and_renamed() -> None:
    rng = Random(1)
    answers = {str(phrase_decision(FIELDS["choice"], "lost_parcel", rng)[1]) for _ in range(200)}
    assert {"lost_parcel", "about lost_parcel", "lostParcel", "B"} <= answers
