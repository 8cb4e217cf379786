"""One call from its first attempt to its answer, whoever carries the bytes."""

from __future__ import annotations

import os
from typing import Generic, NoReturn, TypeVar

import httpx
import msgspec

from deg_client._version import __version__
from deg_client.calls import Call
from deg_client.deadline import Deadline
from deg_client.errors import (
    DeadlineExceeded,
    KeyRejected,
    MalformedResponse,
    RequestRejected,
    ServerBusy,
    ServerFailed,
    ServerUnreachable,
    StatusError,
)
from deg_client.problems import problems_of
from deg_client.retry import Attempts, asked_pause, may_retry
from deg_client.settings import Settings, check_timeout

__all__ = ["Exchange"]

Answer = TypeVar("Answer")

_JSON = "application/json"

# these wait for all the time that is left; a connection is given up earlier
_WAITED_TO_THE_END = (httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout)


class Exchange(Generic[Answer]):
    """Says what to send, how long to wait, and what an answer means; sends nothing itself."""

    accept = _JSON

    def __init__(self, call: Call[Answer], settings: Settings, timeout: float | None) -> None:
        self.deadline = Deadline(settings.timeout if timeout is None else check_timeout(timeout))
        self.request_id = os.urandom(16).hex()
        self._call = call
        self._url = settings.base_url + call.path
        self._key = settings.api_key
        self._attempts = Attempts(settings.retries, self.deadline)

    def request(self) -> httpx.Request:
        """Return the request of the next attempt."""
        self._attempts.made += 1
        headers = {
            "accept": self.accept,
            "accept-encoding": "gzip, deflate",
            "user-agent": f"deg-client/{__version__}",
            "x-request-id": self.request_id,
        }
        if self._key is not None:
            headers["authorization"] = f"Bearer {self._key}"
        if self._call.body is not None:
            headers["content-type"] = _JSON
        return httpx.Request(
            "GET" if self._call.body is None else "POST",
            self._url,
            headers=headers,
            content=self._call.body,
            extensions={"timeout": self.deadline.timeouts()},
        )

    def in_time(self, piece: bytes) -> bytes:
        """Return *piece* of an answer unless it comes too late.

        Raises:
            DeadlineExceeded: The time is up.
        """
        if not self.deadline.remaining():
            self.late()
        return piece

    def late(self, cause: Exception | None = None) -> NoReturn:
        """Tell that the time is up."""
        tried = f" in {self._attempts.made} attempts" if self._attempts.made > 1 else ""
        raise DeadlineExceeded(
            f"no answer from {self._url!r} within {self.deadline.seconds:g} seconds{tried}; "
            "give it more time with 'timeout'",
            request_id=self.request_id,
        ) from cause

    def pause_after_failure(self, error: httpx.RequestError) -> float:
        """Return the pause after an attempt without an answer.

        Raises:
            ServerUnreachable: There is no further attempt.
            MalformedResponse: What came is no HTTP that can be read.
        """
        pause = None if isinstance(error, httpx.DecodingError) else self._attempts.pause()
        return pause if pause is not None else self.lost(error)

    def lost(self, error: httpx.RequestError) -> NoReturn:
        """Tell that no answer comes any more, or no more of one."""
        reason = str(error) or type(error).__name__
        if isinstance(error, httpx.DecodingError):
            self.malformed(reason, error)
        if not self.deadline.remaining() or isinstance(error, _WAITED_TO_THE_END):
            self.late(error)
        raise ServerUnreachable(
            f"no answer from {self._url!r} ({reason}): is a deg server running there?",
            request_id=self.request_id,
        ) from error

    def pause_after_refusal(self, response: httpx.Response, content: bytes) -> float:
        """Return the pause after an answer with an error.

        Raises:
            StatusError: There is no further attempt, or none that would help.
            MalformedResponse: The answer leads elsewhere.
        """
        self._take_id(response)
        if response.is_redirect:
            self.malformed(f"it leads to {response.headers.get('location', 'nowhere')!r}")
        asked = asked_pause(response.headers)
        if may_retry(response.status_code, response.headers):
            pause = self._attempts.pause(asked)
            if pause is not None:
                return pause
        status = response.status_code
        self.refused(_kind_of(status), status, content, asked)

    def refused(
        self, kind: type[StatusError], status: int, content: bytes, asked: float | None = None
    ) -> NoReturn:
        """Tell what an error answer says."""
        problems = problems_of(content)
        head = f"status {status} from {self._url!r}, request {self.request_id}"
        raise kind(
            "\n".join([head, *map(str, problems)]),
            status=status,
            problems=problems,
            request_id=self.request_id,
            retry_after=asked,
        )

    def answer(self, response: httpx.Response, content: bytes) -> Answer:
        """Read the answer.

        Raises:
            MalformedResponse: It is not one of a deg server.
        """
        self._take_id(response)
        try:
            answer = self._call.read(content)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self.malformed(str(error), error)
        return self._with_id(answer)

    def malformed(self, reason: str, cause: Exception | None = None) -> NoReturn:
        """Tell that the answer is of something else."""
        raise MalformedResponse(
            f"{self._url!r} did not answer as a deg server does: {reason}",
            request_id=self.request_id,
        ) from cause

    def _take_id(self, response: httpx.Response) -> None:
        # a proxy on the way may have given another
        self.request_id = response.headers.get("x-request-id", self.request_id)

    def _with_id(self, answer: Answer) -> Answer:
        if not isinstance(answer, msgspec.Struct):
            return answer
        return msgspec.structs.replace(answer, request_id=self.request_id)


def _kind_of(status: int) -> type[StatusError]:
    if status in (401, 403):
        return KeyRejected
    if status == 429:
        return ServerBusy
    return ServerFailed if status >= 500 else RequestRejected
