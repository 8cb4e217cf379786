from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import pytest

from deg_client import (
    Client,
    FieldMeta,
    MalformedResponse,
    Problem,
    RequestRejected,
    ServerFailed,
    ServerUnreachable,
)

SCHEMA = {"type": "object", "properties": {"order_id": {"type": "string"}}}
FILLED = {
    "model": "deg-test",
    "value": {"order_id": "A-17", "count": 10**30},
    "meta": {"/order_id": {"mode": "extract.span", "confidence": 0.875, "span": [6, 10]}},
    "usage": {"prompt_tokens": 12, "generated_tokens": 0},
    "plan": "f00d",
}


def client(answer: Callable[[httpx.Request], httpx.Response]) -> Client:
    return Client("http://deg.test", transport=httpx.MockTransport(answer))


def test_fill_returns_a_typed_response() -> None:
    with client(lambda _: httpx.Response(200, json=FILLED)) as deg:
        response = deg.fill("order A-17", SCHEMA)
    assert response.value == {"order_id": "A-17", "count": 10**30}
    assert response.meta["/order_id"] == FieldMeta(
        mode="extract.span", confidence=0.875, span=(6, 10)
    )
    assert response.usage.prompt_tokens == 12


def test_fill_sends_only_what_was_given() -> None:
    bodies = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        return httpx.Response(200, json=FILLED)

    with client(answer) as deg:
        deg.fill("order A-17", SCHEMA)
        deg.fill({"text": "order A-17"}, SCHEMA, model="deg-test", date_order="DMY", seed=None)
    assert bodies[0] == {"context": "order A-17", "schema": SCHEMA}
    assert bodies[1]["model"] == "deg-test"
    assert bodies[1]["options"] == {"date_order": "DMY", "seed": None}


def test_a_rejected_request_carries_every_problem() -> None:
    detail = [{"loc": "/schema", "msg": "no type"}, {"loc": "", "msg": "no context"}]
    with (
        client(lambda _: httpx.Response(422, json={"detail": detail})) as deg,
        pytest.raises(RequestRejected, match="/schema: no type\n\\(root\\): no context") as caught,
    ):
        deg.fill("order A-17", SCHEMA)
    assert caught.value.status == 422
    assert caught.value.problems == (Problem("/schema", "no type"), Problem("", "no context"))


@pytest.mark.parametrize("body", [b"upstream is down", b"\xff\xfe", b'{"detail": "no"}', b""])
def test_an_error_in_other_words_is_still_told(body: bytes) -> None:
    with (
        client(lambda _: httpx.Response(502, content=body)) as deg,
        pytest.raises(ServerFailed) as caught,
    ):
        deg.fill("order A-17", SCHEMA)
    assert caught.value.problems[0].msg


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"model": 1}', b"\xff"])
def test_an_answer_of_something_else_is_refused(body: bytes) -> None:
    with (
        client(lambda _: httpx.Response(200, content=body)) as deg,
        pytest.raises(MalformedResponse, match="http://deg.test/v1/fill"),
    ):
        deg.fill("order A-17", SCHEMA)


def test_no_server_names_the_address() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("connection refused", request=request)

    with client(answer) as deg, pytest.raises(ServerUnreachable, match="http://deg.test/v1/models"):
        deg.models()


def test_models_are_listed_by_name() -> None:
    listed = {"object": "list", "data": [{"id": "deg-test", "object": "model"}]}
    with client(lambda _: httpx.Response(200, json=listed)) as deg:
        assert deg.models() == ("deg-test",)
