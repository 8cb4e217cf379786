"""What the tests of the client share: a server on loopback, and both clients in one form."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from clients import AnyClient, Blocking
from deg_client import Client
from loopback import Loopback


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DEG_BASE_URL", "DEG_API_KEY", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as loopback:
        yield loopback


@pytest.fixture(params=[Client, Blocking])
def connect(request: pytest.FixtureRequest) -> Iterator[Callable[..., AnyClient]]:
    """Make clients for a server: the one, and the one for asyncio."""
    made: list[AnyClient] = []

    def make(server: Loopback, **settings: object) -> AnyClient:
        made.append(request.param(server.url, **settings))
        return made[-1]

    yield make
    for client in made:
        client.close()
