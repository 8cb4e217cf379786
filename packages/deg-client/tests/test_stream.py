from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clients import AnyClient
from deg_client import (
    FieldDone,
    FieldMeta,
    Filled,
    MalformedResponse,
    NotSent,
    RequestRejected,
    ServerFailed,
    ServerUnreachable,
    TextPiece,
)
from loopback import STREAM, Loopback, Reply, events, reply

WIRE = Path(__file__).parents[3] / "wire"
SCHEMA = {"type": "object", "properties": {"reply": {"type": "string", "x-generate": True}}}
FIELD = {"pointer": "/damaged", "meta": {"mode": "decide.noul", "probability": 0.75}, "value": True}
ARRAY = {"pointer": "/lines", "meta": {"mode": "array", "items": 2}}
PIECE = {"pointer": "/reply", "text": "Dear "}

Connect = Callable[..., AnyClient]


class Order(msgspec.Struct):
    order_number: str


def response() -> Any:
    return json.loads((WIRE / "fill.response.json").read_text())


def stream(*pairs: tuple[str, Any]) -> Reply:
    return Reply(headers=STREAM, pieces=[events(*pairs)])


def test_a_stream_tells_fields_and_texts_and_ends_with_the_response(
    server: Loopback, connect: Connect
) -> None:
    server.replies = [
        stream(("field", FIELD), ("field", ARRAY), ("text", PIECE), ("response", response()))
    ]
    told = list(connect(server).stream("Order A-1047", Order))
    assert told[0] == FieldDone("/damaged", FieldMeta(mode="decide.noul", probability=0.75), True)
    assert told[1].value is msgspec.UNSET
    assert told[2] == TextPiece("/reply", "Dear ")
    assert isinstance(told[3], Filled)
    assert told[3].value == Order("A-1047")
    assert told[3].request_id == server.seen[0].headers["x-request-id"]
    assert server.seen[0].headers["accept"] == "text/event-stream"


def test_an_event_is_told_when_it_comes(server: Loopback, connect: Connect) -> None:
    def pieces() -> Any:
        yield events(("field", FIELD))
        server.released.wait()

    server.replies = [Reply(headers=STREAM, pieces=pieces())]
    told = connect(server, timeout=10).stream("Order A-1047", SCHEMA)
    assert isinstance(next(told), FieldDone)
    told.close()


def test_events_of_a_newer_server_are_passed_over(server: Loopback, connect: Connect) -> None:
    server.replies = [stream(("plan", {}), ("response", response()))]
    assert len(list(connect(server).stream("Order A-1047", SCHEMA))) == 1


def test_an_error_before_the_first_event_is_one_of_any_call(
    server: Loopback, connect: Connect
) -> None:
    server.replies = [
        reply({}, 503, retry_after_ms="1"),
        reply({"detail": [{"loc": "/schema", "msg": "no type"}]}, 422),
    ]
    with pytest.raises(RequestRejected, match="/schema: no type"):
        list(connect(server).stream("Order A-1047", SCHEMA))
    assert len(server.seen) == 2


def test_an_error_within_the_stream_is_raised_after_what_came(
    server: Loopback, connect: Connect
) -> None:
    problem = {"detail": [{"loc": "/order_number", "msg": "nothing valid was found"}]}
    server.replies = [stream(("field", FIELD), ("error", problem))]
    told = connect(server).stream("Order A-1047", SCHEMA)
    assert isinstance(next(told), FieldDone)
    with pytest.raises(ServerFailed, match="/order_number: nothing valid") as caught:
        next(told)
    assert caught.value.problems[0].loc == "/order_number"


@pytest.mark.parametrize(
    "answer",
    [
        stream(("field", FIELD)),
        stream(("field", {})),
        Reply(headers=STREAM, pieces=[b"data: x\n\nevent: text\ndata: {\n\n"]),
        reply({"model": "deg-test"}),
    ],
)
def test_what_is_no_whole_stream_is_refused(
    server: Loopback, connect: Connect, answer: Reply
) -> None:
    server.replies = [answer]
    with pytest.raises(MalformedResponse, match="did not answer as a deg server does"):
        list(connect(server).stream("Order A-1047", SCHEMA))


def test_a_stream_that_breaks_is_not_begun_again(server: Loopback, connect: Connect) -> None:
    headers = STREAM | {"content-length": "9999"}
    server.replies = [Reply(headers=headers, pieces=[events(("field", FIELD))])]
    with pytest.raises(ServerUnreachable):
        list(connect(server).stream("Order A-1047", SCHEMA))
    assert len(server.seen) == 1


def test_what_cannot_be_sent_is_told_before_the_first_event(
    server: Loopback, connect: Connect
) -> None:
    with pytest.raises(NotSent, match="lone surrogate"):
        connect(server).stream("half \ud800", SCHEMA)
