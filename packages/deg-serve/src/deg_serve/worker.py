"""The one thread that owns the engine: requests wait for it in the order they came."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from deg_schema import FillRequest, Options

__all__ = ["Engine", "TooManyPending", "Worker"]


class Engine(Protocol):
    """What the server needs of the runtime."""

    @property
    def model_id(self) -> str:
        """The name of the loaded model."""

    def fill(
        self, context: str, schema: Mapping[str, Any], *, options: Options
    ) -> Mapping[str, Any]:
        """Fill *schema* from *context* and return the whole response."""


class TooManyPending(Exception):
    """As many requests wait as the worker takes."""

    def __init__(self, max_pending: int) -> None:
        super().__init__(f"{max_pending} requests are waiting already: try again later")
        self.max_pending = max_pending


class Worker:
    """Runs requests on the engine, one at a time."""

    def __init__(self, engine: Engine, *, max_pending: int) -> None:
        self._engine = engine
        self._max_pending = max_pending
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="deg-engine")
        self.num_pending = 0

    async def fill(self, request: FillRequest) -> Mapping[str, Any]:
        """Fill one request when its turn comes.

        Raises:
            TooManyPending: The queue is full.
        """
        if self.num_pending >= self._max_pending:
            raise TooManyPending(self._max_pending)
        self.num_pending += 1
        try:
            return await asyncio.wrap_future(self._thread.submit(self._run, request))
        finally:
            self.num_pending -= 1

    def close(self) -> None:
        """Let the running request end and drop the waiting ones."""
        self._thread.shutdown(cancel_futures=True)

    def _run(self, request: FillRequest) -> Mapping[str, Any]:
        return self._engine.fill(request.context, request.schema, options=request.options)
