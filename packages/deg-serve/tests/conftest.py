from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from deg_runtime import Event, FieldDone, Filled, TextPiece
from deg_schema import DegError, Options
from deg_serve import Settings, create_app
from deg_serve.protocol import BoundedHeads
from deg_serve.running import bind

sys.path.insert(0, str(Path(__file__).parent))

WIRE = Path(__file__).parents[3] / "wire"


def golden(name: str) -> Any:
    return json.loads((WIRE / f"{name}.json").read_text())


class StandIn:
    """Answers with the golden response, or fails as it is told to, once its gate is open."""

    model_id = "deg-stand-in"

    def __init__(self) -> None:
        self.failures: dict[str, BaseException] = {}
        self.batches: list[list[tuple[str, Mapping[str, Any], Options]]] = []
        self.threads: set[str] = set()
        self.gate = threading.Event()
        self.gate.set()
        self.num_events = 0
        self.was_closed = False

    def fill_many(
        self, requests: Sequence[tuple[str, Mapping[str, Any], Options]]
    ) -> list[dict[str, Any] | DegError]:
        self.threads.add(threading.current_thread().name)
        self.batches.append(list(requests))
        self.gate.wait(30)
        return [self._answer(context) for context, _, _ in requests]

    def stream(
        self, context: str, schema: Mapping[str, Any], *, options: Options
    ) -> Iterator[Event]:
        self.batches.append([(context, schema, options)])
        response = golden("fill.response")
        try:
            for pointer, meta in response["meta"].items():
                value = response["value"][pointer[1:]]
                self.num_events += 1
                yield FieldDone(pointer, meta, has_value=True, value=value)
                self.gate.wait(30)
            yield TextPiece("/reply", "line one\nline two")
            if context in self.failures:
                raise self.failures[context]
            yield Filled(response)
        finally:
            self.was_closed = True

    def _answer(self, context: str) -> dict[str, Any] | DegError:
        error = self.failures.get(context)
        if isinstance(error, DegError):
            return error
        if error is not None:
            raise error
        response: dict[str, Any] = golden("fill.response")
        return response


class Served:
    """A server on loopback, and clients of it."""

    def __init__(self, http: httpx.Client, pool: ThreadPoolExecutor) -> None:
        self.http, self._pool = http, pool
        self.url = str(http.base_url)

    def fill(self, context: str = "a", **how: Any) -> httpx.Response:
        return self.http.post(
            "/v1/fill", json={**golden("fill.request"), "context": context}, **how
        )

    def start(self, context: str = "a", **how: Any) -> Future[httpx.Response]:
        """Send a request from a thread of its own."""
        return self._pool.submit(self.fill, context, **how)

    def batcher(self) -> dict[str, int]:
        counts: dict[str, int] = self.http.get("/health").json()["batcher"]
        return counts

    def until(self, **counts: int) -> None:
        """Wait until the batcher has so many requests."""
        self.wait(lambda: self.batcher().items() >= counts.items())

    @staticmethod
    def wait(is_so: Callable[[], bool], seconds: float = 10) -> None:
        deadline = time.monotonic() + seconds
        while not is_so():
            assert time.monotonic() < deadline
            time.sleep(0.005)


@contextmanager
def serving(engine: Any, settings: Settings | None = None, **how: Any) -> Iterator[Served]:
    app = create_app(engine, settings, **how)
    config = uvicorn.Config(app, log_level="critical", lifespan="on", http=BoundedHeads, ws="none")
    server = uvicorn.Server(config)
    listener = bind("127.0.0.1", 0)
    listener.listen()
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        # the socket listens already, so that a request waits for the server to start
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with (
            httpx.Client(base_url=url, timeout=20, trust_env=False) as http,
            ThreadPoolExecutor(32) as pool,
        ):
            try:
                yield Served(http, pool)
            finally:
                # or who still waits would do so until the engine gives up
                getattr(engine, "gate", threading.Event()).set()
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def engine() -> StandIn:
    return StandIn()


@pytest.fixture(scope="session")
def serve() -> Any:
    return serving


@pytest.fixture
def wire() -> Callable[[str], Any]:
    return golden


SCRIPT = """
import json, os, sys, time
from deg_serve.cli import main

RESPONSE = json.load(open(sys.argv[1]))


class StandIn:
    model_id = "deg-stand-in"

    def fill_many(self, requests):
        for context, _, _ in requests:
            words = context.split()
            if words[0] == "sleep":
                time.sleep(float(words[1]))
            elif words[0] == "work":
                end = time.monotonic() + float(words[1])
                while time.monotonic() < end:
                    pass
            elif words[0] == "exit":
                raise SystemExit(1)
        return [RESPONSE] * len(requests)


sys.exit(main(sys.argv[2:], load=lambda arguments: StandIn()))
"""


class Process:
    """A server in a process of its own, whose engine does what the contexts say."""

    def __init__(self, *arguments: str, env: Mapping[str, str] | None = None) -> None:
        command = [sys.executable, "-c", SCRIPT, str(WIRE / "fill.response.json"), *arguments]
        pipe = subprocess.PIPE
        environment = {**os.environ, **(env or {})}
        self.running = subprocess.Popen(command, stderr=pipe, text=True, env=environment)
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def url(self) -> str:
        Served.wait(lambda: "startup complete" in self.log() or self.running.poll() is not None, 60)
        found = re.search(r"serving on (\S+)", self.log())
        assert found, self.log()
        return found[1]

    def log(self) -> str:
        return "".join(self.lines)

    def status(self) -> int:
        """Wait for the end of the process."""
        status = self.running.wait(60)
        self._reader.join()
        return status

    def _read(self) -> None:
        assert self.running.stderr is not None
        with self.running.stderr as lines:
            for line in lines:
                self.lines.append(line)


@contextmanager
def run_process(*arguments: str, env: Mapping[str, str] | None = None) -> Iterator[Process]:
    process = Process(*arguments, env=env)
    try:
        yield process
    finally:
        process.running.kill()
        process.status()


@pytest.fixture
def process() -> Any:
    return run_process
