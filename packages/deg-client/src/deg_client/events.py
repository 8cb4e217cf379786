"""Events of a stream: bytes as they come, in pieces of any length, to what they tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from deg_client.filled import Event, FieldDone, TextPiece
from deg_client.target import Target

__all__ = ["EventLines", "ServerSentEvent", "read_event"]

Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """An event as it stands in the stream."""

    name: str
    content: bytes


class EventLines:
    """Reads server-sent events; what is not whole yet waits for the next piece."""

    def __init__(self) -> None:
        self._rest = b""
        self._name = "message"
        self._lines: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[ServerSentEvent]:
        """Yield the events that *piece* ends."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            yield from self._line(line.removesuffix(b"\r"))

    def _line(self, line: bytes) -> Iterator[ServerSentEvent]:
        if not line:
            if self._lines:
                yield ServerSentEvent(self._name, b"\n".join(self._lines))
            self._name, self._lines = "message", []
            return
        # a comment, which keeps the connection alive, has an empty name
        name, _, text = line.partition(b":")
        text = text.removeprefix(b" ")
        if name == b"event":
            self._name = text.decode(errors="replace")
        elif name == b"data":
            self._lines.append(text)


def read_event(event: ServerSentEvent, target: Target[Model]) -> Event[Model] | None:
    """Return what *event* tells; `None` for one that only a newer client knows."""
    if event.name == "field":
        return _FIELD.decode(event.content)
    if event.name == "text":
        return _TEXT.decode(event.content)
    if event.name == "response":
        return target.decoder.decode(event.content)
    return None


_FIELD = msgspec.json.Decoder(FieldDone)
_TEXT = msgspec.json.Decoder(TextPiece)
