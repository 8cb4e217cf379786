from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from deg_runtime import Engine, Request
from deg_runtime.cli import main
from deg_schema import DegError, Options

ray = pytest.importorskip("ray")
cloudpickle = pytest.importorskip("ray.cloudpickle")

# its own deprecations
pytestmark = pytest.mark.filterwarnings("ignore:::ray[.]")

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"order": {"type": "string"}, "late": {"type": "boolean"}},
    "required": ["late"],
}
RECORDS = [
    *[json.dumps({"context": f"FIELD number {number} 東京", "id": number}) for number in range(7)],
    "",
    '"naïve span text"',
    "{",
    '"last 2026"',
]
COMMAND = """
import sys
from ray import cloudpickle
from deg_runtime.cli import main
with open(sys.argv[1], "rb") as file:
    load = cloudpickle.load(file)
sys.exit(main(sys.argv[2:], load=load))
"""


@pytest.fixture(scope="module", autouse=True)
def _two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A local Ray that has two workers at a time, whatever the machine has."""
    with pytest.MonkeyPatch.context() as patch:
        # workers that yield to whatever else runs could take minutes to start
        patch.setenv("RAY_worker_niceness", "0")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(num_cpus=2, log_to_driver=False, logging_level="CRITICAL")
        yield
        ray.shutdown()


class Job:
    """A folder with an input, and the command line over it."""

    def __init__(self, folder: Path) -> None:
        self.source, self.target = folder / "in.jsonl", folder / "out.jsonl"
        self.source.write_text("\n".join(RECORDS) + "\n", "utf-8")
        (folder / "schema.json").write_text(json.dumps(SCHEMA))
        self.words = ["batch", str(self.source), "--schema", str(folder / "schema.json")]
        self.words += ["--batch-size", "2", "--out", str(self.target)]

    def run(self, load: Any, *more: str) -> int:
        return main([*self.words, *more], load=load)

    def run_with_ray(self, load: Any, *more: str) -> int:
        return self.run(load, "--engine", "ray", "--workers", "2", *more)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


def _loading(engine: Any) -> Callable[..., Any]:
    # a function in a function travels to a worker as it is: this module cannot be imported there
    def load(checkpoint: Path | None = None, *, report: Any = None) -> Any:
        return engine

    return load


@pytest.fixture(scope="module")
def load(make_engine: Callable[..., Engine]) -> Callable[..., Any]:
    return _loading(make_engine(cache_bytes=1 << 20))


@pytest.fixture(scope="module")
def whole(load: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What the job writes without Ray."""
    job = Job(tmp_path_factory.mktemp("whole"))
    assert job.run(load) == 1
    return job.target.read_bytes()


def test_two_workers_write_the_bytes_of_one_process(
    job: Job, load: Callable[..., Any], whole: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    assert job.run_with_ray(load) == 1
    assert job.target.read_bytes() == whole
    answers = [json.loads(line) for line in whole.splitlines()]
    assert [answer["line"] for answer in answers] == [1, 2, 3, 4, 5, 6, 7, 9, 10, 11]
    assert [answer["line"] for answer in answers if "error" in answer] == [10]
    *told, summary = capsys.readouterr().err.splitlines()
    # where workers start slowly, progress is told too
    (bad,) = [line for line in told if line.startswith(str(job.source))]
    assert bad.startswith(f"{job.source} line 10: no JSON")
    assert summary.startswith(f"{job.target}: 10 records, 9 filled, 1 failed")


def test_the_work_is_done_by_two_processes(job: Job, tmp_path: Path) -> None:
    def load(checkpoint: Path | None = None, *, report: Any = None) -> Any:
        class Meeting:
            def fill_many(self, requests: Sequence[Request], *, options: Any = None) -> list[Any]:
                (tmp_path / f"{os.getpid()}.pid").touch()
                # neither goes on before the other has come
                while len(list(tmp_path.glob("*.pid"))) < 2:
                    time.sleep(0.01)
                return [{"usage": {}} for _ in requests]

        return Meeting()

    # of ten batches one worker alone is not given all at once
    assert job.run_with_ray(load, "--batch-size", "1") == 1
    assert len(list(tmp_path.glob("*.pid"))) == 2


def test_killed_it_goes_on_where_it_was(
    job: Job,
    load: Callable[..., Any],
    whole: bytes,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def load_stuck(checkpoint: Path | None = None, *, report: Any = None) -> Any:
        class Stuck:
            def __init__(self, engine: Engine) -> None:
                self.engine = engine

            def fill_many(
                self, requests: Sequence[Request], *, options: Options | Mapping[str, Any]
            ) -> Sequence[dict[str, Any] | DegError]:
                if "last 2026" in [request[0] for request in requests]:
                    threading.Event().wait()
                return self.engine.fill_many(requests, options=options)

        return Stuck(load())

    (tmp_path / "load").write_bytes(cloudpickle.dumps(load_stuck))
    words = [sys.executable, "-c", COMMAND, str(tmp_path / "load"), *job.words]
    words += ["--engine", "ray", "--workers", "2"]
    cluster = os.environ | {"RAY_ADDRESS": ray.get_runtime_context().gcs_address}
    with subprocess.Popen(words, env=cluster) as command:
        try:
            while not job.target.exists() or not job.target.stat().st_size:
                assert command.poll() is None
                time.sleep(0.05)
        finally:
            command.send_signal(signal.SIGKILL)
    finished = job.target.read_bytes()
    assert whole.startswith(finished)
    # a worker may be given several batches at a time
    monkeypatch.setattr("deg_runtime.batch_ray._MOST_PARTS", 2)
    assert job.run_with_ray(load) == 1
    assert job.target.read_bytes() == whole
    count = finished.count(b"\n")
    assert f"going on after {count} of 10 records" in capsys.readouterr().err


def test_a_model_that_cannot_be_loaded_is_told_in_one_line(
    job: Job, capfd: pytest.CaptureFixture[str]
) -> None:
    def load(checkpoint: Path | None = None, *, report: Any = None) -> Any:
        raise FileNotFoundError("the base weights are not there")

    assert job.run_with_ray(load) == 1
    # beside what Ray itself may have to say
    told = capfd.readouterr().err.splitlines()
    assert "error: ray: FileNotFoundError: the base weights are not there" in told
    assert job.target.read_bytes() == b""


def test_a_mistake_of_ours_is_told_by_its_own_words(
    job: Job, capfd: pytest.CaptureFixture[str]
) -> None:
    def load(checkpoint: Path | None = None, *, report: Any = None) -> Any:
        class Broken:
            def fill_many(self, requests: Sequence[Request], *, options: Any = None) -> list[Any]:
                raise RuntimeError("shapes differ")

        return Broken()

    assert job.run_with_ray(load) == 1
    told = capfd.readouterr().err.splitlines()
    assert "error: ray: RuntimeError: shapes differ" in told


def test_a_record_that_kills_its_worker_is_not_tried_for_ever(
    job: Job, capfd: pytest.CaptureFixture[str]
) -> None:
    def load(checkpoint: Path | None = None, *, report: Any = None) -> Any:
        class Mortal:
            def fill_many(self, requests: Sequence[Request], *, options: Any = None) -> list[Any]:
                if "last 2026" in [request[0] for request in requests]:
                    os._exit(1)
                return [{"usage": {}} for _ in requests]

        return Mortal()

    assert job.run_with_ray(load) == 1
    told = capfd.readouterr().err
    assert f"error: ray: {job.source} line 10, 2 records: 3 workers died over them" in told
