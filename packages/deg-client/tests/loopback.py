"""A server on loopback that answers what a test tells it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

STREAM = {"content-type": "text/event-stream"}


@dataclass
class Reply:
    """An answer; `pieces` are sent one by one, and a stream of them ends with the connection."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    pieces: Iterable[bytes] | None = None


@dataclass(frozen=True)
class Seen:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def reply(content: Any, status: int = 200, **headers: str) -> Reply:
    """Answer with JSON; `_` in the name of a header stands for `-`."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(status, json.dumps(content).encode(), {"content-type": "application/json"} | named)


def events(*pairs: tuple[str, Any]) -> bytes:
    """Spell events as a server sends them."""
    return b"".join(f"event: {n}\ndata: {json.dumps(d)}\n\n".encode() for n, d in pairs)


class Loopback:
    """Answers each request with the next of `replies`, and every further one with the last.

    Without any it accepts, and never answers.
    """

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.seen: list[Seen] = []
        self.released = threading.Event()
        self.busy = 0
        self.most_busy = 0
        self.lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Loopback:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def next_reply(self, seen: Seen) -> Reply | None:
        with self.lock:
            self.seen.append(seen)
            if len(self.replies) > 1:
                return self.replies.pop(0)
            return self.replies[0] if self.replies else None


def _handler_for(server: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # small answers would wait for the acknowledgement of their head
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            with server.lock:
                server.busy += 1
                server.most_busy = max(server.busy, server.most_busy)
            try:
                self._answer()
            except ConnectionError:
                self.close_connection = True
            finally:
                with server.lock:
                    server.busy -= 1

        do_GET = do_POST

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): text for name, text in self.headers.items()}
            port = self.client_address[1]
            reply = server.next_reply(Seen(self.command, self.path, headers, body, port))
            if reply is None:
                server.released.wait()
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, text in reply.headers.items():
                self.send_header(name, text)
            if reply.pieces is None:
                self.send_header("content-length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)
                return
            self.send_header("connection", "close")
            self.end_headers()
            for piece in reply.pieces:
                self.wfile.write(piece)
                self.wfile.flush()

        def log_message(self, *_: object) -> None:
            pass

    return Handler
