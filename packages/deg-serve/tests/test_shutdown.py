from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest


def post(url: str, context: str, wire: Any) -> httpx.Response:
    body = {**wire("fill.request"), "context": context}
    return httpx.post(f"{url}/v1/fill", json=body, timeout=30, trust_env=False)


def pending(url: str) -> dict[str, int]:
    health: dict[str, Any] = httpx.get(f"{url}/health", trust_env=False).json()
    return dict(health["batcher"])


def test_a_termination_finishes_what_waits(process: Any, wire: Any) -> None:
    with process("--port", "0") as server, ThreadPoolExecutor() as pool:
        url = server.url()
        # long enough for the others to arrive while it runs, on a busy machine too
        sent = [pool.submit(post, url, "sleep 3", wire)]
        while not pending(url)["running"]:
            pass
        sent += [pool.submit(post, url, "a", wire) for _ in range(2)]
        while sum(pending(url)[name] for name in ("pending", "running")) < 3:
            pass
        server.running.send_signal(signal.SIGTERM)
        assert server.status() == 0
        assert [one.result().status_code for one in sent] == [200] * 3
        with pytest.raises(httpx.ConnectError):
            post(url, "a", wire)


def test_an_interrupt_does_not_wait_for_what_nobody_waits_for(process: Any, wire: Any) -> None:
    with process("--port", "0", "--timeout", "0.3") as server:
        assert post(server.url(), "sleep 50", wire).status_code == 503
        server.running.send_signal(signal.SIGINT)
        assert server.status() == 0


def test_a_dead_engine_ends_the_process(process: Any, wire: Any) -> None:
    with process("--port", "0") as server:
        assert post(server.url(), "exit", wire).status_code == 503
        assert server.status() == 70
    assert "the engine's thread has ended" in server.log()


def test_a_stuck_engine_ends_the_process(process: Any, wire: Any) -> None:
    with process("--port", "0", "--engine-timeout", "0.3") as server:
        assert post(server.url(), "sleep 50", wire).status_code == 503
        assert server.status() == 70
    assert "stuck" in server.log()
