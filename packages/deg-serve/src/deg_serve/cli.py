"""The `deg-serve` command: serve one checkpoint on one address."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from ipaddress import ip_address
from pathlib import Path

from deg_model import DEFAULT_CHECKPOINT
from deg_runtime import Contexts, Engine as RuntimeEngine, load as load_engine
from deg_schema import DegError
from deg_serve.app import create_app
from deg_serve.arguments import KEYS_VARIABLE, make_parser, settings_of
from deg_serve.batcher import Engine
from deg_serve.keys import Keys
from deg_serve.running import bind, on_termination, serve

__all__ = ["main"]

_FAILED, _REFUSED = 1, 2

_log = logging.getLogger("deg_serve")


def load(arguments: argparse.Namespace) -> Engine:
    """Load the engine that the command line names."""
    engine = load_engine(
        arguments.ckpt, device=arguments.device, generate=arguments.generate, report=_log.info
    )
    if arguments.context_cache is None:
        return engine
    return RuntimeEngine(engine.model, Contexts(engine.model, arguments.context_cache))


def main(
    arguments: Sequence[str] | None = None,
    *,
    load: Callable[[argparse.Namespace], Engine] = load,
) -> int:
    """Serve until stopped and return the exit status: 1 for a failure, 2 for input to mend."""
    parser = make_parser()
    parsed = parser.parse_args(arguments)
    logging.basicConfig(
        stream=sys.stderr,
        level=parsed.log_level.upper(),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    # every request has its line already
    logging.getLogger("deg_runtime").setLevel(max(logging.WARNING, logging.root.level))
    try:
        keys = _keys(parsed)
        status = _serve(parsed, keys, load)
    except _Refused as error:
        parser.error(str(error))
    except (DegError, OSError) as error:
        sys.stderr.write(f"error: {_worded(error)}\n")
        return _FAILED
    _end_with(status)
    return status


class _Refused(Exception):
    """The command line asks for what may not be."""


def _serve(
    parsed: argparse.Namespace, keys: Keys | None, load: Callable[[argparse.Namespace], Engine]
) -> int:
    settings = settings_of(parsed)
    on_termination(sys.exit)
    with bind(parsed.host, parsed.port) as listener:
        engine = load(parsed)
        _log.info("loaded %s", engine.model_id)
        released = _written(parsed.ckpt or DEFAULT_CHECKPOINT)
        return serve(
            lambda fail: create_app(
                engine, settings, keys=keys, released=released, on_failure=fail
            ),
            listener,
            timeout=settings.timeout,
        )


def _keys(parsed: argparse.Namespace) -> Keys | None:
    if parsed.no_keys:
        return None
    variable = os.environ.get(KEYS_VARIABLE, "")
    keys = Keys.read(parsed.keys) if parsed.keys else Keys.parse(variable)
    if not keys and (parsed.keys or variable):
        raise _Refused(f"there is no key in {parsed.keys or KEYS_VARIABLE}")
    if not keys and not _is_loopback(parsed.host):
        raise _Refused(
            f"{parsed.host} can be reached from elsewhere: give --keys FILE or {KEYS_VARIABLE}, "
            "or say --no-keys to serve everyone"
        )
    return keys or None


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _written(checkpoint: Path) -> date:
    """Return the day that the files of a checkpoint are of."""
    times = [path.stat().st_mtime for path in checkpoint.glob("*") if path.is_file()]
    return datetime.fromtimestamp(max(times, default=0.0), UTC).date()


def _end_with(status: int) -> None:
    logging.shutdown()
    try:
        sys.stderr.flush()
    except OSError:
        # lines that found no room are lost; some versions of Python would try them once more at the
        # exit and fail by them
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stderr.fileno())
    if any(thread.name == "deg-engine" for thread in threading.enumerate()):
        # it is deep in a call that nobody can stop, and would be torn down within
        os._exit(status)


def _worded(error: DegError | OSError) -> str:
    if not isinstance(error, OSError):
        return str(error)
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}"
