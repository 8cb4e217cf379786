"""What users of comparable servers reported as wrong, in small inputs of our own."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx
import pytest
import uvicorn

from deg_schema import Options
from deg_serve import create_app

DEPTH = 10_000
NEST = "[" * DEPTH + "]" * DEPTH
LONE = "\\ud800"
SCHEMA = '{"type": "object", "properties": {"a": {"type": "boolean"}}}'


class Unasked:
    """An engine that no request here gets to."""

    model_id = "deg-stand-in"

    def fill_many(
        self, requests: Sequence[tuple[str, Mapping[str, Any], Options]]
    ) -> list[dict[str, Any]]:
        raise AssertionError("a request that is not in order was let through")

    def stream(self, context: str, schema: Mapping[str, Any], *, options: Options) -> Iterator[Any]:
        raise AssertionError("a request that is not in order was let through")


@pytest.fixture(scope="module")
def http() -> Iterator[httpx.Client]:
    app = create_app(Unasked())
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="on"))
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with httpx.Client(base_url=url, timeout=30, trust_env=False) as client:
        yield client
    server.should_exit = True
    thread.join()


def post(http: httpx.Client, path: str, body: str) -> httpx.Response:
    # what is sent here is no text that a JSON library would write
    return http.post(path, content=body, headers={"content-type": "application/json"})


BODIES = {
    "/v1/fill": '{{"context": "a", "schema": {schema}, "note": {value}}}',
    "/v1/decisions": '{{"model": "deg-latest", "input": "a", "note": {value}, "questions": '
    '[{{"type": "predicate", "instructions": "b"}}]}}',
    "/v1/systemone": '{{"model": "deg-latest", "state": "a", "note": {value}, "questions": '
    '{{"q": {{"type": "noul", "instructions": "b"}}}}}}',
}


@pytest.mark.parametrize(("path", "body"), BODIES.items())
def test_an_unknown_field_that_nests_deep_is_refused(
    http: httpx.Client, path: str, body: str
) -> None:
    response = post(http, path, body.format(schema=SCHEMA, value=NEST))
    assert response.status_code in (400, 422)
    assert http.get("/health").status_code == 200


@pytest.mark.parametrize(
    ("loc", "context", "schema"),
    [
        ("/context", LONE, SCHEMA),
        ("/schema/properties/a/enum", "a", '{"a": {"enum": ["b", "LONE"]}}'),
        ("/schema/properties", "a", '{"LONE": {"type": "boolean"}}'),
        (
            "/schema/properties/a/description",
            "a",
            '{"a": {"type": "string", "description": "LONE"}}',
        ),
    ],
)
def test_half_of_a_character_is_a_problem_with_its_place(
    http: httpx.Client, loc: str, context: str, schema: str
) -> None:
    if schema != SCHEMA:
        schema = f'{{"type": "object", "properties": {schema.replace("LONE", LONE)}}}'
    response = post(http, "/v1/fill", f'{{"context": "{context}", "schema": {schema}}}')
    assert response.status_code == 422
    # the answer itself is text that any client can read
    problems = json.loads(response.content.decode("utf-8"))["detail"]
    assert any(problem["loc"].startswith(loc) for problem in problems), problems


DECISION = """{"model": "deg-latest", "input": "%s", "questions": [
    {"type": "predicate", "instructions": "%s", "name": "%s"}]}"""
SYSTEM_ONE = """{"model": "deg-latest", "state": "%s", "questions": {
    "a": {"type": "choice", "instructions": "%s", "criteria": {"b": null, "%s": null}}}}"""


@pytest.mark.parametrize("body", [DECISION, SYSTEM_ONE])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_half_of_a_character_is_a_problem_of_every_api(
    http: httpx.Client, body: str, place: int
) -> None:
    texts = ["c", "d", "e"]
    texts[place] = LONE
    path = "/v1/decisions" if body == DECISION else "/v1/systemone"
    response = post(http, path, body % tuple(texts))
    assert response.status_code == (400 if body == DECISION else 422)
    json.loads(response.content.decode("utf-8"))
