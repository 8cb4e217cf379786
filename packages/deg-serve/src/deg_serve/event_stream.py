"""Responses that come in pieces, as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from deg_runtime import Event, FieldDone, Filled, TextPiece
from deg_serve.answers import error_body
from deg_serve.apis import Api, Call
from deg_serve.disconnect import unless_gone

__all__ = ["EventStream", "wants_events"]

_MEDIA_TYPE = "text/event-stream"
_GONE = 499


def wants_events(headers: Mapping[str, str]) -> bool:
    """Say whether a request asks for its response as events."""
    ranges = headers.get("accept", "").lower().split(",")
    return any(one.partition(";")[0].strip() == _MEDIA_TYPE for one in ranges)


class EventStream(Response):
    """Sends `field` and `text` as they come, and `response` or `error` at last.

    Args:
        api: Says the error.
        call: Makes the response.
        events: Of the engine.
        finished: Called at the end with the status and the usage of the response.
    """

    def __init__(
        self,
        api: Api,
        call: Call,
        events: AsyncGenerator[Event, None],
        finished: Callable[[int, Mapping[str, Any]], None],
    ) -> None:
        # a proxy that holds events back would hold them to the end
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        super().__init__(None, 200, headers, media_type=_MEDIA_TYPE)
        del self.headers["content-length"]
        self._api, self._call, self._events, self._finished = api, call, events, finished
        self._first: Event | None = None

    async def begin(self) -> None:
        """Wait for the first event: what fails before it is still an answer with a status.

        Raises:
            Exception: What the engine or the batcher raises.
        """
        try:
            self._first = await anext(self._events)
        except BaseException:
            await self._events.aclose()
            raise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send everything, or stop the engine when the client hangs up."""
        status: int = _GONE
        usage: Mapping[str, Any] = {}

        async def send_all() -> None:
            nonlocal status, usage
            start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
            await send(start)
            async with aclosing(self._events):
                status, usage = await self._send_events(send)
            await send({"type": "http.response.body", "body": b""})

        try:
            await unless_gone(receive, send_all())
        except (ClientDisconnect, OSError):
            pass
        finally:
            self._finished(status, usage)

    async def _send_events(self, send: Send) -> tuple[int, Mapping[str, Any]]:
        event = self._first
        usage: Mapping[str, Any] = {}
        try:
            while event is not None:
                if isinstance(event, Filled):
                    usage = event.response.get("usage", {})
                await _send(send, *self._spelled(event))
                event = await anext(self._events, None)
        except OSError:
            raise
        except Exception as error:
            status, body = error_body(self._api, error)
            await _send(send, "error", body)
            return status, usage
        return 200, usage

    def _spelled(self, event: Event) -> tuple[str, Mapping[str, Any]]:
        if isinstance(event, FieldDone):
            value = {"value": event.value} if event.has_value else {}
            return "field", {"pointer": event.pointer, "meta": event.meta, **value}
        if isinstance(event, TextPiece):
            return "text", {"pointer": event.pointer, "text": event.text}
        return "response", self._call.answer(event.response)


async def _send(send: Send, name: str, body: Mapping[str, Any]) -> None:
    # JSON has no line breaks of its own, so that one line holds it
    text = b"event: " + name.encode() + b"\ndata: " + msgspec.json.encode(body) + b"\n\n"
    await send({"type": "http.response.body", "body": text, "more_body": True})
