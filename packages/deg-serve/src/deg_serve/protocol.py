"""HTTP/1.1 as uvicorn speaks it, but for heads that do not arrive."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

__all__ = ["BoundedHeads"]

_HEAD_SECONDS = 10.0


class BoundedHeads(H11Protocol):
    """Closes a connection on which the head of a request takes too long."""

    head_seconds = _HEAD_SECONDS
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._watch_head()

    def data_received(self, data: bytes) -> None:
        """Wait on while a head is incomplete."""
        super().data_received(data)
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to wait."""
        self._stop_watch()
        super().connection_lost(exc)

    def _watch_head(self) -> None:
        # there is no cycle before the first request, whatever its annotation says
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            # a request is under way, whose body has a time of its own
            self._stop_watch()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_seconds, self.transport.close)

    def _stop_watch(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
