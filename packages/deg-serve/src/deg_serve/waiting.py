"""A request between the event loop, where someone waits for it, and the thread of the engine."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import Any

from deg_runtime import Event
from deg_schema import Options
from deg_serve.apis import Call

__all__ = ["Waiting", "WaitingFill", "WaitingStream"]


class Waiting(ABC):
    """A request and where its outcome goes.

    Attributes:
        request: What the engine is asked.
        since: When it came, on `time.monotonic`.
        is_gone: Set when nobody waits for it any more.
    """

    def __init__(self, call: Call) -> None:
        assert call.schema is not None
        self.request: tuple[str, Mapping[str, Any], Options]
        self.request = (call.context, call.schema, call.options)
        self.since = time.monotonic()
        self.is_gone = False

    @abstractmethod
    def fail(self, error: Exception) -> None:
        """Tell who waits that there is no response."""


class WaitingFill(Waiting):
    """A request whose response comes as a whole."""

    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self.response: Future[dict[str, Any]] = Future()

    def finish(self, response: dict[str, Any] | Exception) -> None:
        """Hand over the response, or the reason that there is none."""
        if isinstance(response, Exception):
            self.fail(response)
            return
        with suppress(InvalidStateError):
            self.response.set_result(response)

    def fail(self, error: Exception) -> None:
        """Hand over the reason that there is no response."""
        # who gave up meanwhile has cancelled it
        with suppress(InvalidStateError):
            self.response.set_exception(error)


class WaitingStream(Waiting):
    """A request whose events come one by one; `None` ends them."""

    def __init__(self, call: Call, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(call)
        self.events: asyncio.Queue[Event | Exception | None] = asyncio.Queue()
        self._loop = loop

    def put(self, event: Event | Exception | None) -> None:
        """Hand over the next event from the thread of the engine."""
        try:
            self._loop.call_soon_threadsafe(self.events.put_nowait, event)
        except RuntimeError:
            # the loop has been closed, and with it everyone who waited
            self.is_gone = True

    def fail(self, error: Exception) -> None:
        """Hand over the reason that no more events come."""
        self.put(error)
