"""One structured record a request, in the log `deg_runtime`."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any

from deg_schema import DegError

__all__ = ["log_filled"]

_log = logging.getLogger("deg_runtime")


def log_filled(
    responses: Sequence[Mapping[str, Any] | DegError], model_id: str, start: float
) -> None:
    """Tell of each request what became of it; the call began at *start* on `perf_counter`.

    A record has the fields `model`, `milliseconds` and `num_requests` of the call, and either those
    of the response's usage or `error`, the kind of it. What a document says is in no record.
    """
    if not _log.isEnabledFor(logging.INFO):
        return
    call = {
        "model": model_id,
        "milliseconds": round((time.perf_counter() - start) * 1000, 3),
        "num_requests": len(responses),
    }
    for response in responses:
        if isinstance(response, DegError):
            _log.info("not filled", extra=call | {"error": type(response).__name__})
        else:
            _log.info("filled", extra=call | dict(response["usage"]))
