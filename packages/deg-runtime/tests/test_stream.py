from __future__ import annotations

from typing import Any

from deg_runtime import Engine
from deg_runtime.events import FieldDone, Filled

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["a", "b"]},
        "who": {"type": "object", "properties": {"name": {"type": ["string", "null"]}}},
        "paid": {"type": "boolean"},
    },
    "required": ["kind", "paid"],
}
TEXT = "Ann Müller paid 12.50 EUR on 3 May 2026."


def test_every_field_comes_once_with_what_the_response_says(engine: Engine) -> None:
    *events, last = engine.stream(TEXT, SCHEMA)
    assert isinstance(last, Filled)
    told = {event.pointer: event.meta for event in events if isinstance(event, FieldDone)}
    assert len(told) == len(events)
    assert told == last.response["meta"]
    assert (
        next(event for event in events if event.pointer == "/paid").value
        is (last.response["value"]["paid"])
    )


def test_a_stream_ends_with_the_response_of_fill(engine: Engine) -> None:
    *_, last = engine.stream(TEXT, SCHEMA)
    assert isinstance(last, Filled)
    again = engine.fill(TEXT, SCHEMA)
    assert again["value"] == last.response["value"]
    assert again["meta"] == last.response["meta"]


def test_a_stream_that_is_closed_leaves_the_engine_usable(engine: Engine) -> None:
    stream = iter(engine.stream(TEXT, SCHEMA))
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert engine.fill(TEXT, SCHEMA)["value"]
