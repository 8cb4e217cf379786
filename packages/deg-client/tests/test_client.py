from __future__ import annotations

import gzip
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypedDict

import msgspec
import pytest

from clients import AnyClient
from deg_client import (
    Client,
    DegClientError,
    FieldMeta,
    Filled,
    KeyRejected,
    MalformedResponse,
    NotSent,
    Problem,
    RequestRejected,
    ServerFailed,
    ServerUnreachable,
)
from loopback import Loopback, Reply, reply

WIRE = Path(__file__).parents[3] / "wire"
SCHEMA = {"type": "object", "properties": {"order_id": {"type": "string"}}}
FILLED = {
    "model": "deg-test",
    "value": {"order_id": "A-17", "count": 10**30},
    "meta": {"/order_id": {"mode": "extract.span", "confidence": 0.875, "span": [6, 10]}},
    "usage": {"prompt_tokens": 12, "generated_tokens": 0},
    "plan": "f00d",
}

Connect = Callable[..., AnyClient]


class Order(msgspec.Struct):
    order_number: str
    damaged: bool
    anger: int
    arrived_on: date | None = None


@dataclass
class OrderClass:
    order_number: str
    arrived_on: date | None


class OrderDict(TypedDict):
    order_number: str
    arrived_on: date | None


def wire(name: str) -> Any:
    return json.loads((WIRE / f"{name}.json").read_text())


def test_fill_returns_the_value_of_a_schema(server: Loopback, connect: Connect) -> None:
    server.replies = [reply(FILLED)]
    filled = connect(server).fill("order A-17", SCHEMA)
    assert filled.value == {"order_id": "A-17", "count": 10**30}
    assert filled.meta["/order_id"] == FieldMeta(
        mode="extract.span", confidence=0.875, span=(6, 10)
    )
    assert filled.usage.prompt_tokens == 12


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Order, Order("A-1047", True, 1, date(2026, 5, 3))),
        (OrderClass, OrderClass("A-1047", date(2026, 5, 3))),
        (OrderDict, {"order_number": "A-1047", "arrived_on": date(2026, 5, 3)}),
    ],
)
def test_fill_returns_the_type_that_it_was_given(
    server: Loopback, connect: Connect, kind: type[Any], value: object
) -> None:
    server.replies = [reply(wire("fill.response"))]
    filled: Filled[Any] = connect(server).fill("Order A-1047 arrived", kind)
    assert filled.value == value
    assert type(filled.value) is type(value)
    assert filled.at("order_number").span == (6, 12)
    assert set(server.seen[0].json["schema"]["properties"]) >= {"order_number", "arrived_on"}


def test_fill_sends_the_golden_request(server: Loopback, connect: Connect) -> None:
    golden = wire("fill.request")
    server.replies = [reply(wire("fill.response"))]
    connect(server).fill(
        golden["context"], golden["schema"], model=golden["model"], **golden["options"]
    )
    assert (server.seen[0].method, server.seen[0].path) == ("POST", "/v1/fill")
    assert server.seen[0].json == golden


def test_fill_sends_only_what_was_given(server: Loopback, connect: Connect) -> None:
    server.replies = [reply(FILLED)]
    client = connect(server)
    client.fill("order A-17", SCHEMA)
    client.fill({"text": "order A-17"}, SCHEMA, seed=None)
    assert server.seen[0].json == {"context": "order A-17", "schema": SCHEMA}
    assert server.seen[1].json["context"] == {"text": "order A-17"}
    assert server.seen[1].json["options"] == {"seed": None}


def test_a_struct_is_a_context_too(server: Loopback, connect: Connect) -> None:
    server.replies = [reply(FILLED)]
    connect(server).fill(Order("A-17", True, 0, date(2026, 5, 3)), SCHEMA)
    assert server.seen[0].json["context"]["arrived_on"] == "2026-05-03"


@pytest.mark.parametrize("context", [b"order", None, 17, 1.5])
def test_what_is_no_context_is_not_sent(server: Loopback, connect: Connect, context: Any) -> None:
    with pytest.raises(NotSent, match="/context: a context is text or JSON"):
        connect(server).fill(context, SCHEMA)
    assert not server.seen


def test_a_key_is_sent_and_not_shown(server: Loopback, connect: Connect) -> None:
    server.replies = [reply(FILLED)]
    client = connect(server, api_key="s3cret")
    client.fill("order A-17", SCHEMA)
    assert server.seen[0].headers["authorization"] == "Bearer s3cret"
    assert "s3cret" not in repr(client)


def test_settings_may_come_from_the_environment(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.replies = [reply(FILLED)]
    monkeypatch.setenv("DEG_BASE_URL", f"{server.url}/")
    monkeypatch.setenv("DEG_API_KEY", "from-outside")
    with Client() as client:
        client.fill("order A-17", SCHEMA)
    assert server.seen[0].path == "/v1/fill"
    assert server.seen[0].headers["authorization"] == "Bearer from-outside"


def test_a_connection_is_used_again(server: Loopback, connect: Connect) -> None:
    server.replies = [reply(FILLED)]
    client = connect(server)
    for _ in range(3):
        client.fill("order A-17", SCHEMA)
    assert len({seen.connection for seen in server.seen}) == 1


def test_a_rejected_request_carries_every_problem(server: Loopback, connect: Connect) -> None:
    server.replies = [reply(wire("rejected.response"), 422, x_request_id="req-7")]
    with pytest.raises(RequestRejected, match="/options/date_order: 'date_order' must") as caught:
        connect(server).fill("order A-17", SCHEMA)
    assert caught.value.status == 422
    assert caught.value.problems[1].loc == "/schema/properties/arrived_on/format"
    assert caught.value.request_id == "req-7"
    assert len(server.seen) == 1


def test_a_wrong_key_is_told(server: Loopback, connect: Connect) -> None:
    server.replies = [reply({"detail": [{"loc": "", "msg": "the key is unknown"}]}, 401)]
    with pytest.raises(KeyRejected, match="the key is unknown"):
        connect(server).models()


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        (b"upstream is down", (Problem("", "upstream is down"),)),
        (b"\xff\xfe", (Problem("", "��"),)),
        (b'{"detail": "no"}', (Problem("", "no"),)),
        (b"", ()),
    ],
)
def test_an_error_in_other_words_is_still_told(
    server: Loopback, connect: Connect, body: bytes, problems: tuple[Problem, ...]
) -> None:
    server.replies = [Reply(502, body, {"x-should-retry": "false"})]
    with pytest.raises(ServerFailed, match="status 502") as caught:
        connect(server).fill("order A-17", SCHEMA)
    assert caught.value.problems == problems


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"model": 1}', b"\xff"])
def test_an_answer_of_something_else_is_refused(
    server: Loopback, connect: Connect, body: bytes
) -> None:
    server.replies = [Reply(200, body)]
    with pytest.raises(MalformedResponse, match="/v1/fill' did not answer as a deg server"):
        connect(server).fill("order A-17", SCHEMA)


def test_an_answer_that_leads_elsewhere_is_not_followed(server: Loopback, connect: Connect) -> None:
    server.replies = [Reply(302, b"", {"location": "http://elsewhere.test/"})]
    with pytest.raises(MalformedResponse, match="leads to 'http://elsewhere.test/'"):
        connect(server).fill("order A-17", SCHEMA)


def test_a_compressed_answer_is_read(server: Loopback, connect: Connect) -> None:
    packed = gzip.compress(json.dumps(FILLED).encode())
    server.replies = [Reply(200, packed, {"content-encoding": "gzip"})]
    assert connect(server).fill("order A-17", SCHEMA).value["order_id"] == "A-17"


def test_an_answer_that_is_not_compressed_as_it_says_is_refused(
    server: Loopback, connect: Connect
) -> None:
    server.replies = [Reply(200, b"{}", {"content-encoding": "gzip"})]
    with pytest.raises(MalformedResponse):
        connect(server).fill("order A-17", SCHEMA)
    assert len(server.seen) == 1


def test_no_server_names_the_address(connect: Connect) -> None:
    with Loopback() as gone:
        client = connect(gone, retries=0)
    with pytest.raises(ServerUnreachable, match=r"no answer from 'http://127\.0\.0\.1:") as caught:
        client.models()
    assert (caught.value.status, caught.value.problems) == (None, ())
    assert caught.value.request_id


def test_models_are_listed(server: Loopback, connect: Connect) -> None:
    server.replies = [reply(wire("models.response"))]
    assert [model.id for model in connect(server).models()] == ["deg-latest", "deg-stand-in"]
    assert server.seen[0].method == "GET"


def test_the_request_id_is_the_one_that_was_sent(server: Loopback, connect: Connect) -> None:
    server.replies = [reply(FILLED)]
    filled = connect(server).fill("order A-17", SCHEMA)
    assert filled.request_id == server.seen[0].headers["x-request-id"]


def test_many_are_answered_in_order_with_errors_in_their_place(
    server: Loopback, connect: Connect
) -> None:
    server.replies = [reply(FILLED)]
    client = connect(server)
    contexts: list[Any] = [
        "order A-17",
        "half \ud800",
        {"text": "A-17"},
        float("nan"),
        *map(str, range(20)),
    ]
    answers = client.fill_many(contexts, SCHEMA, concurrency=4)
    assert [isinstance(answer, DegClientError) for answer in answers[:4]] == [0, 1, 0, 1]
    assert len(answers) == 24
    assert server.most_busy <= 4


def test_many_of_a_type_that_cannot_be_asked_for_are_refused_at_once(
    server: Loopback, connect: Connect
) -> None:
    with pytest.raises(NotSent):
        connect(server).fill_many(["order A-17"], list[str])
    assert not server.seen


def test_nothing_logged_or_raised_holds_the_context(
    server: Loopback, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    server.replies = [reply(FILLED), reply({"detail": []}, 503, x_should_retry="false")]
    with caplog.at_level(logging.DEBUG):
        client = connect(server, api_key="s3cret")
        client.fill("A-17 is private", SCHEMA)
        with pytest.raises(ServerFailed) as caught:
            client.fill("A-17 is private", SCHEMA)
        with pytest.raises(NotSent) as refused:
            client.fill("A-17 is private \ud800", SCHEMA)
    told = caplog.text + repr(caught.value) + repr(refused.value)
    assert "is private" not in told
    assert "s3cret" not in told
