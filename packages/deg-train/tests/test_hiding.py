from __future__ import annotations

import re
from random import Random

from hypothesis import given, settings, strategies as st

from deg_model import Tokenizer
from deg_train.generate import DocumentSource, ListSource
from deg_train.generate.hiding import hidden, without_document
from deg_train.questions import example_of
from deg_train.records import Record

OTHERS = DocumentSource("train")
LISTS = ListSource("train")


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_a_hidden_document_stands_whole_within_the_length(seed: int) -> None:
    rng = Random(seed)
    record = LISTS.sample(rng)
    found = hidden(record, 5000, OTHERS, rng)
    assert record.context in found.context
    assert len(found.context) <= max(5004, len(record.context))
    assert (found.value, found.schema) == (record.value, record.schema)


def test_a_document_stands_first_last_or_between() -> None:
    rng = Random(4)
    record = LISTS.sample(rng)
    made = [hidden(record, 5000, OTHERS, rng).context for _ in range(30)]
    assert any(text.startswith(record.context) for text in made)
    assert any(text.endswith(record.context) for text in made)


def test_the_text_around_scalars_has_no_values() -> None:
    record = Record("Ann", {"type": "object", "properties": {"who": {}}}, {}, {}, "made")
    for seed in range(20):
        assert not re.search(r"\d", hidden(record, 3000, OTHERS, Random(seed)).context)


def test_text_without_the_document_has_no_item(tokenizer: Tokenizer) -> None:
    found = 0
    for seed in range(20):
        record = LISTS.sample(Random(seed))
        empty = without_document(record, 800, OTHERS, Random(seed))
        if empty is None:
            continue
        found += 1
        assert record.context not in empty.context
        assert not empty.spans
        questions = example_of(empty, tokenizer).questions
        assert {question.fork.head for question in questions} <= {"count", "anchor"}
        assert all(question.outcome == 0 for question in questions if question.fork.head == "count")
        assert all(not question.starts for question in questions)
    assert found > 10


def test_a_schema_may_be_a_reference() -> None:
    rows = {"type": "array", "items": {"type": "string"}}
    doc = {"type": "object", "properties": {"rows": rows}}
    record = Record("Ann", {"$ref": "#/$defs/doc", "$defs": {"doc": doc}}, {}, {}, "made")
    assert "Ann" in hidden(record, 3000, OTHERS, Random(0)).context
    assert without_document(record, 800, OTHERS, Random(0)) is None


def test_a_record_without_lists_has_no_negative() -> None:
    assert without_document(OTHERS.sample(Random(0)), 500, OTHERS, Random(0)) is None
