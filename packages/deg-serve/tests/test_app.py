from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from deg_model import ContextTooLong, ModelError
from deg_schema import FillError, compile_schema
from deg_serve import Settings


def test_fill_answers_with_what_the_engine_returns(engine: Any, serve: Any, wire: Any) -> None:
    with serve(engine) as served:
        response = served.http.post("/v1/fill", json=wire("fill.request"))
    assert (response.status_code, response.json()) == (200, wire("fill.response"))
    ((context, schema, options),) = engine.batches[0]
    assert context == wire("fill.request")["context"]
    assert schema == wire("fill.request")["schema"]
    assert options.date_order == "DMY"


def test_the_golden_answer_is_of_the_golden_schema(wire: Any) -> None:
    plan = compile_schema(wire("fill.request")["schema"])
    assert wire("fill.response")["plan"] == plan.fingerprint
    assert list(wire("fill.response")["meta"]) == [field.pointer for field in plan.fields]


def test_a_json_context_reaches_the_engine_rendered(engine: Any, serve: Any) -> None:
    with serve(engine) as served:
        served.fill({"note": "caf\u00e9", "n": 1})
    assert engine.batches[0][0][0] == '{"note": "caf\u00e9", "n": 1}'


def test_the_margin_of_the_server_holds_where_a_request_has_none(
    engine: Any, serve: Any, wire: Any
) -> None:
    request = wire("fill.request")
    with serve(engine, Settings(null_margin=1.5)) as served:
        for options in ({}, {"null_margin": 0.5}, {"null_margin": None}):
            served.http.post("/v1/fill", json=request | {"options": options})
    assert [batch[0][2].null_margin for batch in engine.batches] == [1.5, 0.5, 1.5]


def test_every_problem_is_listed_with_its_place(engine: Any, serve: Any, wire: Any) -> None:
    with serve(engine) as served:
        response = served.http.post("/v1/fill", json=wire("rejected.request"))
    assert (response.status_code, response.json()) == (422, wire("rejected.response"))


DEEP = b'{"context": "a", "x": ' + b"[" * 10_000 + b"]" * 10_000 + b"}"
LONE_SURROGATE = rb'{"context": "\ud800", "schema": {}}'


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"\xff\xfe", b'{"context": "a"}', DEEP, LONE_SURROGATE]
)
def test_a_body_that_is_no_request_is_refused(engine: Any, serve: Any, body: bytes) -> None:
    with serve(engine) as served:
        headers = {"content-type": "application/json"}
        response = served.http.post("/v1/fill", content=body, headers=headers)
    assert response.status_code == 422
    assert all(problem.keys() == {"loc", "msg"} for problem in response.json()["detail"])
    assert engine.batches == []


def test_an_unknown_model_is_refused_with_the_known_ones(
    engine: Any, serve: Any, wire: Any
) -> None:
    with serve(engine) as served:
        response = served.http.post("/v1/fill", json={**wire("fill.request"), "model": "other"})
    assert response.status_code == 422
    message = "'other' is not loaded here: use one of deg-latest, deg-stand-in"
    assert response.json()["detail"] == [{"loc": "/model", "msg": message}]


TOO_LONG = ContextTooLong(9, 3, 2)


@pytest.mark.parametrize(
    ("error", "status", "loc", "message"),
    [
        (FillError("no valid span", "/order_number"), 500, "/order_number", "no valid span"),
        (TOO_LONG, 413, "/context", str(TOO_LONG)),
        (ModelError("weights are damaged"), 500, "", "weights are damaged"),
    ],
)
def test_what_the_engine_says_is_told(
    engine: Any, serve: Any, error: Exception, status: int, loc: str, message: str
) -> None:
    engine.failures["a"] = error
    with serve(engine) as served:
        response = served.fill("a")
    assert response.status_code == status
    assert response.json() == {"detail": [{"loc": loc, "msg": message}]}
    # to ask again for what cannot be done is of no use
    assert response.headers.get("x-should-retry") == ("false" if status == 500 else None)


def test_a_mistake_of_ours_keeps_its_words_in_the_log(
    engine: Any, serve: Any, caplog: pytest.LogCaptureFixture
) -> None:
    engine.failures["a"] = RuntimeError("a secret path")
    with serve(engine) as served:
        response = served.fill("a")
        again = served.fill("b")
    assert (response.status_code, again.status_code) == (500, 200)
    assert response.headers["x-should-retry"] == "false"
    assert "secret" not in response.text
    assert "a secret path" in caplog.text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/v1/fill", 405), ("GET", "/v2/fill", 404), ("POST", "/v1/fill/", 404)],
)
def test_an_unknown_route_answers_in_json(
    engine: Any, serve: Any, method: str, path: str, status: int
) -> None:
    with serve(engine) as served:
        response = served.http.request(method, path)
    assert response.status_code == status
    assert response.json()["detail"][0].keys() == {"loc", "msg"}


def test_models_lists_the_alias_and_the_model(engine: Any, serve: Any, wire: Any) -> None:
    with serve(engine, released=date(2026, 11, 30)) as served:
        assert served.http.get("/v1/models").json() == wire("models.response")


def test_health_tells_of_the_model_and_the_batcher(engine: Any, serve: Any) -> None:
    with serve(engine) as served:
        response = served.http.get("/health")
    assert response.status_code == 200
    assert response.json() == {
        "status": "ok",
        "live": True,
        "ready": True,
        "model": "deg-stand-in",
        "batcher": {"pending": 0, "running": 0, "max_pending": 256},
    }


def test_every_response_carries_an_id(engine: Any, serve: Any) -> None:
    with serve(engine) as served:
        responses = [served.fill("a"), served.http.get("/health"), served.http.get("/nowhere")]
    ids = {response.headers["x-request-id"] for response in responses}
    assert len(ids) == 3
    assert ids == {response.headers["x-typesafe-request-id"] for response in responses}


@pytest.mark.parametrize(("sent", "is_kept"), [("run-7/a:1", True), ("a b", False), ("", False)])
def test_an_id_of_the_client_is_kept_if_it_is_sane(
    engine: Any, serve: Any, sent: str, is_kept: bool
) -> None:
    with serve(engine) as served:
        response = served.http.get("/health", headers={"x-request-id": sent})
    assert (response.headers["x-request-id"] == sent) is is_kept


def test_the_document_and_the_playground_are_served(engine: Any, serve: Any) -> None:
    with serve(engine) as served:
        document = served.http.get("/openapi.json").json()
        page = served.http.get("/")
    assert "/v1/fill" in document["paths"]
    assert page.headers["content-type"].startswith("text/html")
