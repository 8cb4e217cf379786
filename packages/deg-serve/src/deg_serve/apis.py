"""The seam between the routes and the APIs: how an API reads a request, answers and refuses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from deg_schema import Options

__all__ = ["Api", "ApiError", "Call", "ModelNames"]

LATEST = "deg-latest"


@dataclass(frozen=True, slots=True)
class ModelNames:
    """The names that a request may use: `served` is the id in responses, `latest` its alias."""

    served: str
    latest: str = LATEST

    def accepts(self, name: str, also: Collection[str] = ()) -> bool:
        """Say whether *name* is one of them, or of the names that an API knows besides."""
        return name in (self.served, self.latest) or name in also


@dataclass(frozen=True, slots=True)
class Call:
    """One request to the engine, and how its response becomes the answer of an API.

    Attributes:
        context: The document as the model reads it.
        schema: What to fill; `None` when nothing is left to ask, and the engine is not called.
        options: Of the fill.
        answer: Makes the body of the answer from the engine's response, or from `None` when
            nothing was asked; pure.
    """

    context: str
    schema: Mapping[str, Any] | None
    options: Options
    answer: Callable[[Mapping[str, Any] | None], dict[str, Any]]


class ApiError(Exception):
    """A request that an API refuses, with the status and the body in that API's own shape."""

    def __init__(self, status: int, body: dict[str, Any]) -> None:
        super().__init__(status, body)
        self.status = status
        self.body = body


class Api(Protocol):
    """How one of the APIs reads requests and says errors."""

    def read(self, body: bytes, names: ModelNames) -> Call:
        """Read a request.

        Raises:
            ApiError: It is not in order.
        """

    def error(
        self, status: int, message: str, *, loc: str = "", code: str | None = None
    ) -> dict[str, Any]:
        """Return the body that says, in the shape of this API, why there is no answer."""
