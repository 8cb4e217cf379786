"""How the server is: for whoever starts it again, and for whoever sends it requests."""

from __future__ import annotations

from typing import Any

from deg_serve.batcher import Batcher

__all__ = ["health"]


def health(batcher: Batcher, model_id: str) -> tuple[int, dict[str, Any]]:
    """Return the status and the body of `GET /health`: 200 while requests are taken."""
    live = batcher.failure is None
    ready = live and not batcher.is_closing
    body = {
        "status": "ok" if ready else "draining" if live else "failed",
        "live": live,
        "ready": ready,
        "model": model_id,
        "batcher": {
            "pending": batcher.num_waiting,
            "running": batcher.num_running,
            "max_pending": batcher.max_pending,
        },
    }
    return (200 if ready else 503), body
