from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from deg_model import ContextTooLong
from deg_runtime import Engine, Request
from deg_runtime.batch import Answer, LineFiller, in_batches
from deg_runtime.jsonl import Line
from deg_schema import DegError, Options

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"order": {"type": "string"}, "late": {"type": "boolean"}},
    "required": ["order"],
}


def _lines(*records: Any) -> list[Line]:
    return [
        Line(number, 0, record if isinstance(record, bytes) else json.dumps(record).encode())
        for number, record in enumerate(records, 1)
    ]


def _read(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    assert all(answer.text.endswith(b"\n") for answer in answers)
    assert all(answer.text.count(b"\n") == 1 for answer in answers)
    return [json.loads(answer.text) for answer in answers]


class Scripted:
    """Answers with what a function of the texts gives."""

    def __init__(self, answer: Callable[[list[Any]], list[Any]]) -> None:
        self.answer = answer
        self.sizes: list[int] = []

    def fill_many(
        self, requests: Sequence[Request], *, options: Options | Mapping[str, Any] | None = None
    ) -> list[dict[str, Any] | DegError]:
        self.sizes.append(len(requests))
        return self.answer([request[0] for request in requests])


def test_each_record_is_answered_in_order(fake_engine: Any) -> None:
    filler = LineFiller(fake_engine({"/order": "A-1"}), SCHEMA, Options())
    answers = filler.fill(_lines({"context": "A-1 is\u2028late", "id": "x"}, "lost", b"{", "A-1"))
    first, lost, broken, last = _read(answers)
    assert list(first) == ["line", "id", "response"]
    assert first["id"] == "x"
    assert first["response"]["value"] == {"order": "A-1", "late": True}
    assert lost["error"]["pointer"] == "/order"
    assert broken == {"line": 3, "error": {"pointer": "", "message": answers[2].fault}}
    assert last["line"] == 4
    assert [answer.fault is None for answer in answers] == [True, False, False, True]
    assert str(answers[1].fault).startswith("/order: ")


def test_a_record_may_have_a_schema_of_its_own(fake_engine: Any) -> None:
    own = {"type": "object", "properties": {"late": {"type": "boolean"}}}
    wrong = {"type": "object", "properties": {"late": {"type": "what"}}}
    filler = LineFiller(fake_engine({}), SCHEMA, Options())
    good, bad = _read(
        filler.fill(_lines({"context": "", "schema": own}, {"context": "", "schema": wrong}))
    )
    assert good["response"]["value"] == {"late": True}
    assert bad["error"]["pointer"].startswith("/schema/properties/late")


def test_a_context_that_json_cannot_say_is_refused_at_its_place(fake_engine: Any) -> None:
    filler = LineFiller(fake_engine({}), SCHEMA, Options())
    (answer,) = _read(filler.fill(_lines(b'{"context": {"a": "\\ud800"}}')))
    assert answer["error"]["pointer"] == "/context/a"


def test_what_had_been_read_before_is_in_no_answer() -> None:
    response = {"value": {}, "usage": {"prompt_tokens": 5, "cached_tokens": 3}}
    filler = LineFiller(Scripted(lambda texts: [response for _ in texts]), SCHEMA, Options())
    (answer,) = _read(filler.fill(_lines("a")))
    assert answer["response"] == {"value": {}, "usage": {"prompt_tokens": 5}}


def test_what_does_not_fit_beside_others_is_tried_alone() -> None:
    def answer(texts: list[str]) -> list[Any]:
        too_long = ContextTooLong(9, 9, 9)
        return [
            too_long if text == "never" or (text == "alone" and len(texts) > 1) else {"usage": {}}
            for text in texts
        ]

    answers = _read(
        LineFiller(Scripted(answer), SCHEMA, Options()).fill(_lines("a", "alone", "never"))
    )
    assert ["response" in answer for answer in answers] == [True, True, False]
    assert answers[2]["error"]["pointer"] == "/context"


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("cannot allocate memory")])
def test_a_batch_that_takes_all_memory_is_tried_one_by_one(error: Exception) -> None:
    def answer(texts: list[str]) -> list[Any]:
        if len(texts) > 1 or texts == ["huge"]:
            raise error
        return [{"usage": {}}]

    engine = Scripted(answer)
    answers = _read(LineFiller(engine, SCHEMA, Options()).fill(_lines("a", "huge", "b")))
    assert engine.sizes == [3, 1, 1, 1]
    assert ["response" in answer for answer in answers] == [True, False, True]
    assert "not enough memory" in answers[1]["error"]["message"]


def test_a_mistake_of_ours_is_no_answer() -> None:
    def answer(texts: list[str]) -> list[Any]:
        raise RuntimeError("shapes differ")

    with pytest.raises(RuntimeError, match="shapes"):
        LineFiller(Scripted(answer), SCHEMA, Options()).fill(_lines("a"))


def test_nothing_is_asked_of_the_engine_where_no_record_is_good() -> None:
    engine = Scripted(lambda texts: [])
    assert len(LineFiller(engine, SCHEMA, Options()).fill(_lines(b"{", b"3"))) == 2
    assert engine.sizes == []


def test_answers_are_those_of_fill_one_by_one(make_engine: Callable[..., Engine]) -> None:
    schema = {"type": "object", "properties": SCHEMA["properties"]}
    texts = ["FIELD number 2026", "", "naïve span text", "FIELD number 2026"]
    filler = LineFiller(make_engine(cache_bytes=1 << 20), schema, Options())
    together = [json.loads(answer.text)["response"] for answer in filler.fill(_lines(*texts))]
    alone = make_engine()
    assert together == [alone.fill(text, schema) for text in texts]


def test_batches_are_cut_only_when_asked_for() -> None:
    lines = iter(_lines("a", "b", "c", "d", "e"))
    batches = in_batches(lines, 2)
    assert [line.number for line in next(batches)] == [1, 2]
    assert next(lines).number == 3
    assert [[line.number for line in batch] for batch in batches] == [[4, 5]]
