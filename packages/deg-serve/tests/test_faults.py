"""Faults from outside, at real servers: what clients see, and what is left of the server."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from deg_serve import Settings

POST = b"POST /v1/fill HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=30) as connection:
        yield connection


def port_of(url: str) -> str:
    return str(urlsplit(url).port)


class Load:
    """Clients that send one request after another until they are told to stop."""

    def __init__(self, url: str, body: Any, num_clients: int = 8) -> None:
        self._url, self._body = url, body
        self._stop = threading.Event()
        self._clients = [threading.Thread(target=self._send) for _ in range(num_clients)]
        self.outcomes: list[str] = []

    def __enter__(self) -> Load:
        for client in self._clients:
            client.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for client in self._clients:
            client.join()

    def wait(self, num_outcomes: int) -> None:
        deadline = time.monotonic() + 30
        while len(self.outcomes) < num_outcomes:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def _send(self) -> None:
        with httpx.Client(timeout=30, trust_env=False) as http:
            while not self._stop.is_set():
                try:
                    response = http.post(f"{self._url}/v1/fill", json=self._body)
                    self.outcomes.append(str(response.status_code))
                except httpx.TransportError as error:
                    self.outcomes.append(type(error).__name__)
                    # nobody listens any more
                    time.sleep(0.01)


@pytest.mark.parametrize(
    "sent",
    [
        b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /health HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /health HTTP/1.1\r\nhost: a\r\nx: \x00\r\n\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nhost: a\r\n\r\n",
        b"GET /health HTTP/1.1\r\n" + b"x: y\r\n" * 50_000 + b"\r\n",
        POST + b"content-length: -1\r\n\r\n",
        POST + b"content-length: 5\r\ncontent-length: 6\r\n\r\n{}",
        POST + b"transfer-encoding: chunked\r\n\r\nzz\r\n",
        POST + b"content-length: 9\r\n\r\n{",
    ],
)
def test_what_is_no_http_gets_an_error_or_nothing(engine: Any, serve: Any, sent: bytes) -> None:
    with serve(engine) as served:
        with connected(served.url) as connection:
            # the server may have hung up before all is sent
            with suppress(OSError):
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
            answer = rest_of(connection)
        assert served.fill("a").status_code == 200
    assert re.match(rb"$|HTTP/1\.1 4\d\d ", answer)
    assert [context for batch in engine.batches for context, _, _ in batch] == ["a"]


def test_a_body_that_trickles_in_gains_no_time(engine: Any, serve: Any) -> None:
    with serve(engine, Settings(body_timeout=0.5)) as served, connected(served.url) as connection:
        began = time.monotonic()
        connection.sendall(POST + b"content-length: 1000\r\n\r\n")
        while time.monotonic() - began < 0.4:
            connection.sendall(b" ")
            time.sleep(0.05)
        assert connection.recv(65536).startswith(b"HTTP/1.1 408 ")


def test_heads_that_never_end_keep_nobody_else_out(engine: Any, serve: Any) -> None:
    with serve(engine) as served:
        places = [urlsplit(served.url)] * 200
        slow = [socket.create_connection((place.hostname, place.port)) for place in places]
        try:
            for connection in slow:
                connection.sendall(b"POST /v1/fill HTTP/1.1\r\nhost:")
            assert served.fill("a").status_code == 200
        finally:
            for connection in slow:
                connection.close()


def test_a_termination_under_load_breaks_no_request_off(process: Any, wire: Any) -> None:
    body = {**wire("fill.request"), "context": "sleep 0.02"}
    with process("--port", "0", "--max-batch", "2") as server:
        with Load(server.url(), body) as load:
            load.wait(40)
            server.running.send_signal(signal.SIGTERM)
            assert server.status() == 0
        outcomes = Counter(load.outcomes)
    # every answer arrived; who came too late is told so, or finds nobody there
    assert outcomes["200"] == server.log().count(" fill 200 ") >= 40
    assert not {status for status in outcomes if status.isdecimal()} - {"200", "503"}


def test_a_kill_under_load_leaves_nothing_behind(process: Any, wire: Any) -> None:
    body = {**wire("fill.request"), "context": "sleep 0.02"}
    with process("--port", "0") as server, Load(url := server.url(), body) as load:
        load.wait(20)
        server.running.kill()
        assert server.status() == -signal.SIGKILL
        num_before = len(load.outcomes)
        # nobody is left hanging, and the next server has the same address at once
        load.wait(num_before + 8)
        with process("--port", port_of(url)) as again:
            assert again.url() == url
            num_before = load.outcomes.count("200")
            load.wait(len(load.outcomes) + 20)
            assert load.outcomes.count("200") > num_before


FULL_DISK = """
import sys
from deg_serve.cli import main

class StandIn:
    model_id = "deg-stand-in"

    def fill_many(self, requests):
        if requests[0][0] == "raise":
            raise RuntimeError
        return [{} for _ in requests]

sys.exit(main(load=lambda arguments: StandIn()))
"""


def test_a_full_disk_for_the_log_loses_lines_and_no_request(wire: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command = [sys.executable, "-c", FULL_DISK, "--port", str(port)]
    with open("/dev/full", "wb") as full, subprocess.Popen(command, stderr=full) as server:
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:
                wait_for(http, server)
                contexts = ("a", "raise", "b")
                bodies = [{**wire("fill.request"), "context": context} for context in contexts]
                statuses = [http.post("/v1/fill", json=body).status_code for body in bodies]
            assert statuses == [200, 500, 200]
            server.terminate()
            assert server.wait(20) == 0
        finally:
            server.kill()


def wait_for(http: httpx.Client, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert server.poll() is None
        try:
            http.get("/health")
            return
        except httpx.TransportError:
            time.sleep(0.05)
    pytest.fail("the server did not come up")


def rest_of(connection: socket.socket) -> bytes:
    try:
        return b"".join(iter(lambda: connection.recv(65536), b""))
    except ConnectionResetError:
        return b""
