"""The routes: parse and check with deg_schema, wait for the engine, answer."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from deg_model import ContextTooLong, ModelError
from deg_schema import FillError, Problem, RequestError, parse_request
from deg_serve.worker import Engine, TooManyPending, Worker

__all__ = ["MODEL_ALIAS", "create_app"]

MODEL_ALIAS = "deg-latest"
"""The name that always means the loaded model."""

_ANSWERED = (RequestError, FillError, ModelError, TooManyPending)
_log = logging.getLogger("deg_serve")


def create_app(engine: Engine, *, max_pending: int = 256) -> Starlette:
    """Return the server as an ASGI application.

    Args:
        engine: Fills the schemas; only one thread ever calls it.
        max_pending: With this many requests waiting, the next is refused with 429.
    """
    worker = Worker(engine, max_pending=max_pending)
    model_names = (MODEL_ALIAS, engine.model_id)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        worker.close()

    async def fill(request: Request) -> Response:
        parsed = parse_request(await request.body())
        if parsed.model not in model_names:
            message = f"{parsed.model!r} is not loaded here: use one of {', '.join(model_names)}"
            raise RequestError([Problem("/model", message)])
        try:
            return _json(await worker.fill(parsed))
        except _ANSWERED:
            raise
        except Exception as error:
            # starlette would answer it too, but raise on and cost the client its connection
            _log.exception("a fill failed")
            return _mistake(request, error)

    async def models(_request: Request) -> Response:
        listed = [{"id": name, "object": "model"} for name in model_names]
        return _json({"object": "list", "data": listed})

    async def health(_request: Request) -> Response:
        return _json({"status": "ok", "model": engine.model_id, "num_pending": worker.num_pending})

    return Starlette(
        routes=[
            Route("/v1/fill", fill, methods=["POST"]),
            Route("/v1/models", models),
            Route("/health", health),
        ],
        exception_handlers={
            RequestError: _request_error,
            FillError: _fill_error,
            ContextTooLong: _context_too_long,
            ModelError: _model_error,
            TooManyPending: _too_many_pending,
            HTTPException: _http_error,
            Exception: _mistake,
        },
        lifespan=lifespan,
    )


def _request_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return _problems(422, error.problems)


def _fill_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, FillError)
    return _problems(500, [Problem(error.pointer, error.message)])


def _context_too_long(_request: Request, error: Exception) -> Response:
    return _problems(413, [Problem("/context", str(error))])


def _model_error(_request: Request, error: Exception) -> Response:
    return _problems(500, [Problem("", str(error))])


def _too_many_pending(_request: Request, error: Exception) -> Response:
    return _problems(429, [Problem("", str(error))])


def _http_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    response = _problems(error.status_code, [Problem("", error.detail)])
    response.headers.update(error.headers or {})
    return response


def _mistake(_request: Request, _error: Exception) -> Response:
    # what went wrong is ours to mend, and stands in the log alone
    return _problems(500, [Problem("", "the server made a mistake; its log says which")])


def _problems(status: int, problems: Iterable[Problem]) -> Response:
    detail = [{"loc": problem.loc, "msg": problem.msg} for problem in problems]
    return _json({"detail": detail}, status)


def _json(body: Mapping[str, Any], status: int = 200) -> Response:
    return Response(msgspec.json.encode(body), status, media_type="application/json")
