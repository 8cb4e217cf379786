"""Everything that deg_client raises.

DegClientError
├── ServerUnreachable    no answer came: wrong address, no server, or a time-out
├── MalformedResponse    an answer came that is not one of a deg server
└── StatusError          the server answered with an error status
    ├── RequestRejected  4xx: the request has to change; carries every problem
    └── ServerFailed     5xx: the server could not answer this request
"""

from __future__ import annotations

import msgspec

__all__ = [
    "DegClientError",
    "MalformedResponse",
    "Problem",
    "RequestRejected",
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
    """The base of every error of this package."""


class ServerUnreachable(DegClientError):
    """No answer came from `url`."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"no answer from {url!r} ({reason}): is a deg server running there?")
        self.url = url
        self.reason = reason


class MalformedResponse(DegClientError):
    """The answer from `url` is not one of a deg server."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url!r} did not answer as a deg server does: {reason}")
        self.url = url
        self.reason = reason


class StatusError(DegClientError):
    """The server answered with an error status."""

    def __init__(self, status: int, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join([f"status {status}", *map(str, problems)]))
        self.status = status
        self.problems = problems


class RequestRejected(StatusError):
    """The request has to change; `problems` lists everything that is wrong with it."""


class ServerFailed(StatusError):
    """The server could not answer this request."""
