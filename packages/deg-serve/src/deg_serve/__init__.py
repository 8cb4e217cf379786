"""A thin HTTP server over an engine that fills schemas."""

from __future__ import annotations

from deg_serve._version import __version__
from deg_serve.app import create_app
from deg_serve.worker import Engine

__all__ = ["Engine", "__version__", "create_app"]
