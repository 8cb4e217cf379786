"""The client for a deg server: a context and a JSON Schema go out, a filled value comes back."""

from __future__ import annotations

from deg_client._version import __version__
from deg_client.client import Client
from deg_client.errors import (
    DegClientError,
    MalformedResponse,
    Problem,
    RequestRejected,
    ServerFailed,
    ServerUnreachable,
    StatusError,
)
from deg_client.response import FieldMeta, Response, Usage

__all__ = [
    "Client",
    "DegClientError",
    "FieldMeta",
    "MalformedResponse",
    "Problem",
    "RequestRejected",
    "Response",
    "ServerFailed",
    "ServerUnreachable",
    "StatusError",
    "Usage",
    "__version__",
]
