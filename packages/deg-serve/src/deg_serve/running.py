"""A server in its process: its address, its signals and how the process ends."""

from __future__ import annotations

import logging
import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from deg_serve.protocol import BoundedHeads

__all__ = ["ENGINE_GONE", "STOPPED", "bind", "on_termination", "serve"]

STOPPED = 0
ENGINE_GONE = 70
"""The exit status when the engine answers nothing any more: `EX_SOFTWARE`."""

_DRAIN = 5
_SWITCH = 0.001


def bind(host: str, port: int) -> socket.socket:
    """Take an address before the model is loaded; nobody can connect until it is served.

    Raises:
        OSError: The address is no address here, or taken.
    """
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise OSError(error.errno, error.strerror, f"{host}:{port}") from None
    return listener


def on_termination(stop: Callable[[], None]) -> None:
    """Call *stop* at SIGTERM; as the first process of a container, nobody else would end it."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        stop()

    signal.signal(signal.SIGTERM, handle)


def serve(
    create: Callable[[Callable[[str], None]], ASGIApp], listener: socket.socket, *, timeout: float
) -> int:
    """Serve until a signal comes or the engine is gone, and return the exit status.

    Args:
        create: Makes the application from what it calls when the engine is gone.
        listener: Where to listen.
        timeout: The longest that a request may take, which is waited for at the end.
    """
    failures: list[str] = []

    def fail(reason: str) -> None:
        failures.append(reason)
        server.should_exit = True

    config = uvicorn.Config(
        create(fail),
        log_config=None,
        access_log=False,
        lifespan="on",
        http=BoundedHeads,
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=int(timeout) + _DRAIN,
    )
    server = uvicorn.Server(config)
    # uvicorn raises each signal once more when it is done, which is of no use by then
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: None)
    # the event loop gets its turn soon, whatever the engine and the reader do
    sys.setswitchinterval(_SWITCH)
    host, port = listener.getsockname()[:2]
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    logging.getLogger("deg_serve").info("serving on http://%s", place)
    server.run(sockets=[listener])
    return ENGINE_GONE if failures else STOPPED
