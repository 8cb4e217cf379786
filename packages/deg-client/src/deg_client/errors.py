"""Everything that deg_client raises.

DegClientError
├── InvalidSetting         an address, a key, a timeout or a count that no call could use
├── NotSent                the request cannot be sent as it is; carries every problem
├── ServerUnreachable      no answer came: wrong address, no server, or a lost connection
│   └── DeadlineExceeded   the time of the call was up
├── MalformedResponse      an answer came that is not one of a deg server
└── StatusError            the server answered with an error
    ├── RequestRejected    4xx: the request has to change; carries every problem
    │   ├── KeyRejected    401, 403: the key is missing or wrong
    │   └── ServerBusy     429: too many requests are waiting; carries `retry_after`
    └── ServerFailed       5xx: the server could not answer this request
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

__all__ = [
    "DeadlineExceeded",
    "DegClientError",
    "InvalidSetting",
    "KeyRejected",
    "MalformedResponse",
    "NotSent",
    "Problem",
    "RequestRejected",
    "ServerBusy",
    "ServerFailed",
    "ServerUnreachable",
    "StatusError",
]


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong, and where: `loc` is an RFC 6901 pointer into the request."""

    loc: str
    msg: str

    def __str__(self) -> str:
        return f"{self.loc or '(root)'}: {self.msg}"


class DegClientError(Exception):
    """The base of every error of this package.

    Attributes:
        status: The status that the server answered with, if it did.
        problems: Everything that is wrong, where that is known.
        request_id: The id of the request, as the server logs it; `None` if nothing was sent.
        retry_after: How many seconds the server asked to wait, if it did.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        problems: Sequence[Problem] = (),
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.problems = tuple(problems)
        self.request_id = request_id
        self.retry_after = retry_after


class InvalidSetting(DegClientError, ValueError):
    """An address, a key, a timeout or a count that no call could use."""


class NotSent(DegClientError, ValueError):
    """The request cannot be sent as it is; `problems` lists everything that is wrong with it."""

    @classmethod
    def because(cls, problems: Sequence[Problem]) -> NotSent:
        """Tell *problems*, one a line."""
        return cls("\n".join(map(str, problems)), problems=problems)


class ServerUnreachable(DegClientError):
    """No answer came."""


class DeadlineExceeded(ServerUnreachable, TimeoutError):
    """No answer came within the time of the call, all attempts together."""


class MalformedResponse(DegClientError):
    """The answer is not one of a deg server."""


class StatusError(DegClientError):
    """The server answered with an error."""


class RequestRejected(StatusError):
    """The request has to change; `problems` lists everything that is wrong with it."""


class KeyRejected(RequestRejected):
    """The server asks for a key, or does not know the one that was sent."""


class ServerBusy(RequestRejected):
    """Too many requests are waiting at the server; `retry_after` says when to come again."""


class ServerFailed(StatusError):
    """The server could not answer this request."""
