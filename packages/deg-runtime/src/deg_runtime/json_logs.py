"""The records of the log as JSON, one a line, for what collects logs."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

__all__ = ["JsonFormatter", "json_logs"]

_USUAL = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """Spells a record with its time, level, message and every field that was given with it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line of JSON."""
        time = datetime.fromtimestamp(record.created, UTC)
        line = {
            "time": time.isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        extra = {name: value for name, value in vars(record).items() if name not in _USUAL}
        if record.exc_info:
            extra["exception"] = self.formatException(record.exc_info)
        return json.dumps(line | extra, ensure_ascii=False, default=str)


@contextmanager
def json_logs(*, enabled: bool) -> Iterator[None]:
    """Write what `deg_runtime` logs to the standard error, if *enabled*."""
    if not enabled:
        yield
        return
    logger = logging.getLogger("deg_runtime")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
