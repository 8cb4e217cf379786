"""The client: one method per route of a deg server."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from types import TracebackType
from typing import Any, TypeVar, Unpack, overload

import httpx

from deg_client.calls import (
    Call,
    Context,
    ModelInfo,
    Options,
    check_concurrency,
    decisions_call,
    fill_call,
    models_call,
    systemone_call,
)
from deg_client.decisions import Decisions
from deg_client.errors import DegClientError
from deg_client.exchange import Exchange
from deg_client.filled import Event, Filled
from deg_client.settings import DEFAULT_TIMEOUT, Settings
from deg_client.stream_exchange import StreamExchange
from deg_client.systemone import SystemOne
from deg_client.target import target_of

__all__ = ["Client"]

Answer = TypeVar("Answer")
Model = TypeVar("Model")
Received = TypeVar("Received")


class Client:
    """Talk to one deg server; close it, or use it in a `with` block.

    Threads may share one: its connections are kept and used again.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        retries: int = 2,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Set what holds for every call.

        Args:
            base_url: The address; without one `DEG_BASE_URL`, or `http://127.0.0.1:8790`.
            api_key: The key; without one `DEG_API_KEY`, or none.
            timeout: The seconds that a call may take in all, its retries and pauses included.
            retries: How often a call is tried again that met no server, or a busy one.
            transport: What carries the bytes, such as an `httpx.HTTPTransport` of your own.

        Raises:
            InvalidSetting: One of them could serve no call.
        """
        self._settings = Settings.read(base_url, api_key, timeout, retries)
        self._http = httpx.Client(transport=transport, verify=self._settings.verify())

    @overload
    def fill(
        self,
        context: Context,
        schema: type[Model],
        *,
        model: str | None = ...,
        timeout: float | None = ...,
        **options: Unpack[Options],
    ) -> Filled[Model]: ...
    @overload
    def fill(
        self,
        context: Context,
        schema: Mapping[str, Any],
        *,
        model: str | None = ...,
        timeout: float | None = ...,
        **options: Unpack[Options],
    ) -> Filled[dict[str, Any]]: ...
    def fill(
        self,
        context: Context,
        schema: type[Any] | Mapping[str, Any],
        *,
        model: str | None = None,
        timeout: float | None = None,
        **options: Unpack[Options],
    ) -> Filled[Any]:
        """Fill *schema* from *context*.

        Args:
            context: The document: text, or JSON.
            schema: A Struct, a dataclass or a TypedDict; or a JSON Schema.
            model: One of `models()`; the server's own when absent.
            timeout: The seconds that this call may take; the client's own when absent.
            options: The request's options, such as `date_order="DMY"`.

        Raises:
            DegClientError: There is no answer; the classes under it say why.
        """
        call = fill_call(context, target_of(schema), model, options)
        return self._ask(call, timeout)

    @overload
    def fill_many(
        self,
        contexts: Iterable[Context],
        schema: type[Model],
        *,
        concurrency: int = ...,
        model: str | None = ...,
        timeout: float | None = ...,
        **options: Unpack[Options],
    ) -> list[Filled[Model] | DegClientError]: ...
    @overload
    def fill_many(
        self,
        contexts: Iterable[Context],
        schema: Mapping[str, Any],
        *,
        concurrency: int = ...,
        model: str | None = ...,
        timeout: float | None = ...,
        **options: Unpack[Options],
    ) -> list[Filled[dict[str, Any]] | DegClientError]: ...
    def fill_many(
        self,
        contexts: Iterable[Context],
        schema: type[Any] | Mapping[str, Any],
        *,
        concurrency: int = 16,
        model: str | None = None,
        timeout: float | None = None,
        **options: Unpack[Options],
    ) -> list[Filled[Any] | DegClientError]:
        """Fill *schema* from each of *contexts*, in their order.

        An error stands in the place of the document that met it; it costs no other its answer.

        Args:
            contexts: The documents.
            schema: As for `fill`.
            concurrency: How many requests are under way at once.
            model: As for `fill`.
            timeout: The seconds for each document, from when its turn comes.
            options: As for `fill`.

        Raises:
            NotSent: The type itself cannot be asked for.
        """
        target = target_of(schema)

        def settle(context: Context) -> Filled[Any] | DegClientError:
            try:
                return self._ask(fill_call(context, target, model, options), timeout)
            except DegClientError as error:
                return error

        with ThreadPoolExecutor(check_concurrency(concurrency), "deg-client") as threads:
            return list(threads.map(settle, contexts))

    @overload
    def stream(
        self,
        context: Context,
        schema: type[Model],
        *,
        model: str | None = ...,
        timeout: float | None = ...,
        **options: Unpack[Options],
    ) -> Generator[Event[Model], None, None]: ...
    @overload
    def stream(
        self,
        context: Context,
        schema: Mapping[str, Any],
        *,
        model: str | None = ...,
        timeout: float | None = ...,
        **options: Unpack[Options],
    ) -> Generator[Event[dict[str, Any]], None, None]: ...
    def stream(
        self,
        context: Context,
        schema: type[Any] | Mapping[str, Any],
        *,
        model: str | None = None,
        timeout: float | None = None,
        **options: Unpack[Options],
    ) -> Generator[Event[Any], None, None]:
        """Fill *schema* from *context*, and yield each field as it is decided.

        The last event is the `Filled` that `fill` returns. Close the generator to stop early.

        Raises:
            DegClientError: There is no answer, or no more of it.
        """
        target = target_of(schema)
        call = fill_call(context, target, model, options)
        return self._events(StreamExchange(call, target, self._settings, timeout))

    def decisions(
        self,
        input: str | Sequence[Mapping[str, Any]],
        questions: Sequence[Mapping[str, Any]],
        *,
        model: str | None = None,
        timeout: float | None = None,
        **options: Unpack[Options],
    ) -> Decisions:
        """Ask *questions* of *input*, as the Decisions API does.

        Raises:
            DegClientError: There is no answer; the classes under it say why.
        """
        return self._ask(decisions_call(input, questions, model, options), timeout)

    def systemone(
        self,
        state: Context,
        questions: Mapping[str, Mapping[str, Any]],
        *,
        model: str | None = None,
        timeout: float | None = None,
        **options: Unpack[Options],
    ) -> SystemOne:
        """Ask *questions* of *state*, as System One does.

        Raises:
            DegClientError: There is no answer; the classes under it say why.
        """
        return self._ask(systemone_call(state, questions, model, options), timeout)

    def models(self, *, timeout: float | None = None) -> tuple[ModelInfo, ...]:
        """Return what the server says of each model name that it accepts."""
        return self._ask(models_call(), timeout)

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

    def __repr__(self) -> str:
        return f"Client({self._settings.base_url!r})"

    def _ask(self, call: Call[Answer], timeout: float | None) -> Answer:
        exchange = Exchange(call, self._settings, timeout)

        def receive(response: httpx.Response) -> Answer:
            return exchange.answer(response, _collect(response, exchange))

        return self._send(exchange, receive)

    def _events(self, exchange: StreamExchange[Model]) -> Generator[Event[Model], None, None]:
        with closing(self._send(exchange, lambda response: response)) as response:
            exchange.begin(response)
            try:
                for piece in response.iter_bytes():
                    yield from exchange.events(piece)
            except httpx.RequestError as error:
                exchange.lost(error)
        exchange.end()

    def _send(
        self, exchange: Exchange[Any], receive: Callable[[httpx.Response], Received]
    ) -> Received:
        while True:
            try:
                response = self._http.send(exchange.request(), stream=True)
                if response.is_success:
                    return receive(response)
                content = _collect(response, exchange)
            except httpx.RequestError as error:
                pause = exchange.pause_after_failure(error)
            else:
                pause = exchange.pause_after_refusal(response, content)
            time.sleep(pause)


def _collect(response: httpx.Response, exchange: Exchange[Any]) -> bytes:
    with closing(response):
        return b"".join(exchange.in_time(piece) for piece in response.iter_bytes())
