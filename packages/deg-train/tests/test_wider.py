from __future__ import annotations

from random import Random
from typing import Protocol

import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator

from deg_schema import FieldPlan, Options, compile_schema, find_candidates, read_span
from deg_train.generate import (
    CHANGES,
    DOCUMENT_SHARES,
    LIST_SHARES,
    QUESTION_SHARES,
    BareSource,
    ContradictionSource,
    DocumentSource,
    ForeignSource,
    ListSource,
    WiderSource,
)
from deg_train.records import Record, check, lookup


class Source(Protocol):
    def sample(self, rng: Random) -> Record: ...


DOCUMENTS = DocumentSource("train")
SOURCES: dict[str, Source] = {
    "documents": DOCUMENTS,
    "lists": ListSource("train"),
    "bare": BareSource(),
    "foreign": ForeignSource(),
    "contradictions": ContradictionSource(),
}


def assert_is_consistent(record: Record) -> None:
    check(record)
    Draft202012Validator(record.schema).validate(record.value)
    for field in compile_schema(record.schema).fields:
        if not field.item_steps and field.mode in ("extract.number", "extract.date"):
            assert_reads(record, field)


def assert_reads(record: Record, field: FieldPlan) -> None:
    candidates = set(find_candidates(field, record.context))
    for place in record.spans.get(field.pointer, ()):
        assert place in candidates
        value = read_span(field, record.context[slice(*place)], Options()).value
        assert value == lookup(record.value, field.pointer)


@given(st.sampled_from(sorted(SOURCES)), st.integers(0, 10**9))
@settings(max_examples=60, deadline=None)
def test_a_record_of_any_source_agrees_with_itself(name: str, seed: int) -> None:
    assert_is_consistent(SOURCES[name].sample(Random(seed)))


@given(st.sampled_from(sorted(CHANGES)), st.sampled_from(sorted(SOURCES)), st.integers(0, 10**9))
@settings(max_examples=150, deadline=None)
def test_a_changed_record_agrees_with_itself(change: str, name: str, seed: int) -> None:
    rng = Random(seed)
    assert_is_consistent(CHANGES[change](SOURCES[name].sample(rng), DOCUMENTS, rng))


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_every_change_changes_something(change: str) -> None:
    source = SOURCES["lists" if "without" in change else "documents"]
    rng = Random(1)
    records = [source.sample(rng) for _ in range(40)]
    assert any(CHANGES[change](record, DOCUMENTS, rng) != record for record in records)


@given(st.integers(0, 10**9))
@settings(max_examples=10, deadline=None)
def test_a_seed_says_which_record_comes(seed: int) -> None:
    source = WiderSource(DOCUMENTS, QUESTION_SHARES)
    assert source.sample(Random(seed)) == source.sample(Random(seed))


def test_a_share_is_how_often_a_change_is_made() -> None:
    source = WiderSource(DOCUMENTS, {"chat": 0.5})
    plain = [DOCUMENTS.sample(Random(seed)) for seed in range(100)]
    made = [source.sample(Random(seed)) for seed in range(100)]
    assert 30 < sum(a != b for a, b in zip(plain, made, strict=True)) < 70


@pytest.mark.parametrize("shares", [{"shouting": 0.1}, {"chat": 0.6, "scanned": 0.6}, {"chat": -1}])
def test_shares_that_make_no_sense_are_refused(shares: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"no change|positive"):
        WiderSource(DOCUMENTS, shares)


def test_the_recipe_changes_a_quarter_of_the_lists_and_a_sixth_of_the_documents() -> None:
    assert sum(LIST_SHARES.values()) == pytest.approx(0.25)
    assert sum(DOCUMENT_SHARES.values()) == pytest.approx(0.16)
