from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
import torch
from torch import Tensor

from deg_model import ArrayMode, DegModel, State, Tokenizer, Writer
from deg_runtime import Engine
from deg_train.questions import Question, example_of
from deg_train.records import Record

LINE = {
    "type": "object",
    "properties": {
        "note": {"type": "string", "x-generate": True},
        "urgent": {"type": "boolean"},
    },
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "summary": {
            "type": "string",
            "x-generate": True,
            "title": "Summary",
            "description": "What happened",
            "maxLength": 60,
        },
        "who": {"type": "string"},
        "owes": {"type": ["number", "null"]},
        "topic": {"enum": ["billing", "delivery"]},
        "lines": {"type": "array", "items": LINE},
        "tags": {"type": "array", "x-generate": True, "items": {"type": "string"}},
    },
}
WRITTEN = {"/summary": "Ann owes 1,250.00 euro.", "/lines/0/note": "€ due", "/lines/1/note": ""}


class ScriptedWriter(Writer):
    """Writes what it is told to, and keeps what it reads."""

    def __init__(self, model: DegModel, texts: dict[str, str]) -> None:
        backbone, tokenizer = model.backbone, model.tokenizer
        super().__init__(backbone, backbone.embedding_VH, tokenizer)
        self.trunk: tuple[int, ...] = ()
        self.num_before = 0
        self.forks: list[list[int]] = []
        self._left = [[*tokenizer.encode(text), tokenizer.answer_end] for text in texts.values()]
        self._rows: list[int] = []

    def read(self, ids: Sequence[int], state: State | None = None) -> State:
        self.trunk, self.num_before = tuple(ids), state.length if state else 0
        return State()

    def extend(
        self, rows: Sequence[Sequence[int]], states: Sequence[State]
    ) -> tuple[Tensor, list[State]]:
        if not self.forks:
            self.forks = [[] for _ in rows]
            self._rows = list(range(len(rows)))
        logits_RV = torch.zeros(len(rows), self.vocab_size)
        for place, (number, row) in enumerate(zip(self._rows, rows, strict=True)):
            self.forks[number] += row
            logits_RV[place, self._left[number].pop(0)] = 1.0
        self._rows = [number for number in self._rows if self._left[number]]
        return logits_RV, list(states)


def texts_of(record: Record, tokenizer: Tokenizer, **options: Any) -> list[Question]:
    questions = example_of(record, tokenizer, texts=True, **options).questions
    return [question for question in questions if question.fork.head == "lm"]


def make_record(**more: Any) -> Record:
    value = {"who": "Ann", "owes": 1250, "topic": "billing", "summary": "Ann owes much."} | more
    spans = {"/who": ((0, 3),), "/owes": ((9, 17),)}
    return Record("Ann owes 1,250.00", SCHEMA, value, spans, "made")


def test_a_text_is_trained_on_the_tokens_that_inference_reads(model: DegModel) -> None:
    context, two = "Ann owes 1,250.00 euro", {"minItems": 2, "maxItems": 2}
    names = ("summary", "who", "owes", "topic", "lines")
    properties = {name: SCHEMA["properties"][name] for name in names}
    properties["lines"] = properties["lines"] | two
    schema = {"type": "object", "properties": properties}
    model.arrays = ArrayMode("index")
    writer = ScriptedWriter(model, WRITTEN)
    model.__dict__["writer"] = writer
    response = Engine(model).fill(context, schema)
    spans = {
        pointer: (tuple(meta["span"]),)
        for pointer, meta in response["meta"].items()
        if meta.get("span")
    }
    record = Record(context, schema, response["value"], spans, "made")
    example = example_of(record, model.tokenizer, texts=True)
    texts = [question for question in example.questions if question.fork.head == "lm"]
    assert [lookup_text(record, text) for text in WRITTEN] == list(WRITTEN.values())
    by_ids = sorted(texts, key=lambda text: text.fork.ids)
    before = example.context.ids[: writer.num_before]
    read = sorted([*before, *writer.trunk, *fork] for fork in writer.forks)
    assert [[*example.context.ids, *text.fork.ids] for text in by_ids] == read


def lookup_text(record: Record, pointer: str) -> Any:
    found: Any = record.value
    for token in pointer.split("/")[1:]:
        found = found[int(token)] if isinstance(found, list) else found[token]
    return found


def test_every_token_of_a_text_is_a_target_and_the_last_one_ends_it(tokenizer: Tokenizer) -> None:
    (text,) = texts_of(make_record(), tokenizer)
    written = tokenizer.encode("Ann owes much.")
    assert text.targets == (*written, tokenizer.answer_end)
    assert text.fork.ids[-len(written) :] == written


def test_the_known_values_are_those_that_the_runtime_reads(tokenizer: Tokenizer) -> None:
    (text,) = texts_of(make_record(), tokenizer)
    spelled = tokenizer.decode(list(text.fork.ids))
    # the number as its parser reads it, and no text that is written
    assert spelled.startswith('\nKNOWN VALUES:\n/who = "Ann"\n/owes = 1250.0\n/topic = "billing"\n')
    assert spelled.count("Ann owes much.") == 1


def test_a_decided_value_that_is_left_open_is_not_known(tokenizer: Tokenizer) -> None:
    record = make_record()
    del record.value["topic"]
    (text,) = texts_of(record, tokenizer)
    assert "/topic" not in tokenizer.decode(list(text.fork.ids))


def test_texts_are_asked_for_only_where_they_are_trained(tokenizer: Tokenizer) -> None:
    heads = {each.fork.head for each in example_of(make_record(), tokenizer).questions}
    assert "lm" not in heads


def test_a_text_that_is_not_given_is_not_taught(tokenizer: Tokenizer) -> None:
    record = make_record()
    del record.value["summary"]
    assert texts_of(record, tokenizer) == []


def test_a_text_over_its_budget_is_not_taught(tokenizer: Tokenizer) -> None:
    leaf = {"type": "string", "x-generate": True}
    for most, num_texts in ((1, 0), (300, 1)):
        schema = {"type": "object", "properties": {"x": {**leaf, "x-max-tokens": most}}}
        record = Record("Ann", schema, {"x": "Ann is here today."}, {}, "made")
        assert len(texts_of(record, tokenizer)) == num_texts


def test_a_window_teaches_no_text(tokenizer: Tokenizer) -> None:
    record = make_record()
    long = replace(record, context=record.context + " and so on" * 400)
    assert texts_of(long, tokenizer, rng=Random(0), max_tokens=200) == []


@pytest.mark.parametrize("num_lines", [1, 3])
def test_a_record_that_no_fill_could_give_teaches_no_text(
    num_lines: int, tokenizer: Tokenizer
) -> None:
    lines = {"type": "array", "items": LINE, "minItems": 2, "maxItems": 2}
    schema = {"type": "object", "properties": {"lines": lines}}
    value = {"lines": [{"note": "a", "urgent": True}] * num_lines}
    assert texts_of(Record("Ann", schema, value, {}, "made"), tokenizer) == []
