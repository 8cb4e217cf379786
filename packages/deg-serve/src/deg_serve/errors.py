"""Everything that deg_serve raises for a request that gets no answer.

ServeError
├── Refusal               is answered with its status and headers
│   ├── BadBody           400  the body does not decode, or holds what is not read here
│   ├── NotAllowed        401  the key is missing or wrong; 403 where an API says so
│   ├── SlowBody          408  the body took too long to arrive
│   ├── BodyTooLarge      413  the body is too large, as sent or decompressed
│   ├── UnsupportedBody   415  the body is of a kind that is not read here
│   ├── TooManyPending    429  as many requests wait as may
│   └── Unavailable       503  the engine has no time, or is gone
└── EngineFailed          the engine raised what nobody expected; the log says what
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

__all__ = [
    "BadBody",
    "BodyTooLarge",
    "EngineFailed",
    "NotAllowed",
    "Refusal",
    "ServeError",
    "SlowBody",
    "TooManyPending",
    "Unavailable",
    "UnsupportedBody",
]


class ServeError(Exception):
    """The base of every error of this package."""


class Refusal(ServeError):
    """A request that is not served: every API says it in its own shape.

    Attributes:
        status: Of the response.
        headers: What the response carries besides.
        code: A word for programs, where an API has a place for one.
    """

    status: int
    headers: Mapping[str, str] = MappingProxyType({})
    code: ClassVar[str | None] = None


class BadBody(Refusal):
    """The body does not decode as its headers say, or holds what is not read here."""

    status = 400


class NotAllowed(Refusal):
    """The key is missing or wrong."""

    code = "invalid_api_key"
    headers = MappingProxyType({"www-authenticate": "Bearer"})

    def __init__(self, message: str, status: int = 401) -> None:
        super().__init__(message)
        self.status = status


class SlowBody(Refusal):
    """The body took too long to arrive."""

    status = 408
    # what still arrives of it is no request
    headers = MappingProxyType({"connection": "close"})

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the body did not arrive within {seconds:g} seconds")


class BodyTooLarge(Refusal):
    """The body is too large, as it was sent or decompressed."""

    status = 413

    def __init__(self, max_bytes: int) -> None:
        super().__init__(f"the body has more than {max_bytes:,} bytes; split the document")


class UnsupportedBody(Refusal):
    """The body is of a kind that is not read here."""

    status = 415


class TooManyPending(Refusal):
    """As many requests wait as may."""

    status = 429
    headers = MappingProxyType({"retry-after": "1"})

    def __init__(self, max_pending: int) -> None:
        super().__init__(f"{max_pending} requests are waiting already: try again later")


class Unavailable(Refusal):
    """The engine has no time for the request, or is gone."""

    status = 503
    headers = MappingProxyType({"retry-after": "1"})


class EngineFailed(ServeError):
    """The engine raised what nobody expected; the log says what."""
