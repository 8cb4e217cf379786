from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator

from deg_model import Tokenizer
from deg_schema import compile_schema
from deg_train.generate import LongSource, LongSplit, is_held_out
from deg_train.generate.library import default_library
from deg_train.generate.long_sections import HEADINGS, HELD_OUT_HEADINGS
from deg_train.generate.prose import HELD_OUT_TOPICS
from deg_train.questions import example_of
from deg_train.records import check, lookup

SOURCES: dict[LongSplit, LongSource] = {
    "train": LongSource("train"),
    "val": LongSource("val"),
    "long": LongSource("long"),
}
splits = st.sampled_from(sorted(SOURCES))
seeds = st.integers(0, 10**9)


@given(splits, seeds)
@settings(max_examples=25, deadline=None)
def test_a_record_agrees_with_itself_and_its_schema(split: LongSplit, seed: int) -> None:
    record = SOURCES[split].sample(Random(seed))
    check(record)
    Draft202012Validator(record.schema).validate(record.value)
    for field in compile_schema(record.schema).fields:
        if not field.item_steps and field.mode.startswith("extract"):
            is_told = lookup(record.value, field.pointer) is not None
            assert is_told == (field.pointer in record.spans)


@given(splits, seeds)
@settings(max_examples=5, deadline=None)
def test_a_seed_gives_the_same_record(split: LongSplit, seed: int) -> None:
    assert SOURCES[split].sample(Random(seed)) == SOURCES[split].sample(Random(seed))


def test_an_unknown_split_is_refused() -> None:
    with pytest.raises(ValueError, match="'test' is no split"):
        LongSource("test")  # type: ignore[arg-type]


@pytest.mark.parametrize("split", sorted(SOURCES))
def test_a_document_is_long_and_asked_all_over(split: LongSplit) -> None:
    places, lengths, num_arrays = [], [], 0
    for record in SOURCES[split].records(12, 1):
        lengths.append(len(record.context))
        places += [found[0][0] / lengths[-1] for found in record.spans.values()]
        num_arrays += len(compile_schema(record.schema).arrays)
    # 4,000 to 16,000 tokens of two to five letters
    assert min(lengths) > 10_000
    assert max(lengths) < 75_000
    assert all(any(part <= 4 * place < part + 1 for place in places) for part in range(4))
    assert num_arrays >= 12


def test_what_is_held_out_from_training_is_not_in_it() -> None:
    phrases = [f"{who} {does}" for t in HELD_OUT_TOPICS for who in t.subjects for does in t.verbs]
    assert set(HEADINGS).isdisjoint(HELD_OUT_HEADINGS)
    for record in SOURCES["train"].records(10, 1):
        assert not any(phrase in record.context.lower() for phrase in phrases)
        assert "Item 1." not in record.context
    for split in ("train", "long"):
        for templates in SOURCES[split].templates.values():
            assert {is_held_out(template) for template in templates} == {split == "long"}
    assert set(SOURCES["long"].templates) <= set(default_library().domains)


def test_a_window_of_a_long_document_is_trained_and_all_of_it_where_there_is_room(
    tokenizer: Tokenizer,
) -> None:
    record = SOURCES["train"].sample(Random(5))
    window = example_of(record, tokenizer, Random(0), max_tokens=800)
    # whole arrays are asked about whatever room they take, and one other question
    assert window.context.num_tokens < 650
    assert {question.fork.head for question in window.questions} <= {"extract", "anchor"}
    whole = example_of(record, tokenizer, Random(0), max_tokens=10**6)
    assert whole.context.num_tokens > 4000
    assert {"extract", "count"} <= {question.fork.head for question in whole.questions}
