from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from deg_schema import FillError
from deg_serve import Settings

EVENTS = {"accept": "text/event-stream"}


def events_of(text: str) -> list[tuple[str, Any]]:
    events = []
    for block in text.removesuffix("\n\n").split("\n\n"):
        name, data = block.split("\n")
        events.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return events


def test_the_last_event_is_the_response_of_fill(engine: Any, serve: Any) -> None:
    with serve(engine) as served:
        whole = served.fill("a").json()
        response = served.fill("a", headers=EVENTS)
    assert response.headers["content-type"].startswith("text/event-stream")
    assert events_of(response.text)[-1] == ("response", whole)


def test_fields_and_texts_come_with_their_places(engine: Any, serve: Any, wire: Any) -> None:
    golden = wire("fill.response")
    with serve(engine) as served:
        events = events_of(served.fill("a", headers=EVENTS).text)
    fields = [data for name, data in events if name == "field"]
    assert fields == [
        {"pointer": pointer, "meta": meta, "value": golden["value"][pointer[1:]]}
        for pointer, meta in golden["meta"].items()
    ]
    assert ("text", {"pointer": "/reply", "text": "line one\nline two"}) in events


def test_an_event_comes_as_soon_as_it_stands(engine: Any, serve: Any, wire: Any) -> None:
    engine.gate.clear()
    with serve(engine) as served:
        post = served.http.stream("POST", "/v1/fill", json=wire("fill.request"), headers=EVENTS)
        with post as response:
            lines = response.iter_lines()
            assert next(lines) == "event: field"
            assert engine.num_events == 1
            engine.gate.set()
            assert "event: response" in list(lines)


def test_a_client_that_hangs_up_stops_the_engine(engine: Any, serve: Any, wire: Any) -> None:
    engine.gate.clear()
    with serve(engine) as served:
        with httpx.Client(base_url=served.url) as hasty:
            post = hasty.stream("POST", "/v1/fill", json=wire("fill.request"), headers=EVENTS)
            with post as response:
                next(response.iter_lines())
        served.wait(lambda: 'status="499"' in served.http.get("/metrics").text)
        engine.gate.set()
        served.until(running=0)
    assert engine.was_closed
    assert engine.num_events <= 2


def test_what_fails_on_the_way_is_the_last_event(engine: Any, serve: Any) -> None:
    engine.failures["a"] = FillError("no valid span", "/order_number")
    with serve(engine) as served:
        events = events_of(served.fill("a", headers=EVENTS).text)
    problem = {"loc": "/order_number", "msg": "no valid span"}
    assert events[-1] == ("error", {"detail": [problem]})


@pytest.mark.parametrize(
    ("error", "status"), [(FillError("no valid span", "/a"), 500), (RuntimeError("broken"), 500)]
)
def test_what_fails_before_the_first_event_has_a_status(
    engine: Any, serve: Any, error: Exception, status: int
) -> None:
    def stream(*_: Any, **__: Any) -> Any:
        raise error

    engine.stream = stream
    with serve(engine) as served:
        response = served.fill("a", headers=EVENTS)
    assert response.status_code == status
    assert response.json()["detail"][0].keys() == {"loc", "msg"}


def test_a_request_that_is_refused_is_no_stream(engine: Any, serve: Any, wire: Any) -> None:
    with serve(engine) as served:
        response = served.http.post("/v1/fill", json=wire("rejected.request"), headers=EVENTS)
    assert (response.status_code, response.json()) == (422, wire("rejected.response"))


def test_a_stream_that_stalls_ends_with_an_error(engine: Any, serve: Any) -> None:
    engine.gate.clear()
    with serve(engine, Settings(timeout=0.2)) as served:
        events = events_of(served.fill("a", headers=EVENTS).text)
    assert [name for name, _ in events] == ["field", "error"]


def test_fills_that_wait_behind_a_stream_are_filled_together(engine: Any, serve: Any) -> None:
    engine.gate.clear()
    with serve(engine) as served:
        streamed = served.start("stream", headers=EVENTS)
        served.until(running=1)
        filled = [served.start(f"{index}") for index in range(3)]
        served.until(pending=3)
        engine.gate.set()
        assert {one.result().status_code for one in [streamed, *filled]} == {200}
    assert [len(batch) for batch in engine.batches] == [1, 3]
