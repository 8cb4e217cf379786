"""One call whose answer comes as events, whoever carries the bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import httpx
import msgspec

from deg_client.calls import Call
from deg_client.errors import ServerFailed
from deg_client.events import EventLines, ServerSentEvent, read_event
from deg_client.exchange import Exchange
from deg_client.filled import Event, Filled
from deg_client.settings import Settings
from deg_client.target import Target

__all__ = ["StreamExchange"]

Model = TypeVar("Model")

_EVENTS = "text/event-stream"


class StreamExchange(Exchange[Filled[Model]]):
    """Says what each piece of the answer tells; once it has begun, nothing is tried again."""

    accept = _EVENTS

    def __init__(
        self,
        call: Call[Filled[Model]],
        target: Target[Model],
        settings: Settings,
        timeout: float | None,
    ) -> None:
        super().__init__(call, settings, timeout)
        self._target = target
        self._lines = EventLines()
        self._is_done = False

    def begin(self, response: httpx.Response) -> None:
        """Check that *response* is a stream.

        Raises:
            MalformedResponse: It is something else.
        """
        self._take_id(response)
        given = response.headers.get("content-type", "nothing")
        if given.partition(";")[0].strip().lower() != _EVENTS:
            self.malformed(f"it sent {given}, not {_EVENTS}")

    def events(self, piece: bytes) -> Iterator[Event[Model]]:
        """Yield what *piece* tells.

        Raises:
            DeadlineExceeded: The time is up.
            ServerFailed: The server could not go on.
            MalformedResponse: It is no event of a deg server.
        """
        for event in self._lines.feed(self.in_time(piece)):
            if (told := self._read(event)) is not None:
                yield told

    def end(self) -> None:
        """Check that the stream was whole.

        Raises:
            MalformedResponse: It ended before the response.
        """
        if not self._is_done:
            self.malformed("the stream ended before the response")

    def _read(self, event: ServerSentEvent) -> Event[Model] | None:
        if event.name == "error":
            self.refused(ServerFailed, 200, event.content)
        try:
            told = read_event(event, self._target)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self.malformed(str(error), error)
        if isinstance(told, Filled):
            self._is_done = True
            return self._with_id(told)
        return told
