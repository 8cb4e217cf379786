"""Sets up a checkout, shows the demo, runs every check; needs Python 3.11 or newer, nothing else.

python3 tools/dev.py demo     set up, then fill the documents under examples/
python3 tools/dev.py test     run every check of the repository (arguments go to nox)
python3 tools/dev.py setup    set up .venv alone: every package, editable, with what its tests need
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
STARTED = time.monotonic()
OFFLINE_SIGNS = (
    "NewConnectionError",
    "NameResolutionError",
    "Failed to establish a new connection",
    "Temporary failure in name resolution",
    "ProxyError",
    "ConnectTimeoutError",
    "Network is unreachable",
)


class SetupError(Exception):
    """Setting up failed; the message is one line that says what to do."""


class Environment:
    """A virtual environment in the checkout, marked with what it was filled from."""

    def __init__(self, name: str, sources: list[Path]) -> None:
        self.folder = ROOT / name
        self.stamp = self.folder / "stamp"
        self.log = self.folder / "setup.log"
        self.fingerprint = _fingerprint([CONSTRAINTS, *sources])

    @property
    def scripts(self) -> Path:
        """Where the environment keeps its executables."""
        return self.folder / ("Scripts" if os.name == "nt" else "bin")

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.scripts / ("python.exe" if os.name == "nt" else "python")

    @property
    def ready(self) -> bool:
        """Whether the environment holds what the checkout asks for now."""
        filled = self.python.exists() and self.stamp.exists()
        return filled and self.stamp.read_text() == self.fingerprint

    def create(self) -> None:
        """Make the environment and bring pip to a version that knows dependency groups."""
        self.stamp.unlink(missing_ok=True)
        with step(f"creating {self.folder.name}"):
            if not self.python.exists():
                shutil.rmtree(self.folder, ignore_errors=True)
                _run([sys.executable, "-m", "venv", str(self.folder)], None)
            self.log.write_text("")
        self.install("updating pip", "--upgrade", "pip")

    def install(self, what: str, *arguments: str) -> None:
        """Install with pip, under the pinned versions."""
        pip = [str(self.python), "-m", "pip", "install", "--no-compile", "--retries", "2"]
        with step(what) as show:
            _run([*pip, "--constraint", str(CONSTRAINTS), *arguments], self.log, show)

    def finish(self) -> None:
        """Mark the environment as filled."""
        self.stamp.write_text(self.fingerprint)


def main(arguments: list[str]) -> int:
    """Run one command and return the exit status."""
    commands = {"demo": demo, "setup": setup, "test": test}
    if not arguments or arguments[0] not in commands:
        print(__doc__)
        return 0 if arguments[:1] in ([], ["-h"], ["--help"]) else 2
    # an older interpreter gets this far, since nothing above needs a newer one
    if sys.version_info < (3, 11):  # noqa: UP036
        print(f"error: deg needs Python 3.11 or newer, this is {sys.version.split()[0]}")
        return 1
    try:
        return commands[arguments[0]](arguments[1:])
    except SetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130


def demo(arguments: list[str]) -> int:
    """Set up, then fill the example documents."""
    setup([])
    command = [str(environment().python), "-m", "deg_runtime.demo", *(arguments or ["examples"])]
    return subprocess.run(command, cwd=ROOT).returncode


def setup(_arguments: list[str]) -> int:
    """Fill .venv with every package; a second run changes nothing."""
    target = environment()
    if target.ready:
        return 0
    target.create()
    groups = [
        arg for folder in packages() for arg in ("--group", f"{folder / 'pyproject.toml'}:test")
    ]
    editables = [arg for folder in packages() for arg in ("--editable", str(folder))]
    target.install("installing torch", *torch_arguments())
    target.install("installing build and test tools", "--group", "backend", *groups)
    target.install("installing the packages", "--no-build-isolation", *editables)
    target.finish()
    return 0


def test(arguments: list[str]) -> int:
    """Run every session of the noxfile, or what *arguments* tell nox."""
    tools = Environment(".venv-tools", [ROOT / "pyproject.toml"])
    if not tools.ready:
        tools.create()
        tools.install("installing nox", "--group", "nox")
        tools.finish()
    command = [str(tools.python), "-m", "nox", *arguments]
    return subprocess.run(command, cwd=ROOT).returncode


def environment() -> Environment:
    """Return the environment that the demo and a developer work in."""
    sources = [ROOT / "pyproject.toml", *(folder / "pyproject.toml" for folder in packages())]
    return Environment(".venv", sources)


def packages() -> list[Path]:
    """Return the folder of every package."""
    return sorted(path.parent for path in (ROOT / "packages").glob("*/pyproject.toml"))


def torch_arguments() -> list[str]:
    """Return how to install torch: from DEG_TORCH_INDEX where there is no GPU and it is set."""
    index = os.environ.get("DEG_TORCH_INDEX")
    if shutil.which("nvidia-smi") or not index:
        return ["torch"]
    return ["--index-url", index, "torch"]


@contextmanager
def step(what: str) -> Iterator[Ticker]:
    """Show *what* is going on and for how long, and keep one line of it."""
    ticker = Ticker(what)
    try:
        yield ticker
    finally:
        ticker.stop()


class Ticker:
    """A line with the elapsed time: redrawn in a terminal, repeated now and then in a log."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.detail = ""
        self.began = time.monotonic()
        self.live = sys.stdout.isatty()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._tick, daemon=True)
        self.thread.start()

    def __call__(self, detail: str) -> None:
        """Say what goes on inside the step."""
        self.detail = detail

    def stop(self) -> None:
        """Leave one line behind."""
        self.over.set()
        self.thread.join()
        clear = "\r\x1b[K" if self.live else ""
        print(f"{clear}{self._head()} ({time.monotonic() - self.began:.1f} s)", flush=True)

    def _tick(self) -> None:
        while not self.over.wait(0.2 if self.live else 15.0):
            width = shutil.get_terminal_size().columns - 1
            line = f"{self._head()}  {self.detail}"[:width]
            print(
                f"\r\x1b[K{line}" if self.live else line, end="" if self.live else "\n", flush=True
            )

    def _head(self) -> str:
        return f"[{time.monotonic() - STARTED:6.1f} s] {self.what}"


def _run(command: list[str], log: Path | None, show: Ticker | None = None) -> None:
    output: list[str] = []
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            output.append(line)
            if show is not None:
                show(line.strip())
    if log is not None:
        with log.open("a") as file:
            file.writelines(output)
    if process.returncode:
        raise SetupError(_advice("".join(output), log))


def _advice(output: str, log: Path | None) -> str:
    if any(sign in output for sign in OFFLINE_SIGNS):
        return (
            "the package index cannot be reached: connect (or set pip's index) and run this again"
        )
    if "ensurepip is not" in output:
        return (
            "this Python cannot make environments: install its venv module (Debian: python3-venv)"
        )
    if "No space left on device" in output:
        return "the disk is full: setting up needs about 3 GB; make room and run this again"
    last = next(
        (line for line in reversed(output.splitlines()) if line.strip()), "no output"
    ).strip()
    where = f" (all of it: {log.relative_to(ROOT)})" if log else ""
    return f"setting up failed: {last}{where}"


def _fingerprint(files: list[Path]) -> str:
    digest = hashlib.sha256(f"{sys.version_info[:2]} {ROOT}".encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
