from __future__ import annotations

import contextlib
import threading
from typing import Any

import httpx
import pytest

from deg_schema import FillError
from deg_serve import Settings


def test_what_waits_together_is_filled_together(engine: Any, serve: Any) -> None:
    engine.gate.clear()
    with serve(engine) as served:
        first = served.start("first")
        served.until(running=1)
        others = [served.start(f"other {index}") for index in range(5)]
        served.until(pending=5)
        engine.gate.set()
        assert {one.result().status_code for one in [first, *others]} == {200}
    assert [len(batch) for batch in engine.batches] == [1, 5]


def test_what_comes_within_the_window_is_filled_together(engine: Any, serve: Any) -> None:
    with serve(engine, Settings(window=10, max_batch=3)) as served:
        for one in [served.start(f"{index}") for index in range(3)]:
            assert one.result().status_code == 200
    assert [len(batch) for batch in engine.batches] == [3]


def test_a_batch_has_a_size(engine: Any, serve: Any) -> None:
    engine.gate.clear()
    with serve(engine, Settings(max_batch=2)) as served:
        served.start("first")
        served.until(running=1)
        for index in range(5):
            served.start(f"{index}")
        served.until(pending=5)
    assert [len(batch) for batch in engine.batches] == [1, 2, 2, 1]


@pytest.mark.parametrize("error", [FillError("no span", "/a"), RuntimeError("broken")])
def test_a_failing_request_fails_alone(engine: Any, serve: Any, error: Exception) -> None:
    engine.gate.clear()
    engine.failures["bad"] = error
    with serve(engine) as served:
        served.start("first")
        served.until(running=1)
        together = {context: served.start(context) for context in ("good", "bad", "fine")}
        served.until(pending=3)
        engine.gate.set()
        status = {context: one.result().status_code for context, one in together.items()}
    assert status == {"good": 200, "bad": 500, "fine": 200}


def test_an_engine_that_forgets_a_response_is_asked_again(engine: Any, serve: Any) -> None:
    fill_many = engine.fill_many
    engine.fill_many = lambda requests: fill_many(requests)[: 1 if len(requests) > 1 else None]
    with serve(engine, Settings(window=10, max_batch=2)) as served:
        assert {one.result().status_code for one in [served.start("a"), served.start("b")]} == {200}


def test_one_thread_owns_the_engine(engine: Any, serve: Any) -> None:
    with serve(engine) as served:
        for _ in range(3):
            served.fill()
    assert engine.threads == {"deg-engine"}


def test_a_full_queue_refuses_the_next_request(engine: Any, serve: Any) -> None:
    engine.gate.clear()
    with serve(engine, Settings(max_pending=1)) as served:
        served.start("running")
        served.until(running=1)
        served.start("waiting")
        served.until(pending=1)
        response = served.fill("refused")
    assert (response.status_code, response.headers["retry-after"]) == (429, "1")
    assert "try again later" in response.json()["detail"][0]["msg"]


def test_a_client_that_hangs_up_is_dropped_before_it_costs(engine: Any, serve: Any) -> None:
    engine.gate.clear()
    with serve(engine) as served:
        first = served.start("first")
        served.until(running=1)
        # a connection of its own, which the timeout closes
        with contextlib.suppress(httpx.ReadTimeout), httpx.Client(base_url=served.url) as hasty:
            served.http, kept = hasty, served.http
            served.fill("gone", timeout=0.2)
        served.http = kept
        served.until(pending=0)
        engine.gate.set()
        assert first.result().status_code == 200
        assert served.fill("next").status_code == 200
    assert [batch[0][0] for batch in engine.batches] == ["first", "next"]


def test_a_request_that_takes_too_long_is_told_to_come_again(engine: Any, serve: Any) -> None:
    engine.gate.clear()
    with serve(engine, Settings(timeout=0.2)) as served:
        response = served.fill("slow")
        engine.gate.set()
        served.until(running=0)
        assert served.fill("next").status_code == 200
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")
    assert "x-should-retry" not in response.headers


def test_an_engine_that_raises_a_timeout_of_its_own_has_failed(engine: Any, serve: Any) -> None:
    engine.failures["a"] = TimeoutError()
    with serve(engine) as served:
        assert served.fill("a").status_code == 500


@pytest.mark.parametrize("error", [StopIteration(), MemoryError()])
def test_no_exception_ends_the_thread(engine: Any, serve: Any, error: Exception) -> None:
    engine.failures["a"] = error
    with serve(engine) as served:
        assert served.fill("a").status_code == 500
        assert served.fill("b").status_code == 200


def test_when_the_thread_dies_everyone_is_told(engine: Any, serve: Any) -> None:
    engine.gate.clear()
    engine.failures["fatal"] = SystemExit(1)
    reasons: list[str] = []
    with serve(engine, on_failure=reasons.append) as served:
        running = served.start("fatal")
        served.until(running=1)
        waiting = served.start("waiting")
        served.until(pending=1)
        engine.gate.set()
        assert running.result().status_code == 503
        assert waiting.result().status_code == 503
        assert served.fill("next").status_code == 503
        health = served.http.get("/health")
        served.wait(lambda: bool(reasons))
    assert health.status_code == 503
    assert (health.json()["live"], health.json()["ready"]) == (False, False)
    assert reasons == ["the engine's thread has ended"]


def test_an_engine_that_is_stuck_is_given_up(engine: Any, serve: Any) -> None:
    engine.gate.clear()
    failed = threading.Event()
    settings = Settings(engine_timeout=0.2)
    with serve(engine, settings, on_failure=lambda reason: failed.set()) as served:
        running = served.start("stuck")
        assert running.result().status_code == 503
        assert failed.wait(10)
        assert served.http.get("/health").status_code == 503
