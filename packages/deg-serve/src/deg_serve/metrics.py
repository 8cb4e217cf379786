"""What the server counts, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

__all__ = ["Metrics"]

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_SIZES = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """The counts of one server.

    Args:
        queue_depth: Says how many requests wait now.
    """

    media_type = CONTENT_TYPE_PLAIN_0_0_4

    def __init__(self, queue_depth: Callable[[], int]) -> None:
        registry = self._registry = CollectorRegistry()
        self._requests = Counter(
            "deg_requests_total", "Requests answered.", ["api", "status"], registry=registry
        )
        self._seconds = Histogram(
            "deg_request_seconds",
            "From the head of a request to the end of its answer.",
            ["api"],
            buckets=_SECONDS,
            registry=registry,
        )
        depth = Gauge("deg_queue_depth", "Requests that wait for the engine.", registry=registry)
        depth.set_function(queue_depth)
        self._batch_size = Histogram(
            "deg_batch_size", "Requests filled together.", buckets=_SIZES, registry=registry
        )
        self._engine_seconds = Counter(
            "deg_engine_seconds_total", "Seconds that the engine worked.", registry=registry
        )
        self._prompt_tokens = Counter(
            "deg_prompt_tokens_total", "Tokens of contexts and questions.", registry=registry
        )
        self._generated_tokens = Counter(
            "deg_generated_tokens_total", "Tokens written.", registry=registry
        )
        self._cached_tokens = Counter(
            "deg_cached_tokens_total", "Tokens that had been read before.", registry=registry
        )

    def answered(self, api: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(api, str(status)).inc()
        self._seconds.labels(api).observe(seconds)

    def ran(self, num_requests: int, seconds: float) -> None:
        """Count a call of the engine."""
        self._batch_size.observe(num_requests)
        self._engine_seconds.inc(seconds)

    def used(self, usage: Mapping[str, Any]) -> None:
        """Count the tokens of a response."""
        self._prompt_tokens.inc(usage.get("prompt_tokens", 0))
        self._generated_tokens.inc(usage.get("generated_tokens", 0))
        self._cached_tokens.inc(usage.get("cached_tokens", 0))

    def text(self) -> bytes:
        """Return every count as Prometheus reads it."""
        return generate_latest(self._registry)
