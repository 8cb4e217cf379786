"""What a stream tells, in which order, and what is left of it when nobody listens any more."""

from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from torch import Tensor

from deg_model import ArrayMode, ContextState, Fork, KeyValues, SpanKeys, State, Writer
from deg_runtime import Engine, FillError
from deg_runtime.events import FieldDone, Filled, TextPiece

TEXT = "Ann Müller paid 12.50 EUR on 3 May 2026, Bob 7 EUR.\nBoth were late."
ROW: dict[str, Any] = {
    "who": {"type": ["string", "null"]},
    "paid": {"type": ["number", "null"]},
    "tags": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "boolean"}},
}
WRITTEN: dict[str, Any] = {"type": "string", "x-generate": True, "x-max-tokens": 9, "minLength": 5}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "rows": {
            "type": "array",
            "minItems": 2,
            "maxItems": 3,
            "items": {"type": "object", "properties": ROW, "required": list(ROW)},
        },
        "note": WRITTEN,
        "kind": {"enum": ["bill", "letter"]},
        "about": {"type": "object", "properties": {"title": WRITTEN, "late": {"type": "boolean"}}},
    },
    "required": ["rows", "note", "kind", "about"],
}


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    return make_engine(arrays=ArrayMode("anchor"))


def value_at(value: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        value = value[int(token) if isinstance(value, list) else token]
    return value


def test_fields_come_before_arrays_and_texts_come_last(engine: Engine) -> None:
    *events, last = engine.stream(TEXT, SCHEMA)
    assert isinstance(last, Filled)
    done = [event.pointer for event in events if isinstance(event, FieldDone)]
    assert done[:2] == ["/kind", "/about/late"]
    assert done[2] == "/rows"
    assert all(pointer.startswith("/rows/") for pointer in done[3:])
    kinds = [type(event) for event in events]
    assert kinds == [FieldDone] * len(done) + [TextPiece] * (len(events) - len(done))


def test_each_field_and_array_is_told_once_as_the_response_says(engine: Engine) -> None:
    *events, last = engine.stream(TEXT, SCHEMA)
    assert isinstance(last, Filled)
    done = [event for event in events if isinstance(event, FieldDone)]
    meta = {
        pointer: meta
        for pointer, meta in last.response["meta"].items()
        if meta["mode"] != "generate"
    }
    assert sorted(event.pointer for event in done) == sorted(meta)
    assert all(event.meta == meta[event.pointer] for event in done)
    for event in done:
        if event.has_value:
            assert event.value == value_at(last.response["value"], event.pointer)
        else:
            assert event.meta["mode"] == "array"


def test_the_pieces_of_a_text_are_the_text(engine: Engine) -> None:
    *events, last = engine.stream(TEXT, SCHEMA)
    assert isinstance(last, Filled)
    texts: dict[str, str] = {}
    for event in events:
        if isinstance(event, TextPiece):
            assert event.text
            texts[event.pointer] = texts.get(event.pointer, "") + event.text
    assert texts.keys() == {"/note", "/about/title"}
    for pointer, text in texts.items():
        assert value_at(last.response["value"], pointer) == text


def test_the_last_event_is_byte_for_byte_what_fill_returns(engine: Engine) -> None:
    *_, last = engine.stream(TEXT, SCHEMA)
    assert isinstance(last, Filled)
    assert json.dumps(last.response) == json.dumps(engine.fill(TEXT, SCHEMA))


def test_a_stream_without_anything_to_tell_ends_with_the_response(engine: Engine) -> None:
    (last,) = engine.stream(TEXT, {"type": "object", "properties": {}})
    assert isinstance(last, Filled)
    assert last.response["value"] == {}


def test_a_failure_comes_after_what_holds_all_the_same(engine: Engine) -> None:
    mail = {"type": "object", "properties": {"to": {"type": "string", "format": "email"}}}
    schema = {
        "type": "object",
        "properties": {
            "kind": {"enum": ["bill", "letter"]},
            "mails": {"type": "array", "minItems": 1, "items": mail | {"required": ["to"]}},
        },
        "required": ["kind", "mails"],
    }
    stream = iter(engine.stream(TEXT, schema))
    kind = next(stream)
    assert isinstance(kind, FieldDone)
    assert kind.pointer == "/kind"
    with pytest.raises(FillError, match="minItems 1: only 0 items") as refused:
        next(stream)
    with pytest.raises(FillError) as again:
        engine.fill(TEXT, schema)
    assert str(again.value) == str(refused.value)


@pytest.fixture
def kept(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[weakref.ref[Any]]:
    """Tell whether what was read of a document, and what writers remember, is still alive."""
    answer, extend = engine.model.answer, Writer.extend
    seen: list[weakref.ref[Any]] = []

    def answering(forks: Sequence[Fork], contexts: Sequence[ContextState]) -> Any:
        seen.extend(weakref.ref(context.span_keys) for context in contexts)
        return answer(forks, contexts)

    def extending(
        self: Writer, rows: Sequence[Sequence[int]], states: Sequence[State]
    ) -> tuple[Tensor, list[State]]:
        logits_RV, after = extend(self, rows, states)
        layers = [layer for state in after for layer in state.layers]
        seen.extend(weakref.ref(one.keys_PGD) for one in layers if isinstance(one, KeyValues))
        return logits_RV, after

    monkeypatch.setattr(engine.model, "answer", answering)
    monkeypatch.setattr(Writer, "extend", extending)
    return seen


@pytest.mark.parametrize("until", [FieldDone, TextPiece, Filled])
def test_a_stream_that_is_closed_lets_go_of_the_document(
    engine: Engine, kept: list[weakref.ref[Any]], until: type
) -> None:
    stream = iter(engine.stream(TEXT, SCHEMA))
    event = next(event for event in stream if isinstance(event, until))
    stream.close()  # type: ignore[attr-defined]
    del stream
    gc.collect()
    assert isinstance(event, until)
    assert kept
    assert not any(reference() for reference in kept)


def test_a_document_is_let_go_before_texts_are_written(
    engine: Engine, kept: list[weakref.ref[Any]]
) -> None:
    stream = iter(engine.stream(TEXT, SCHEMA))
    next(event for event in stream if isinstance(event, TextPiece))
    gc.collect()
    assert not any(isinstance(reference(), SpanKeys) for reference in kept)
