"""The one thread that owns the engine: what waits together is filled together."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Protocol

from deg_runtime import Event
from deg_schema import DegError, Options
from deg_serve.apis import Call
from deg_serve.errors import EngineFailed, TooManyPending, Unavailable
from deg_serve.waiting import Waiting, WaitingFill, WaitingStream

__all__ = ["Batcher", "Engine"]

_log = logging.getLogger("deg_serve")


class Engine(Protocol):
    """What the server needs of the runtime."""

    @property
    def model_id(self) -> str:
        """The name of the loaded model."""

    def fill_many(
        self, requests: Sequence[tuple[str, Mapping[str, Any], Options]]
    ) -> Sequence[dict[str, Any] | DegError]:
        """Fill each schema from its context; what fails stands in place of its response."""

    def stream(
        self, context: str, schema: Mapping[str, Any], *, options: Options
    ) -> Iterator[Event]:
        """Fill *schema* from *context* and yield what comes to stand, the response last."""


class Batcher:
    """Runs requests on the engine, those that wait at the same time together.

    Args:
        engine: Only the thread of the batcher calls it.
        window: The seconds that a request waits for others.
        max_batch: The most requests that are filled together.
        max_pending: With as many requests waiting, the next is refused.
        timeout: The longest that a request waits for its response, a stream for its next event.
        engine_timeout: The longest that one call of the engine may take.
        on_batch: Called after each call of the engine with how many requests it had and its
            seconds, in the thread of the batcher.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        window: float = 0.005,
        max_batch: int = 16,
        max_pending: int = 256,
        timeout: float = 60.0,
        engine_timeout: float = 600.0,
        on_batch: Callable[[int, float], None] = lambda num_requests, seconds: None,
    ) -> None:
        self._engine = engine
        self._window, self._max_batch, self.max_pending = window, max_batch, max_pending
        self._timeout, self._engine_timeout = timeout, engine_timeout
        self._on_batch = on_batch
        self._queue: deque[Waiting] = deque()
        self._running: list[Waiting] = []
        self._busy_since: float | None = None
        self._failure: str | None = None
        self._is_closing = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="deg-engine", daemon=True)

    @property
    def num_waiting(self) -> int:
        """How many requests the engine has not begun."""
        return len(self._queue)

    @property
    def num_running(self) -> int:
        """How many requests the engine fills now."""
        return len(self._running)

    @property
    def is_closing(self) -> bool:
        """Whether no more requests are taken."""
        return self._is_closing

    @property
    def failure(self) -> str | None:
        """Why the engine will answer nothing any more, if it will not."""
        since = self._busy_since
        if self._failure is None and since is not None:
            seconds = time.monotonic() - since
            if seconds > self._engine_timeout:
                return f"the engine has been stuck in one call for {seconds:.0f} seconds"
        if self._failure is None and self._thread.ident is not None:
            stopped = not self._thread.is_alive() and not self._is_closing
            return "the engine's thread has ended" if stopped else None
        return self._failure

    async def fill(self, call: Call) -> dict[str, Any]:
        """Fill one request together with others that wait.

        Raises:
            DegError: What the engine says of the request.
            EngineFailed: The engine raised something else.
            TooManyPending: The queue is full.
            Unavailable: The response took too long, or none will come.
        """
        waiting = WaitingFill(call)
        self._put(waiting)
        try:
            async with asyncio.timeout(self._timeout):
                response: dict[str, Any] = await asyncio.wrap_future(waiting.response)
                return response
        except TimeoutError:
            raise self._took_too_long() from None
        finally:
            self._forget(waiting)

    async def stream(self, call: Call) -> AsyncGenerator[Event, None]:
        """Fill one request alone and yield what comes to stand; to close it is to stop the work.

        Raises:
            ServeError: What `fill` raises, as is any `DegError`.
        """
        waiting = WaitingStream(call, asyncio.get_running_loop())
        self._put(waiting)
        try:
            while True:
                try:
                    async with asyncio.timeout(self._timeout):
                        event = await waiting.events.get()
                except TimeoutError:
                    raise self._took_too_long() from None
                if event is None:
                    return
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            self._forget(waiting)

    def give_up(self, reason: str) -> None:
        """Answer everyone who waits that nothing will come, and take no more."""
        with self._changed:
            self._failure = self._failure or reason
            lost = [*self._running, *self._queue]
            self._queue.clear()
        for waiting in lost:
            waiting.fail(Unavailable(reason))

    def close(self, seconds: float) -> bool:
        """Take no more requests, finish those that wait, and say whether all was done in time."""
        with self._changed:
            self._is_closing = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def _put(self, waiting: Waiting) -> None:
        if reason := self.failure:
            raise Unavailable(reason)
        with self._changed:
            if self._is_closing:
                raise Unavailable("the server is shutting down")
            if len(self._queue) >= self.max_pending:
                raise TooManyPending(self.max_pending)
            if self._thread.ident is None:
                self._thread.start()
            self._queue.append(waiting)
            # between the first and the last of a batch the thread has nothing to do
            if len(self._queue) in (1, self._max_batch) or isinstance(waiting, WaitingStream):
                self._changed.notify()

    def _forget(self, waiting: Waiting) -> None:
        waiting.is_gone = True
        with self._changed:
            if waiting in self._queue:
                self._queue.remove(waiting)

    def _took_too_long(self) -> Unavailable:
        return Unavailable(f"there is no response after {self._timeout:g} seconds: try again later")

    def _work(self) -> None:
        try:
            while batch := self._take():
                self._run(batch)
        except BaseException:
            # even what is no Exception has to reach those who wait
            _log.critical("the engine's thread has ended", exc_info=True)
            self.give_up("the engine's thread has ended")

    def _take(self) -> list[Waiting]:
        """Wait for the next batch: a stream alone, or all that came within the window."""
        with self._changed:
            while True:
                if self._queue:
                    seconds = self._queue[0].since + self._window - time.monotonic()
                    full = len(self._queue) >= self._max_batch or self._is_closing
                    if full or seconds <= 0 or isinstance(self._queue[0], WaitingStream):
                        self._running = self._pop()
                        return self._running
                    self._changed.wait(seconds)
                elif self._is_closing:
                    return []
                else:
                    self._changed.wait()

    def _pop(self) -> list[Waiting]:
        if isinstance(self._queue[0], WaitingStream):
            return [self._queue.popleft()]
        fills = [waiting for waiting in self._queue if isinstance(waiting, WaitingFill)]
        batch: list[Waiting] = [*fills[: self._max_batch]]
        self._queue = deque(waiting for waiting in self._queue if waiting not in batch)
        return batch

    def _run(self, batch: Sequence[Waiting]) -> None:
        start = time.monotonic()
        # who has gone since the batch was taken costs nothing
        wanted = [waiting for waiting in batch if not waiting.is_gone]
        if wanted and isinstance(wanted[0], WaitingStream):
            self._run_stream(wanted[0])
        elif wanted:
            self._run_fills([one for one in wanted if isinstance(one, WaitingFill)])
        self._running, self._busy_since = [], None
        if wanted:
            self._on_batch(len(wanted), time.monotonic() - start)

    def _run_fills(self, batch: Sequence[WaitingFill]) -> None:
        for waiting, response in zip(batch, self._fill(batch), strict=True):
            waiting.finish(response)

    def _fill(
        self, batch: Sequence[WaitingFill]
    ) -> Sequence[dict[str, Any] | DegError | EngineFailed]:
        self._busy_since = time.monotonic()
        try:
            responses = self._engine.fill_many([waiting.request for waiting in batch])
            if len(responses) == len(batch):
                return responses
            raise EngineFailed(f"{len(responses)} responses came for {len(batch)} requests")
        except Exception as error:
            if len(batch) == 1:
                return [_failed(error)]
            _log.warning("a batch of %d failed; each is tried alone", len(batch), exc_info=True)
        gone = EngineFailed("nobody waits for it")
        return [gone if one.is_gone else self._fill([one])[0] for one in batch]

    def _run_stream(self, waiting: WaitingStream) -> None:
        context, schema, options = waiting.request
        try:
            self._busy_since = time.monotonic()
            events = self._engine.stream(context, schema, options=options)
            with closing(_closable(events)):
                for event in events:
                    waiting.put(event)
                    if waiting.is_gone:
                        return
                    self._busy_since = time.monotonic()
            waiting.put(None)
        except Exception as error:
            waiting.put(_failed(error))


def _failed(error: Exception) -> DegError | EngineFailed:
    if isinstance(error, (DegError, EngineFailed)):
        return error
    _log.error("the engine failed", exc_info=error)
    failed = EngineFailed("the engine failed")
    failed.__cause__ = error
    return failed


def _closable(events: Iterator[Event]) -> Any:
    # an iterator that is no generator has nothing to close
    return events if hasattr(events, "close") else (_ for _ in ())
