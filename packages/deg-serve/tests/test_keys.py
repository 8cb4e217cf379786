from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deg_serve import Keys


@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        (None, 401),
        ("", 401),
        ("Bearer", 401),
        ("Basic b25l", 401),
        ("Bearer three", 401),
        ("Bearer on\u00eb", 401),
        ("Bearer one", 200),
        ("bearer  two", 200),
    ],
)
def test_a_request_needs_one_of_the_keys(
    engine: Any, serve: Any, authorization: str | None, status: int
) -> None:
    headers = {} if authorization is None else {"authorization": authorization.encode()}
    with serve(engine, keys=Keys(["one", "two"])) as served:
        response = served.fill("a", headers=headers)
        models = served.http.get("/v1/models", headers=headers)
    assert (response.status_code, models.status_code) == (status, status)
    assert len(engine.batches) == (status == 200)
    if status == 401:
        assert response.headers["www-authenticate"] == "Bearer"
        assert response.json()["detail"][0]["loc"] == ""


@pytest.mark.parametrize("path", ["/health", "/metrics", "/", "/openapi.json"])
def test_what_tells_nothing_needs_no_key(engine: Any, serve: Any, path: str) -> None:
    with serve(engine, keys=Keys(["one"])) as served:
        assert served.http.get(path).status_code == 200


def test_without_keys_any_is_ignored(engine: Any, serve: Any) -> None:
    with serve(engine) as served:
        assert served.fill("a", headers={"authorization": "Bearer any"}).status_code == 200


def test_a_key_is_checked_before_the_body_is_read(engine: Any, serve: Any) -> None:
    with serve(engine, keys=Keys(["one"])) as served:
        response = served.http.post("/v1/fill", content=b"x" * (32 << 20))
    assert response.status_code == 401


def test_a_file_has_one_key_a_line(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text("# of the team\none\n\n  two  \n")
    keys = Keys.read(path)
    assert len(keys) == 2
    keys.check("Bearer two")


def test_commas_separate_keys() -> None:
    keys = Keys.parse("one, two,,")
    assert len(keys) == 2
    keys.check("Bearer two")


@pytest.mark.parametrize(
    ("path", "missing", "wrong"), [("/v1/decisions", 401, 401), ("/v1/systemone", 403, 401)]
)
def test_every_api_says_so_in_its_own_way(
    engine: Any, serve: Any, path: str, missing: int, wrong: int
) -> None:
    with serve(engine, keys=Keys(["one"])) as served:
        without = served.http.post(path, json={})
        other = served.http.post(path, json={}, headers={"authorization": "Bearer two"})
        right = served.http.post(path, json={}, headers={"authorization": "Bearer one"})
    assert (without.status_code, other.status_code) == (missing, wrong)
    assert right.status_code in (400, 422)
    member = "error" if path == "/v1/decisions" else "detail"
    assert "message" in without.json()[member]
