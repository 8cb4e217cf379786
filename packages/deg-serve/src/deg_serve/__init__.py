"""A thin HTTP server over an engine that fills schemas."""

from __future__ import annotations

from deg_serve._version import __version__
from deg_serve.app import create_app
from deg_serve.batcher import Engine
from deg_serve.keys import Keys
from deg_serve.settings import Settings

__all__ = ["Engine", "Keys", "Settings", "__version__", "create_app"]
