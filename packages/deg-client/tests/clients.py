"""The client for asyncio in the form of the other, so that one test holds for both."""

from __future__ import annotations

import asyncio
from typing import Any, TypeAlias

from deg_client import AsyncClient, Client


class Blocking:
    """Runs each method of an `AsyncClient` to its end."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        self._client = AsyncClient(*arguments, **settings)
        self._runner = asyncio.Runner()

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        return lambda *arguments, **settings: self._runner.run(method(*arguments, **settings))

    def stream(self, *arguments: Any, **settings: Any) -> Any:
        events = self._client.stream(*arguments, **settings)
        return self._each(events)

    def close(self) -> None:
        self._runner.run(self._client.close())
        self._runner.close()

    def _each(self, events: Any) -> Any:
        try:
            while True:
                try:
                    yield self._runner.run(anext(events))
                except StopAsyncIteration:
                    return
        finally:
            self._runner.run(events.aclose())

    def __repr__(self) -> str:
        return repr(self._client)


AnyClient: TypeAlias = Client | Blocking
