"""The client for asyncio: the methods of `Client`, to be awaited."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import aclosing
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

__all__ = ["AsyncClient"]

Answer = TypeVar("Answer")
Model = TypeVar("Model")
Received = TypeVar("Received")


class AsyncClient:
    """Talk to one deg server; close it, or use it in an `async with` block.

    The tasks of one event loop may share one: its connections are kept and used again.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        retries: int = 2,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Set what holds for every call.

        Args:
            base_url: The address; without one `DEG_BASE_URL`, or `http://127.0.0.1:8790`.
            api_key: The key; without one `DEG_API_KEY`, or none.
            timeout: The seconds that a call may take in all, its retries and pauses included.
            retries: How often a call is tried again that met no server, or a busy one.
            transport: What carries the bytes, such as an `httpx.AsyncHTTPTransport` of your own.

        Raises:
            InvalidSetting: One of them could serve no call.
        """
        self._settings = Settings.read(base_url, api_key, timeout, retries)
        self._http = httpx.AsyncClient(transport=transport, verify=self._settings.verify())

    @overload
    async def fill(
        self,
        context: Context,
        schema: type[Model],
        *,
        model: str | None = ...,
        timeout: float | None = ...,
        **options: Unpack[Options],
    ) -> Filled[Model]: ...
    @overload
    async def fill(
        self,
        context: Context,
        schema: Mapping[str, Any],
        *,
        model: str | None = ...,
        timeout: float | None = ...,
        **options: Unpack[Options],
    ) -> Filled[dict[str, Any]]: ...
    async def fill(
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
        return await self._ask(call, timeout)

    @overload
    async def fill_many(
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
    async def fill_many(
        self,
        contexts: Iterable[Context],
        schema: Mapping[str, Any],
        *,
        concurrency: int = ...,
        model: str | None = ...,
        timeout: float | None = ...,
        **options: Unpack[Options],
    ) -> list[Filled[dict[str, Any]] | DegClientError]: ...
    async def fill_many(
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
        waiting = enumerate(contexts)
        answers: dict[int, Filled[Any] | DegClientError] = {}

        async def work() -> None:
            # each worker takes the next document when it is done with one
            for index, context in waiting:
                try:
                    call = fill_call(context, target, model, options)
                    filled: Filled[Any] = await self._ask(call, timeout)
                    answers[index] = filled
                except DegClientError as error:
                    answers[index] = error

        async with asyncio.TaskGroup() as workers:
            for _ in range(check_concurrency(concurrency)):
                workers.create_task(work())
        return [answers[index] for index in range(len(answers))]

    @overload
    def stream(
        self,
        context: Context,
        schema: type[Model],
        *,
        model: str | None = ...,
        timeout: float | None = ...,
        **options: Unpack[Options],
    ) -> AsyncGenerator[Event[Model], None]: ...
    @overload
    def stream(
        self,
        context: Context,
        schema: Mapping[str, Any],
        *,
        model: str | None = ...,
        timeout: float | None = ...,
        **options: Unpack[Options],
    ) -> AsyncGenerator[Event[dict[str, Any]], None]: ...
    def stream(
        self,
        context: Context,
        schema: type[Any] | Mapping[str, Any],
        *,
        model: str | None = None,
        timeout: float | None = None,
        **options: Unpack[Options],
    ) -> AsyncGenerator[Event[Any], None]:
        """Fill *schema* from *context*, and yield each field as it is decided.

        The last event is the `Filled` that `fill` returns. Close the generator to stop early.

        Raises:
            DegClientError: There is no answer, or no more of it.
        """
        target = target_of(schema)
        call = fill_call(context, target, model, options)
        return self._events(StreamExchange(call, target, self._settings, timeout))

    async def decisions(
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
        return await self._ask(decisions_call(input, questions, model, options), timeout)

    async def systemone(
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
        return await self._ask(systemone_call(state, questions, model, options), timeout)

    async def models(self, *, timeout: float | None = None) -> tuple[ModelInfo, ...]:
        """Return what the server says of each model name that it accepts."""
        return await self._ask(models_call(), timeout)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({self._settings.base_url!r})"

    async def _ask(self, call: Call[Answer], timeout: float | None) -> Answer:
        exchange = Exchange(call, self._settings, timeout)

        async def receive(response: httpx.Response) -> Answer:
            return exchange.answer(response, await _collect(response))

        return await self._send(exchange, receive)

    async def _events(self, exchange: StreamExchange[Model]) -> AsyncGenerator[Event[Model], None]:
        async with aclosing(await self._send(exchange, _unread)) as response:
            exchange.begin(response)
            pieces = response.aiter_bytes()
            while piece := await self._next(pieces, exchange):
                for event in exchange.events(piece):
                    yield event
        exchange.end()

    async def _next(self, pieces: AsyncIterator[bytes], exchange: StreamExchange[Any]) -> bytes:
        # the time runs on while an event is looked at, but must not end in that code
        try:
            async with asyncio.timeout(exchange.deadline.remaining()):
                return await anext(pieces, b"")
        except httpx.RequestError as error:
            exchange.lost(error)
        except TimeoutError as error:
            exchange.late(error)

    async def _send(
        self,
        exchange: Exchange[Any],
        receive: Callable[[httpx.Response], Awaitable[Received]],
    ) -> Received:
        try:
            async with asyncio.timeout(exchange.deadline.remaining()):
                return await self._try(exchange, receive)
        except DegClientError:
            # one of them is a TimeoutError too
            raise
        except TimeoutError as error:
            exchange.late(error)

    async def _try(
        self,
        exchange: Exchange[Any],
        receive: Callable[[httpx.Response], Awaitable[Received]],
    ) -> Received:
        while True:
            try:
                response = await self._http.send(exchange.request(), stream=True)
                if response.is_success:
                    return await receive(response)
                content = await _collect(response)
            except httpx.RequestError as error:
                pause = exchange.pause_after_failure(error)
            else:
                pause = exchange.pause_after_refusal(response, content)
            await asyncio.sleep(pause)


async def _unread(response: httpx.Response) -> httpx.Response:
    return response


async def _collect(response: httpx.Response) -> bytes:
    async with aclosing(response):
        return b"".join([piece async for piece in response.aiter_bytes()])
