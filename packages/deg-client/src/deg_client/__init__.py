"""The client for a deg server: a context and a type go out, a filled value comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deg_client import decisions, systemone
from deg_client._version import __version__
from deg_client.annotations import (
    Bounds,
    Choices,
    Description,
    Email,
    Generate,
    Levels,
    Title,
    Uri,
)
from deg_client.calls import Context, ModelInfo, Options
from deg_client.client import Client
from deg_client.decisions import Decisions
from deg_client.errors import (
    DeadlineExceeded,
    DegClientError,
    InvalidSetting,
    KeyRejected,
    MalformedResponse,
    NotSent,
    Problem,
    RequestRejected,
    ServerBusy,
    ServerFailed,
    ServerUnreachable,
    StatusError,
)
from deg_client.filled import Event, FieldDone, FieldMeta, Filled, TextPiece, Usage
from deg_client.printing import schema_of
from deg_client.systemone import SystemOne

if TYPE_CHECKING:
    from deg_client.async_client import AsyncClient

__all__ = [
    "AsyncClient",
    "Bounds",
    "Choices",
    "Client",
    "Context",
    "DeadlineExceeded",
    "Decisions",
    "DegClientError",
    "Description",
    "Email",
    "Event",
    "FieldDone",
    "FieldMeta",
    "Filled",
    "Generate",
    "InvalidSetting",
    "KeyRejected",
    "Levels",
    "MalformedResponse",
    "ModelInfo",
    "NotSent",
    "Options",
    "Problem",
    "RequestRejected",
    "ServerBusy",
    "ServerFailed",
    "ServerUnreachable",
    "StatusError",
    "SystemOne",
    "TextPiece",
    "Title",
    "Uri",
    "Usage",
    "__version__",
    "decisions",
    "schema_of",
    "systemone",
]


def __getattr__(name: str) -> object:
    # asyncio takes longer to import than all the rest
    if name == "AsyncClient":
        from deg_client.async_client import AsyncClient  # noqa: PLC0415

        return AsyncClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
