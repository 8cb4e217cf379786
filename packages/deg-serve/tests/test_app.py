from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from deg_model import ContextTooLong, ModelError
from deg_schema import FillError, Options, compile_schema
from deg_serve import Engine, create_app

WIRE = Path(__file__).parents[3] / "wire"


def wire(name: str) -> Any:
    return json.loads((WIRE / f"{name}.json").read_text())


class StandIn:
    """Answers with the golden response, or fails as it is told to."""

    model_id = "deg-stand-in"

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.seen: list[tuple[str, Mapping[str, Any], Options]] = []
        self.threads: set[str] = set()

    def fill(
        self, context: str, schema: Mapping[str, Any], *, options: Options
    ) -> Mapping[str, Any]:
        self.threads.add(threading.current_thread().name)
        self.seen.append((context, schema, options))
        if self.error is not None:
            raise self.error
        response: Mapping[str, Any] = wire("fill.response")
        return response


@contextmanager
def serving(engine: Engine, *, max_pending: int = 8) -> Iterator[httpx.Client]:
    app = create_app(engine, max_pending=max_pending)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="on"))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        # the socket listens already, so that a request waits for the server to start
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with httpx.Client(base_url=url, timeout=10, trust_env=False) as http:
            yield http
    finally:
        server.should_exit = True
        thread.join()


def test_fill_answers_with_what_the_engine_returns() -> None:
    engine = StandIn()
    with serving(engine) as http:
        response = http.post("/v1/fill", json=wire("fill.request"))
    assert (response.status_code, response.json()) == (200, wire("fill.response"))
    context, schema, options = engine.seen[0]
    assert context == wire("fill.request")["context"]
    assert schema == wire("fill.request")["schema"]
    assert options.date_order == "DMY"


def test_the_golden_answer_is_of_the_golden_schema() -> None:
    plan = compile_schema(wire("fill.request")["schema"])
    assert wire("fill.response")["plan"] == plan.fingerprint
    assert list(wire("fill.response")["meta"]) == [field.pointer for field in plan.fields]


def test_a_json_context_reaches_the_engine_rendered() -> None:
    engine = StandIn()
    with serving(engine) as http:
        http.post(
            "/v1/fill", json={**wire("fill.request"), "context": {"note": "caf\u00e9", "n": 1}}
        )
    assert engine.seen[0][0] == '{"note": "caf\u00e9", "n": 1}'


def test_every_problem_is_listed_with_its_place() -> None:
    with serving(StandIn()) as http:
        response = http.post("/v1/fill", json=wire("rejected.request"))
    assert (response.status_code, response.json()) == (422, wire("rejected.response"))


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff\xfe", b'{"context": "a"}'])
def test_a_body_that_is_no_request_is_refused(body: bytes) -> None:
    engine = StandIn()
    with serving(engine) as http:
        response = http.post("/v1/fill", content=body)
    assert response.status_code == 422
    assert all(problem.keys() == {"loc", "msg"} for problem in response.json()["detail"])
    assert engine.seen == []


def test_an_unknown_model_is_refused_with_the_known_ones() -> None:
    with serving(StandIn()) as http:
        response = http.post("/v1/fill", json={**wire("fill.request"), "model": "other"})
    assert response.status_code == 422
    assert response.json()["detail"] == [
        {
            "loc": "/model",
            "msg": "'other' is not loaded here: use one of deg-latest, deg-stand-in",
        }
    ]


def test_a_value_that_cannot_be_filled_is_an_error_of_the_server() -> None:
    with serving(StandIn(FillError("no valid span", "/order_number"))) as http:
        response = http.post("/v1/fill", json=wire("fill.request"))
    assert response.status_code == 500
    assert response.json() == {"detail": [{"loc": "/order_number", "msg": "no valid span"}]}


@pytest.mark.parametrize(
    ("error", "status", "problem"),
    [
        (
            ContextTooLong(9, 3, 2),
            413,
            {"loc": "/context", "msg": str(ContextTooLong(9, 3, 2))},
        ),
        (ModelError("weights are damaged"), 500, {"loc": "", "msg": "weights are damaged"}),
    ],
)
def test_a_failure_of_the_model_is_told(
    error: Exception, status: int, problem: dict[str, str]
) -> None:
    with serving(StandIn(error)) as http:
        response = http.post("/v1/fill", json=wire("fill.request"))
    assert (response.status_code, response.json()) == (status, {"detail": [problem]})


def test_a_mistake_of_ours_keeps_its_words_in_the_log() -> None:
    with serving(StandIn(RuntimeError("a secret path"))) as http:
        response = http.post("/v1/fill", json=wire("fill.request"))
        again = http.get("/health")
    assert (response.status_code, again.status_code) == (500, 200)
    assert response.json()["detail"][0]["loc"] == ""
    assert "secret" not in response.text
    assert "Traceback" not in response.text


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/v1/fill", 405), ("GET", "/v2/fill", 404)]
)
def test_an_unknown_route_answers_in_json(method: str, path: str, status: int) -> None:
    with serving(StandIn()) as http:
        response = http.request(method, path)
    assert response.status_code == status
    assert response.json()["detail"][0].keys() == {"loc", "msg"}


def test_one_thread_owns_the_engine() -> None:
    engine = StandIn()
    with serving(engine) as http:
        for _ in range(3):
            http.post("/v1/fill", json=wire("fill.request"))
    assert engine.threads == {"deg-engine_0"}


def test_a_full_queue_refuses_the_next_request() -> None:
    with serving(StandIn(), max_pending=0) as http:
        response = http.post("/v1/fill", json=wire("fill.request"))
    assert response.status_code == 429
    assert "try again later" in response.json()["detail"][0]["msg"]


def test_models_lists_the_alias_and_the_model() -> None:
    with serving(StandIn()) as http:
        assert http.get("/v1/models").json() == wire("models.response")


def test_health_names_the_model() -> None:
    with serving(StandIn()) as http:
        health = http.get("/health").json()
    assert health == {"status": "ok", "model": "deg-stand-in", "num_pending": 0}
