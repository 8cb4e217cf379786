"""What the server adds to its engine, and what it gains by filling together, in one run.

python tools/bench_serve.py [PART ...] [--seconds S] [--clients N] [--rate R] [--repeats N]

`load` paces many clients against an engine that answers at once, so that all the time a request
takes is the server's, its window to wait for others included. `short`, `long` and `same` serve the
default checkpoint on one thread and send 16 requests one by one and all together: short contexts,
long ones that differ, one long context with questions that differ. The answers of the first repeat
are compared with those of `engine.fill`, bit for bit. The server is a process of its own on
loopback; the best of the repeats counts, and beside the time on the clock stands the processor time
of the server ("by work"), which other work on the machine moves less. All of it takes some minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import psutil
import torch
import uvicorn
from bench_runtime import TWO_FIELDS, fresh, text_of

from deg_runtime import Engine, load
from deg_serve import create_app

NUM_TOGETHER = 16
REQUEST = {
    "context": "Order A-1047 arrived broken.",
    "schema": {"type": "object", "properties": {"damaged": {"type": "boolean"}}},
}


class Trivial:
    """An engine that answers at once."""

    model_id = "deg-trivial"

    def fill_many(self, requests: Sequence[Any], **_options: Any) -> list[dict[str, Any]]:
        """Answer each request with the same response."""
        return [
            {
                "model": self.model_id,
                "value": {"damaged": True},
                "meta": {"/damaged": {"mode": "decide.noul", "probability": 0.9375}},
                "usage": {"prompt_tokens": 61, "generated_tokens": 0},
                "plan": "0" * 64,
            }
            for _ in requests
        ]

    def stream(self, context: str, schema: Mapping[str, Any], **_options: Any) -> Iterator[Any]:
        """Refuse: nobody streams here."""
        raise NotImplementedError


class Connection:
    """One connection that is kept, as light as a client can be."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def __aenter__(self) -> Connection:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def send(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes, float]:
        """Send a request and return the status, the body and the seconds that it took."""
        head = f"{method} {path} HTTP/1.1\r\nhost: deg\r\ncontent-type: application/json\r\n"
        began = time.perf_counter()
        self.writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        answered = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        size = int(answered.partition("content-length:")[2].split("\r\n")[0])
        content = await self.reader.readexactly(size)
        return int(answered.split(" ")[1]), content, time.perf_counter() - began


@dataclass
class Seen:
    """What clients saw."""

    statuses: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    health_seconds: list[float] = field(default_factory=list)


def main() -> None:
    """Print what the parts that were asked for measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help="load, short, long, same")
    parser.add_argument("--seconds", type=float, default=60, help="of load (%(default)s)")
    parser.add_argument("--clients", type=int, default=200, help="of load (%(default)s)")
    parser.add_argument("--rate", type=float, default=1.5, help="requests of each (%(default)s/s)")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--trivial", type=int, metavar="PORT", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - {"load", *TOGETHER}:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    if arguments.trivial is not None:
        serve_trivial(arguments.trivial)
        return
    parts = arguments.parts or ["load", *TOGETHER]
    if "load" in parts:
        load_part(arguments.clients, arguments.rate, arguments.seconds)
    if chosen := [name for name in parts if name in TOGETHER]:
        together_parts(chosen, arguments.repeats)


def serve_trivial(port: int) -> None:
    """Serve the trivial engine until stopped."""
    uvicorn.run(create_app(Trivial()), host="127.0.0.1", port=port, log_level="warning")


def load_part(num_clients: int, rate: float, seconds: float) -> None:
    """Pace clients, and print what they saw and how much memory the server took."""
    port = free_port()
    command = [sys.executable, __file__, "--trivial", str(port)]
    with serving(command, port) as server:
        # the first requests load what later ones find
        asyncio.run(paced(port, num_clients, rate, min(3.0, seconds)))
        before, times = server.memory_info().rss, server.cpu_times()
        seen = asyncio.run(paced(port, num_clients, rate, seconds))
        after, work = server.memory_info().rss, since(server, times)
    errors = sum(n for status, n in seen.statuses.items() if status not in ("200", "429"))
    p50, p99 = percentiles(seen.seconds)
    told = ", ".join(f"{n} x {status}" for status, n in sorted(seen.statuses.items()))
    print(f"{num_clients} clients, {rate:g} requests/s each, {seconds:g} s: {told}")
    print(f"errors other than 429: {errors} (at most 0)")
    print(f"added latency: p50 {1e3 * p50:.1f} ms, p99 {1e3 * p99:.1f} ms (p99 at most 10)")
    each = work / max(1, sum(seen.statuses.values()))
    print(f"processor time of the server: {1e3 * each:.2f} ms a request")
    slowest = max(seen.health_seconds, default=0.0)
    print(f"health meanwhile: slowest {1e3 * slowest:.1f} ms (at most 50)")
    print(
        f"memory of the server: {before / 2**20:.1f} MiB before, {after / 2**20:.1f} MiB after",
        flush=True,
    )


async def paced(port: int, num_clients: int, rate: float, seconds: float) -> Seen:
    """Let each client send *rate* requests a second, each at a phase of its own."""
    seen, draw = Seen(), random.Random(0)
    end = time.perf_counter() + seconds
    phases = [draw.random() / rate for _ in range(num_clients)]
    clients = [one_client(port, phase, 1 / rate, end, seen) for phase in phases]
    await asyncio.gather(health_client(port, end, seen), *clients)
    return seen


async def one_client(port: int, phase: float, period: float, end: float, seen: Seen) -> None:
    """Send a request each *period*, as long as there is time."""
    body, due = json.dumps(REQUEST).encode(), time.perf_counter() + phase
    while due < end:
        try:
            async with Connection(port) as connection:
                while due < end:
                    await asyncio.sleep(max(0.0, due - time.perf_counter()))
                    due += period
                    status, _, seconds = await connection.send("POST", "/v1/fill", body)
                    seen.statuses[str(status)] += 1
                    if status == 200:
                        seen.seconds.append(seconds)
        except (OSError, asyncio.IncompleteReadError) as error:
            seen.statuses[type(error).__name__] += 1


async def health_client(port: int, end: float, seen: Seen) -> None:
    """Ask for the health of the server all the time."""
    async with Connection(port) as connection:
        while time.perf_counter() < end:
            _, _, seconds = await connection.send("GET", "/health")
            seen.health_seconds.append(seconds)
            await asyncio.sleep(0.1)


Sent = Callable[[int, list[dict[str, Any]]], Coroutine[Any, Any, list[bytes]]]


@dataclass(frozen=True)
class Side:
    """One way to send 16 requests."""

    name: str
    sent: Sent
    is_one_context: bool = False

    def bodies(self, engine: Engine, num_tokens: int, start: int) -> list[dict[str, Any]]:
        """Return requests that no other *start* gives."""
        lead = text_of(engine, max(num_tokens - 6, 8))
        numbers = range(NUM_TOGETHER)
        if self.is_one_context:
            return [{"context": f"{start}. {lead}", "schema": asked_anew(n)} for n in numbers]
        return [{"context": f"{start + n}. {lead}", "schema": TWO_FIELDS} for n in numbers]


def asked_anew(number: int) -> dict[str, Any]:
    """Return the two fields in words of their own."""
    fields: dict[str, Any] = {**TWO_FIELDS}["properties"]  # type: ignore[assignment]
    properties = {
        name: {**each, "description": f"{each['description']} ({number})"}
        for name, each in fields.items()
    }
    return {**TWO_FIELDS, "properties": properties}


def together_parts(names: Sequence[str], repeats: int) -> None:
    """Send 16 requests of each kind one by one and all together, and compare the answers."""
    torch.set_num_threads(1)
    engine, port = load(report=print), free_port()
    command = [sys.executable, "-m", "deg_serve", "--port", str(port), "--timeout", "600"]
    # what a context begins with, so that none was read before
    numbers = itertools.count(1000, NUM_TOGETHER)
    with serving(command, port) as server:
        # the first fill compiles what later ones find
        asyncio.run(one_by_one(port, ONE_BY_ONE.bodies(engine, 30, next(numbers))))
        for name in names:
            num_tokens, least, sides = TOGETHER[name]
            runs: dict[str, list[Run]] = {side.name: [] for side in sides}
            for repeat in range(repeats):
                for side in sides:
                    bodies = side.bodies(engine, num_tokens, next(numbers))
                    run = Run.of(server, side, port, bodies, engine if repeat == 0 else None)
                    runs[side.name].append(run)
            tell(f"{name}, contexts of {num_tokens} tokens", runs, least)


def tell(title: str, runs: Mapping[str, Sequence[Run]], least: float) -> None:
    """Print how the first side compares with each other, of which the second has a target."""
    walls = {name: min(run.wall for run in each) for name, each in runs.items()}
    works = {name: min(run.work for run in each) for name, each in runs.items()}
    first, target, *_ = runs
    print(f"{title}: {walls[first]:.2f} s {first}")
    for name in list(runs)[1:]:
        ratio, by_work = walls[name] / walls[first], works[name] / works[first]
        asked = f" (at least {least})" if name == target else ""
        print(f"  requests/s, times those {name}: {ratio:.2f}{asked}, by work {by_work:.2f}")
    equal = sum(run.num_equal for each in runs.values() for run in each)
    compared = len(runs) * NUM_TOGETHER
    print(f"  answers equal to engine.fill: {equal} of {compared}", flush=True)


@dataclass(frozen=True)
class Run:
    """What one way to send took: seconds on the clock, and of the server's processor time."""

    wall: float
    work: float
    num_equal: int

    @classmethod
    def of(
        cls,
        server: psutil.Process,
        side: Side,
        port: int,
        bodies: list[dict[str, Any]],
        engine: Engine | None,
    ) -> Run:
        """Send the requests, and compare each answer with that of *engine* where it is given."""
        times, began = server.cpu_times(), time.perf_counter()
        answers = asyncio.run(side.sent(port, bodies))
        wall, work = time.perf_counter() - began, since(server, times)
        responses = expected(engine, bodies) if engine else []
        return cls(wall, work, sum(map(is_equal, answers, responses)))


def since(server: psutil.Process, times: Any) -> float:
    """Return the processor time of the server since it was at *times*."""
    now = server.cpu_times()
    return float(now.user + now.system - times.user - times.system)


async def one_by_one(port: int, bodies: list[dict[str, Any]]) -> list[bytes]:
    """Send each request when the one before is answered."""
    async with Connection(port) as connection:
        return [await answered(connection, body) for body in bodies]


async def all_together(port: int, bodies: list[dict[str, Any]]) -> list[bytes]:
    """Send all requests at once, each on a connection of its own."""
    async with AsyncExitStack() as stack:
        connections = [await stack.enter_async_context(Connection(port)) for _ in bodies]
        sent = map(answered, connections, bodies)
        return await asyncio.gather(*sent)


ONE_BY_ONE = Side("one by one", one_by_one)
ALL_TOGETHER = Side("together", all_together)
TOGETHER: dict[str, tuple[int, float, tuple[Side, ...]]] = {
    "short": (30, 1.5, (ALL_TOGETHER, ONE_BY_ONE)),
    "long": (1000, 1.0, (ALL_TOGETHER, ONE_BY_ONE)),
    "same": (
        1000,
        2.5,
        (
            Side("together on one context", all_together, is_one_context=True),
            Side("one by one on contexts that differ", one_by_one),
            Side("one by one on one context, which is kept", one_by_one, is_one_context=True),
        ),
    ),
}


async def answered(connection: Connection, body: dict[str, Any]) -> bytes:
    """Return the answer to one request."""
    status, content, _ = await connection.send("POST", "/v1/fill", json.dumps(body).encode())
    if status != 200:
        raise RuntimeError(f"the server answered {status}: {content.decode()}")
    return content


def expected(engine: Engine, bodies: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the engine answers to each request alone."""
    fresh(engine)
    return [engine.fill(body["context"], body["schema"]) for body in bodies]


def is_equal(answer: bytes, response: dict[str, Any]) -> bool:
    """Say whether both are the same, bit for bit, save how much had been read before."""
    over_http = json.loads(answer)
    for one in (over_http, response):
        one["usage"].pop("cached_tokens", None)
    return bool(json.dumps(over_http) == json.dumps(response))


@contextmanager
def serving(command: list[str], port: int) -> Iterator[psutil.Process]:
    """Run a server as long as it is needed, and yield its process when it answers."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    server = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        wait_for(server, port)
        yield psutil.Process(server.pid)
    finally:
        server.terminate()
        server.wait(60)


def wait_for(server: subprocess.Popen[bytes], port: int) -> None:
    """Wait until the server is healthy."""
    for _ in range(600):
        if server.poll() is not None:
            raise SystemExit(f"the server ended with status {server.returncode}")
        try:
            asyncio.run(ask_health(port))
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server did not come up within a minute")


async def ask_health(port: int) -> None:
    """Return once the server has answered."""
    async with Connection(port) as connection:
        await connection.send("GET", "/health")


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def percentiles(seconds: Sequence[float]) -> tuple[float, float]:
    """Return the middle one, and the one that only one in a hundred exceeds."""
    if len(seconds) < 2:
        raise SystemExit("too few requests were answered to measure anything")
    hundredths = statistics.quantiles(seconds, n=100)
    return statistics.median(seconds), hundredths[-1]


if __name__ == "__main__":
    main()
