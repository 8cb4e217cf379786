"""Bodies of answers, and the status that every kind of failure has."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.responses import Response

from deg_model import ContextTooLong
from deg_schema import DegError, FillError, RequestError, SchemaError
from deg_serve.apis import Api, ApiError
from deg_serve.errors import EngineFailed, Refusal

__all__ = ["error_body", "error_response", "json_response"]

_PERMANENT = {"x-should-retry": "false"}
_MISTAKE = "the server made a mistake; its log says which"

_log = logging.getLogger("deg_serve")


def json_response(
    body: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a response whose body is JSON."""
    return Response(msgspec.json.encode(body), status, headers, media_type="application/json")


def error_response(api: Api, error: Exception) -> Response:
    """Return the response that tells of *error* in the shape of *api*."""
    status, body = error_body(api, error)
    headers = error.headers if isinstance(error, Refusal) else _PERMANENT if status == 500 else None
    return json_response(body, status, headers)


def error_body(api: Api, error: Exception) -> tuple[int, dict[str, Any]]:
    """Return the status and the body that tell of *error* in the shape of *api*."""
    if isinstance(error, ApiError):
        return error.status, error.body
    if isinstance(error, Refusal):
        return error.status, api.error(error.status, str(error), code=error.code)
    if isinstance(error, FillError):
        return 500, api.error(500, error.message, loc=error.pointer)
    if isinstance(error, ContextTooLong):
        return 413, api.error(413, str(error), loc="/context")
    if isinstance(error, (RequestError, SchemaError)):
        return 422, api.error(422, str(error))
    if isinstance(error, DegError):
        return 500, api.error(500, str(error))
    if not isinstance(error, EngineFailed):
        # what the engine raised is in the log already
        _log.error("a request failed", exc_info=error)
    # what went wrong is ours to mend, and stands in the log alone
    return 500, api.error(500, _MISTAKE)
