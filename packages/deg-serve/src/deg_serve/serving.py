"""One request from its head to its answer, whichever API it is of."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from deg_serve.answers import error_response, json_response
from deg_serve.apis import Api, Call, ModelNames
from deg_serve.batcher import Batcher
from deg_serve.bodies import BodyKind, receive_body
from deg_serve.disconnect import unless_gone
from deg_serve.errors import TooManyPending
from deg_serve.event_stream import EventStream, wants_events
from deg_serve.keys import Keys
from deg_serve.metrics import Metrics
from deg_serve.reading import Reader
from deg_serve.settings import Settings

__all__ = ["ApiRoute", "Service"]

_GONE = 499

_log = logging.getLogger("deg_serve")


@dataclass(frozen=True, slots=True)
class ApiRoute:
    """A path and what it speaks.

    Attributes:
        path: Of the route.
        name: In the metrics and the log.
        api: Reads the requests, and says the errors.
        missing_key_status: Of the answer to a request without a key.
        forms: Whether the request may be a part of a form.
        streams: Whether the response may come as events.
    """

    path: str
    name: str
    api: Api
    missing_key_status: int = 401
    forms: bool = False
    streams: bool = False


@dataclass(frozen=True, slots=True)
class Service:
    """What the routes of one server share."""

    names: ModelNames
    reader: Reader
    batcher: Batcher
    metrics: Metrics
    settings: Settings
    keys: Keys | None = None

    async def respond(self, route: ApiRoute, request: Request) -> Response:
        """Answer one request, with an error where it fails."""
        start = time.perf_counter()
        try:
            response = await self._answer(route, request, start)
            if isinstance(response, EventStream):
                # it is counted when its last event is sent
                return response
        except ClientDisconnect:
            response = Response(status_code=_GONE)
        except Exception as error:
            response = error_response(route.api, error)
        self._count(route, request, response.status_code, start)
        return response

    def check_key(self, request: Request, *, missing_status: int = 401) -> None:
        """Let a request pass by its key, where the server asks for one.

        Raises:
            NotAllowed: The key is missing or wrong.
        """
        if self.keys is not None:
            self.keys.check(request.headers.get("authorization"), missing_status=missing_status)

    def close(self) -> None:
        """Finish what waits, and let the threads go."""
        # an engine that is stuck would not be done later either
        self.batcher.close(0 if self.batcher.failure else self.settings.timeout)
        self.reader.close()

    async def _answer(self, route: ApiRoute, request: Request, start: float) -> Response:
        self.check_key(request, missing_status=route.missing_key_status)
        kind = BodyKind.of(request.headers, forms=route.forms)
        if self.batcher.num_waiting >= self.batcher.max_pending:
            raise TooManyPending(self.batcher.max_pending)
        bounds = self.settings
        body = await receive_body(request, max_bytes=bounds.max_body, seconds=bounds.body_timeout)
        call = await self.reader.read(route.api, body, kind)
        if call.options.null_margin is None:
            call = replace(call, options=replace(call.options, null_margin=bounds.null_margin))
        if call.schema is None:
            return json_response(call.answer(None))
        if route.streams and wants_events(request.headers):
            return await self._stream(route, request, call, start)
        response = await unless_gone(request.receive, self.batcher.fill(call))
        self.metrics.used(response.get("usage", {}))
        return json_response(call.answer(response))

    async def _stream(
        self, route: ApiRoute, request: Request, call: Call, start: float
    ) -> EventStream:
        def finished(status: int, usage: Mapping[str, Any]) -> None:
            self.metrics.used(usage)
            self._count(route, request, status, start)

        events = self.batcher.stream(call)
        stream = EventStream(route.api, call, events, finished)
        await unless_gone(request.receive, stream.begin())
        return stream

    def _count(self, route: ApiRoute, request: Request, status: int, start: float) -> None:
        seconds = time.perf_counter() - start
        self.metrics.answered(route.name, status, seconds)
        request_id = getattr(request.state, "request_id", "")
        _log.info("%s %d %.1f ms %s", route.name, status, seconds * 1000, request_id)
