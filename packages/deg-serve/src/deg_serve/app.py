"""The routes of the server, as an ASGI application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from deg_serve import playground
from deg_serve.answers import error_response, json_response
from deg_serve.apis import ModelNames
from deg_serve.batcher import Batcher, Engine
from deg_serve.decisions import DECISIONS
from deg_serve.errors import Refusal
from deg_serve.fill_api import FILL
from deg_serve.health import health
from deg_serve.keys import Keys
from deg_serve.metrics import Metrics
from deg_serve.models_api import list_models
from deg_serve.openapi import document
from deg_serve.reading import Reader
from deg_serve.request_ids import RequestIds
from deg_serve.serving import ApiRoute, Service
from deg_serve.settings import Settings
from deg_serve.systemone import SYSTEMONE

__all__ = ["create_app"]

_APIS = (
    ApiRoute("/v1/fill", "fill", FILL, streams=True),
    ApiRoute("/v1/decisions", "decisions", DECISIONS),
    ApiRoute("/v1/systemone", "systemone", SYSTEMONE, missing_key_status=403, forms=True),
)
_LOOKS = 0.25

_log = logging.getLogger("deg_serve")


def create_app(
    engine: Engine,
    settings: Settings | None = None,
    *,
    keys: Keys | None = None,
    released: date | None = None,
    on_failure: Callable[[str], None] = lambda reason: None,
) -> Starlette:
    """Return the server as an ASGI application.

    Args:
        engine: Fills the schemas; only one thread ever calls it.
        settings: The bounds; the defaults without them.
        keys: Those that requests may carry; without them nobody needs one.
        released: The day that the model is said to be of; today without it.
        on_failure: Called once with the reason when the engine will answer nothing any more: the
            process is of no use then, and has to end.
    """
    service = _service(engine, settings or Settings(), keys)
    released = released or datetime.now(UTC).date()

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        watch = asyncio.create_task(_watch(service.batcher, on_failure))
        try:
            yield
        finally:
            watch.cancel()
            await asyncio.to_thread(service.close)

    app = Starlette(
        routes=[*_api_routes(service), *_other_routes(service, released)],
        middleware=[Middleware(RequestIds)],
        exception_handlers={HTTPException: _http_error, Exception: _mistake},
        lifespan=lifespan,
    )
    # a path with one slash too many is unknown, and no other place is named to the client
    app.router.redirect_slashes = False
    return app


def _service(engine: Engine, settings: Settings, keys: Keys | None) -> Service:
    metrics = Metrics(lambda: batcher.num_waiting)
    batcher = Batcher(
        engine,
        window=settings.window,
        max_batch=settings.max_batch,
        max_pending=settings.max_pending,
        timeout=settings.timeout,
        engine_timeout=settings.engine_timeout,
        on_batch=metrics.ran,
    )
    names = ModelNames(engine.model_id)
    reader = Reader(names, max_body=settings.max_body, max_pending=settings.max_pending)
    return Service(names, reader, batcher, metrics, settings, keys)


def _api_routes(service: Service) -> list[BaseRoute]:
    return [
        Route(route.path, _endpoint(partial(service.respond, route)), methods=["POST"])
        for route in _APIS
    ]


def _endpoint(
    respond: Callable[[Request], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return await respond(request)

    return endpoint


def _other_routes(service: Service, released: date) -> list[BaseRoute]:
    async def models(request: Request) -> Response:
        try:
            service.check_key(request)
        except Refusal as error:
            return error_response(FILL, error)
        return json_response(list_models(service.names, released))

    async def tell_health(_request: Request) -> Response:
        status, body = health(service.batcher, service.names.served)
        return json_response(body, status)

    async def metrics(_request: Request) -> Response:
        return Response(service.metrics.text(), media_type=service.metrics.media_type)

    described = document(service.names.served)

    async def openapi(_request: Request) -> Response:
        return json_response(described)

    return [
        Route("/v1/models", models),
        Route("/health", tell_health),
        Route("/metrics", metrics),
        Route("/openapi.json", openapi),
        *playground.routes(),
    ]


async def _watch(batcher: Batcher, on_failure: Callable[[str], None]) -> None:
    while not (reason := batcher.failure):
        await asyncio.sleep(_LOOKS)
    _log.critical("%s; nothing more is answered", reason)
    batcher.give_up(reason)
    on_failure(reason)


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    api = {route.path: route.api for route in _APIS}.get(request.url.path, FILL)
    body = api.error(error.status_code, error.detail)
    return json_response(body, error.status_code, error.headers)


def _mistake(_request: Request, error: Exception) -> Response:
    return error_response(FILL, error)
