"""The one thread that reads requests, apart from the event loop and the engine."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from deg_serve.apis import Api, Call, ModelNames
from deg_serve.bodies import BodyKind, decode_body
from deg_serve.errors import TooManyPending

__all__ = ["Reader"]


class Reader:
    """Reads requests in the order they come: a schema of a kilobyte can take a fifth of a second.

    Args:
        names: Of the model.
        max_body: The most bytes of a body when it is decoded.
        max_pending: With as many requests unread, the next is refused.
    """

    def __init__(self, names: ModelNames, *, max_body: int, max_pending: int) -> None:
        self._names, self._max_body, self._max_pending = names, max_body, max_pending
        self._num_unread = 0
        # with more threads, the event loop would wait for more of them in turn
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="deg-reader")

    async def read(self, api: Api, body: bytes, kind: BodyKind) -> Call:
        """Decode a body and read the request in it.

        Raises:
            ApiError: The request is not in order.
            Refusal: The body does not decode, or too many wait to be read.
        """
        if self._num_unread >= self._max_pending:
            raise TooManyPending(self._max_pending)
        self._num_unread += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._thread, self._read, api, body, kind)
        finally:
            self._num_unread -= 1

    def close(self) -> None:
        """Let the thread go."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _read(self, api: Api, body: bytes, kind: BodyKind) -> Call:
        return api.read(decode_body(body, kind, max_bytes=self._max_body), self._names)
