"""The client: one method per route of a deg server."""

from __future__ import annotations

from types import TracebackType
from typing import Any, TypeVar

import httpx
import msgspec

from deg_client.errors import (
    MalformedResponse,
    Problem,
    RequestRejected,
    ServerFailed,
    ServerUnreachable,
)
from deg_client.response import Response

__all__ = ["Client"]

Answer = TypeVar("Answer")


class Client:
    """Talk to one deg server; close it, or use it in a `with` block."""

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8790",
        *,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(base_url=base_url, timeout=timeout, transport=transport)

    def fill(
        self,
        context: str | dict[str, Any] | list[Any],
        schema: dict[str, Any],
        *,
        model: str | None = None,
        **options: object,
    ) -> Response:
        """Fill *schema* from *context*.

        Args:
            context: The document: text, or JSON.
            schema: The JSON Schema to fill.
            model: One of `models()`; the server's own when absent.
            options: The request's options, such as `date_order="DMY"`.

        Raises:
            RequestRejected: The schema, the context or an option is outside the contract.
            ServerFailed: The server could not fill the schema.
            ServerUnreachable: No answer came.
        """
        body: dict[str, object] = {"context": context, "schema": schema}
        if model is not None:
            body["model"] = model
        if options:
            body["options"] = options
        return self._ask("POST", "/v1/fill", Response, msgspec.json.encode(body))

    def models(self) -> tuple[str, ...]:
        """Return the model names that the server accepts."""
        listed = self._ask("GET", "/v1/models", _ModelList)
        return tuple(model.id for model in listed.data)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(
        self, method: str, path: str, answer: type[Answer], body: bytes | None = None
    ) -> Answer:
        headers = {"content-type": "application/json"} if body is not None else {}
        try:
            response = self._http.request(method, path, content=body, headers=headers)
        except httpx.TransportError as error:
            url = str(self._http.base_url.join(path))
            raise ServerUnreachable(url, str(error) or type(error).__name__) from error
        if response.is_error:
            kind = RequestRejected if response.is_client_error else ServerFailed
            raise kind(response.status_code, _problems(response))
        return _decode(response, answer)


class _Model(msgspec.Struct):
    id: str


class _ModelList(msgspec.Struct):
    data: list[_Model]


class _Detail(msgspec.Struct):
    detail: list[Problem]


def _problems(response: httpx.Response) -> tuple[Problem, ...]:
    try:
        return tuple(msgspec.json.decode(response.content, type=_Detail).detail)
    except (msgspec.DecodeError, UnicodeDecodeError):
        # a proxy on the way answers in its own words
        return (Problem("", response.text[:200] or response.reason_phrase),)


def _decode(response: httpx.Response, answer: type[Answer]) -> Answer:
    try:
        return msgspec.json.decode(response.content, type=answer)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedResponse(str(response.url), str(error)) from error
