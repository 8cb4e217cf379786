from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx


def slow_schema() -> dict[str, Any]:
    """Return a schema of a kilobyte that stands for more parts than are taken."""
    nested: dict[str, Any] = {"d0": {"type": "object", "properties": {"a": {"type": "boolean"}}}}
    for depth in range(1, 12):
        properties = {name: {"$ref": f"#/$defs/d{depth - 1}"} for name in "ab"}
        nested[f"d{depth}"] = {"type": "object", "properties": properties}
    return {"type": "object", "$defs": nested, "properties": {"a": {"$ref": "#/$defs/d11"}}}


def test_health_answers_at_once_while_the_engine_and_the_reader_work(
    process: Any, wire: Any
) -> None:
    busy = {**wire("fill.request"), "context": "work 5"}
    slow = {"context": "a", "schema": slow_schema()}
    with process("--port", "0") as server:
        limits = httpx.Timeout(30)
        with (
            httpx.Client(base_url=server.url(), timeout=limits, trust_env=False) as http,
            ThreadPoolExecutor(16) as pool,
        ):
            bodies = [busy] + [slow] * 6
            sent = [pool.submit(http.post, "/v1/fill", json=body) for body in bodies]
            seconds = []
            while not all(one.done() for one in sent):
                start = time.perf_counter()
                assert http.get("/health").status_code == 200
                seconds.append(time.perf_counter() - start)
            assert [one.result().status_code for one in sent] == [200] + [422] * 6
    assert sorted(seconds)[len(seconds) // 2] < 0.05
