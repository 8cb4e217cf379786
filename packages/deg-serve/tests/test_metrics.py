from __future__ import annotations

from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from deg_serve.metrics import Metrics


def samples(text: str) -> dict[tuple[str, str], float]:
    return {
        (sample.name, "/".join(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_requests_tokens_and_batches_are_counted(engine: Any, serve: Any, wire: Any) -> None:
    with serve(engine) as served:
        served.fill("a")
        served.fill("a")
        served.http.post("/v1/fill", json=wire("rejected.request"))
        response = served.http.get("/metrics")
    found = samples(response.text)
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert found["deg_requests_total", "fill/200"] == 2
    assert found["deg_requests_total", "fill/422"] == 1
    assert found["deg_request_seconds_count", "fill"] == 3
    assert found["deg_batch_size_sum", ""] == 2
    assert found["deg_prompt_tokens_total", ""] == 2 * 61
    assert found["deg_queue_depth", ""] == 0


def test_a_stream_is_counted_with_its_tokens(engine: Any, serve: Any) -> None:
    with serve(engine) as served:
        served.fill("a", headers={"accept": "text/event-stream"})
        found = samples(served.http.get("/metrics").text)
    assert found["deg_requests_total", "fill/200"] == 1
    assert found["deg_prompt_tokens_total", ""] == 61


def test_the_depth_of_the_queue_is_asked_for_each_time() -> None:
    depth = [3]
    metrics = Metrics(lambda: depth[0])
    assert samples(metrics.text().decode())["deg_queue_depth", ""] == 3
    depth[0] = 1
    assert samples(metrics.text().decode())["deg_queue_depth", ""] == 1


def test_tokens_that_were_read_before_are_counted() -> None:
    metrics = Metrics(lambda: 0)
    metrics.used({"prompt_tokens": 9, "cached_tokens": 4, "generated_tokens": 2})
    found = samples(metrics.text().decode())
    assert found["deg_cached_tokens_total", ""] == 4
    assert found["deg_generated_tokens_total", ""] == 2
