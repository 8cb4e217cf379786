from __future__ import annotations

import json
import os
import random
import re
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from deg_runtime import Engine, Request
from deg_runtime.cli import main
from deg_schema import DegError, FillError, Options

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"order": {"type": "string"}}}
RECORDS = [
    *[json.dumps({"context": f"Order A-{number}", "id": number}) for number in range(7)],
    "",
    '"bad"',
    "{",
    json.dumps("Order Zoë", ensure_ascii=False),
]


class Echo:
    """Answers with the text itself, after a wait; nothing bad."""

    def __init__(self, wait: float = 0.0) -> None:
        self.wait = wait
        self.texts: list[Any] = []
        self.sizes: list[int] = []

    def __call__(self, checkpoint: Path | None = None, **_: Any) -> Echo:
        return self

    def fill_many(
        self, requests: Sequence[Request], *, options: Options | Mapping[str, Any] | None = None
    ) -> list[dict[str, Any] | DegError]:
        time.sleep(self.wait)
        self.sizes.append(len(requests))
        self.texts += [request[0] for request in requests]
        return [
            FillError("is bad", "/order")
            if request[0] == "bad"
            else {"value": {"order": request[0]}, "usage": {"cached_tokens": len(self.texts)}}
            for request in requests
        ]


class Job:
    """A folder with an input, and the command line over it."""

    def __init__(self, folder: Path, records: Sequence[str] = RECORDS) -> None:
        self.source, self.target = folder / "in.jsonl", folder / "out.jsonl"
        self.schema = folder / "schema.json"
        self.source.write_text("\n".join(records) + "\n", "utf-8")
        self.schema.write_text(json.dumps(SCHEMA))
        self.words = ["batch", str(self.source), "--schema", str(self.schema)]
        self.words += ["--out", str(self.target), "--batch-size", "2"]

    def run(self, engine: Any, *more: str) -> int:
        return main([*self.words, *more], load=engine)

    def in_child(self, begin: Callable[[], object], engine: Any) -> int:
        """Run in a process of its own, after *begin*, and return its id."""
        with warnings.catch_warnings():
            # the threads that Python warns of are those of idle operators
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if not child:
            status = 99
            try:
                begin()
                status = self.run(engine)
            finally:
                os._exit(status)
        return child


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What the job writes if nothing comes between."""
    job = Job(tmp_path_factory.mktemp("whole"))
    assert job.run(Echo()) == 1
    return job.target.read_bytes()


def test_every_record_has_a_line_and_failures_are_told(
    job: Job, whole: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = Echo()
    assert job.run(engine) == 1
    answers = [json.loads(line) for line in job.target.read_bytes().splitlines()]
    assert [answer["line"] for answer in answers] == [1, 2, 3, 4, 5, 6, 7, 9, 10, 11]
    assert answers[3] == {
        "line": 4,
        "id": 3,
        "response": {"value": {"order": "Order A-3"}, "usage": {}},
    }
    assert [answer["line"] for answer in answers if "error" in answer] == [9, 10]
    assert engine.sizes == [2, 2, 2, 2, 1]
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.splitlines() == [
        f"{job.source} line 9: /order: is bad",
        f"{job.source} line 10: no JSON (Expecting property name enclosed in double quotes "
        "at column 2)",
        f"{job.target}: 10 records, 8 filled, 2 failed, in 0 s",
    ]


def test_a_job_without_a_failure_succeeds_and_need_not_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job = Job(tmp_path, RECORDS[:3])
    assert job.run(Echo()) == 0
    engine = Echo()
    assert job.run(engine) == 0
    assert engine.texts == []
    assert "going on after 3 of 3 records" in capsys.readouterr().err


def test_an_input_without_records_has_an_output_without_lines(tmp_path: Path) -> None:
    job = Job(tmp_path, [""])
    assert job.run(Echo()) == 0
    assert job.target.read_bytes() == b""


def test_of_many_failures_only_the_first_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert Job(tmp_path, ["{"] * 25).run(Echo()) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 22
    assert lines[20].startswith("and 5 more failures, all in ")


@pytest.mark.parametrize("size", ["1", "3", "16"])
def test_answers_are_those_of_fill_one_by_one_at_any_batch_size(
    job: Job, make_engine: Callable[..., Engine], size: str
) -> None:
    engine, alone = make_engine(cache_bytes=1 << 20), make_engine()
    assert job.run(lambda *_, **__: engine, "--batch-size", size) == 1
    answers = [json.loads(line) for line in job.target.read_bytes().splitlines()]
    texts = [f"Order A-{number}" for number in range(7)] + ["bad", None, "Order Zoë"]
    for answer, text in zip(answers, texts, strict=True):
        if text is None:
            assert "error" in answer
        else:
            assert answer["response"] == alone.fill(text, SCHEMA)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(share=st.floats(0, 1), size=st.integers(1, 12))
def test_cut_at_any_byte_and_run_again_the_output_is_the_same(
    tmp_path: Path, whole: bytes, share: float, size: int
) -> None:
    job, engine = Job(tmp_path), Echo()
    job.target.unlink(missing_ok=True)
    job.run(Echo())
    os.truncate(job.target, round(share * len(whole)))
    kept = job.target.read_bytes().count(b"\n")
    assert job.run(engine, "--batch-size", str(size)) == 1
    assert job.target.read_bytes() == whole
    # nothing that was finished is done once more; the second bad record asks nothing
    assert len(engine.texts) == 10 - kept - (kept <= 8)


@pytest.mark.parametrize("room", [0, 1, 79, 80, 300, 555])
def test_killed_in_the_middle_of_a_write_nothing_is_lost_or_repeated(
    job: Job, whole: bytes, room: int
) -> None:
    def begin() -> None:
        write, left = os.write, [room]

        def write_then_die(file: int, content: bytes) -> int:
            count = write(file, content[: left[0]]) if left[0] else 0
            left[0] -= count
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            return count

        os.write = write_then_die

    _, status = os.waitpid(job.in_child(begin, Echo()), 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert job.target.read_bytes() == whole[:room]
    assert job.run(Echo()) == 1
    assert job.target.read_bytes() == whole


def test_killed_again_and_again_at_any_time_it_comes_to_the_same_end(
    tmp_path: Path, whole: bytes
) -> None:
    chance = random.Random(5)
    job = Job(tmp_path)
    for _ in range(12):
        child = job.in_child(lambda: None, Echo(wait=0.004))
        time.sleep(chance.uniform(0.005, 0.04))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        written = job.target.read_bytes() if job.target.exists() else b""
        assert whole.startswith(written)
    assert job.run(Echo()) == 1
    assert job.target.read_bytes() == whole


def test_a_terminal_shows_a_bar_with_rate_and_time_left(
    job: Job, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("FORCE_COLOR", "1"), ("NO_COLOR", "1"), ("COLUMNS", "100")):
        monkeypatch.setenv(name, value)

    class Interrupted(Echo):
        def fill_many(self, requests: Any, *, options: Any = None) -> Any:
            os.kill(os.getpid(), signal.SIGINT)
            return super().fill_many(requests, options=options)

    # the bar stands as it was when the work was stopped
    assert job.run(Interrupted(wait=0.01)) == 130
    shown = capsys.readouterr().err
    assert re.search(r"records ━+ +2/10 [\d,.]+ a second, \d+ s left", shown)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_after_the_batch_and_says_how_to_go_on(
    job: Job, whole: bytes, capsys: pytest.CaptureFixture[str], number: signal.Signals
) -> None:
    class Interrupted(Echo):
        def fill_many(self, requests: Any, *, options: Any = None) -> Any:
            os.kill(os.getpid(), number)
            return super().fill_many(requests, options=options)

    usual = signal.getsignal(number)
    assert job.run(Interrupted()) == 128 + number
    assert job.target.read_bytes() == b"".join(whole.splitlines(keepends=True)[:2])
    assert capsys.readouterr().err.splitlines() == [
        "stopping after this batch; once more to stop at once",
        "stopped after 2 of 10 records; run the same command again to go on",
    ]
    assert signal.getsignal(number) is usual
    assert job.run(Echo()) == 1
    assert job.target.read_bytes() == whole


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """Let an interrupt have its effect, which a shell takes from what it runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_a_second_interrupt_stops_at_once(job: Job, capsys: pytest.CaptureFixture[str]) -> None:
    class Interrupted(Echo):
        def fill_many(self, requests: Any, *, options: Any = None) -> Any:
            # to this very thread: two that wait for it in another one would count as one
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            return super().fill_many(requests, options=options)

    assert job.run(Interrupted()) == 130
    assert job.target.read_bytes() == b""
    assert capsys.readouterr().err.endswith("stopped\n")


def test_a_disk_that_is_full_is_told_and_leaves_no_half_line(
    job: Job, whole: bytes, tmp_path: Path
) -> None:
    told = tmp_path / "told"

    def begin() -> None:
        # the file may not grow beyond this: what a full disk does, but for the words
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
        sys.stderr = told.open("w")

    _, status = os.waitpid(job.in_child(begin, Echo()), 0)
    assert os.WEXITSTATUS(status) == 1
    written = job.target.read_bytes()
    assert not written or written.endswith(b"\n")
    assert whole.startswith(written)
    assert told.read_text() == (
        f"error: {job.target}: File too large; what is finished is kept: make room, then run the "
        "same command again\n"
    )
    assert job.run(Echo()) == 1
    assert job.target.read_bytes() == whole


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda job: job.source.write_text('"other"\n'), "another input"),
        (lambda job: job.schema.write_text('{"properties": {}, "type": "object"}'), "schema"),
        (lambda job: job.words.extend(["--option", "seed=3"]), "other options"),
        (lambda job: job.words.extend(["--generate", "base"]), "other options"),
    ],
)
def test_another_job_does_not_go_on_with_the_output(
    job: Job,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[Job], object],
    words: str,
) -> None:
    job.run(Echo())
    before = job.target.read_bytes()
    change(job)
    capsys.readouterr()
    if words == "schema":
        job.schema.write_text(json.dumps(SCHEMA | {"title": "another"}))
    assert job.run(Echo()) == 2
    assert words in capsys.readouterr().err
    assert job.target.read_bytes() == before


def test_another_checkpoint_does_not_go_on_with_the_output(
    job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job.run(Echo())
    (tmp_path / "deg.json").write_text("{}")
    assert job.run(Echo(), "--checkpoint", str(tmp_path)) == 2
    assert "was begun with another checkpoint" in capsys.readouterr().err
    assert job.run(Echo(), "--checkpoint", str(tmp_path / "absent")) == 2
    assert "absent/deg.json: cannot be read" in capsys.readouterr().err


def test_problems_are_told_before_the_model_loads(
    job: Job, capsys: pytest.CaptureFixture[str]
) -> None:
    def unloadable(*_: Any, **__: Any) -> Any:
        raise AssertionError("the model was loaded")

    job.schema.write_text('{"type": "object", "properties": {"a": {"type": "what"}}}')
    assert job.run(unloadable, "--option", "speed=9") == 2
    places = [line.partition(": ")[0] for line in capsys.readouterr().err.splitlines()]
    assert places == ["/properties/a/type", "--option speed"]
    assert not job.target.exists()


@pytest.mark.parametrize("name", ["in.jsonl", "schema.json"])
def test_what_is_read_is_not_overwritten(job: Job, name: str) -> None:
    job.words[job.words.index("--out") + 1] = str(job.source.with_name(name))
    before = job.source.read_bytes(), job.schema.read_bytes()
    assert job.run(Echo()) == 2
    assert (job.source.read_bytes(), job.schema.read_bytes()) == before


def test_workers_are_for_ray(job: Job, capsys: pytest.CaptureFixture[str]) -> None:
    assert job.run(Echo(), "--workers", "2") == 2
    assert "--workers: goes with --engine ray" in capsys.readouterr().err


def test_without_ray_the_way_to_it_is_one_line(
    job: Job, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delitem(sys.modules, "deg_runtime.batch_ray", raising=False)
    assert job.run(Echo(), "--engine", "ray") == 2
    assert capsys.readouterr().err == (
        "error: --engine ray: Ray is not installed; run pip install 'deg-runtime[ray]'\n"
    )


def test_workers_of_ray_are_given_the_whole_path_of_a_checkpoint(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill_with_ray(path: Path, lines: Any, load: Callable[[], Any], *_: Any, **__: Any) -> Any:
        loaded.append(load())
        return iter(())

    loaded: list[Path] = []
    pipeline = SimpleNamespace(fill_with_ray=fill_with_ray)
    monkeypatch.setitem(sys.modules, "deg_runtime.batch_ray", pipeline)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deg.json").write_text("{}")
    # a pipeline that ends early is no success
    assert job.run(lambda checkpoint: checkpoint, "--engine", "ray", "--checkpoint", ".") == 1
    assert loaded == [tmp_path.resolve()]


@pytest.mark.parametrize("size", ["0", "-1", "x"])
def test_a_batch_has_at_least_one_record(job: Job, size: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        job.run(Echo(), "--batch-size", size)
    assert stopped.value.code == 2


def test_a_huge_input_is_never_in_memory(tmp_path: Path) -> None:
    job = Job(tmp_path, [json.dumps("x" * 1_000_000)] * 60)

    def begin() -> None:
        base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (max(base, used) + 40_000_000,) * 2)

    class Short(Echo):
        def fill_many(self, requests: Any, *, options: Any = None) -> Any:
            return [{"value": {}, "usage": {}} for _ in requests]

    _, status = os.waitpid(job.in_child(begin, Short()), 0)
    assert os.WEXITSTATUS(status) == 0
    assert job.target.read_bytes().count(b"\n") == 60


def test_a_generator_is_known_by_what_it_holds(
    job: Job, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        (folder / "generator.json").write_text("{}")
    job.words.extend(["--generate", f"base+lora:{one}"])
    status, written = job.run(Echo()), job.target.read_bytes()
    job.words[-1] = f"base+lora:{two}"
    assert job.run(Echo()) == status
    assert job.target.read_bytes() == written
    (two / "generator.json").write_text('{"rank": 3}')
    capsys.readouterr()
    assert job.run(Echo()) == 2
    assert "other options" in capsys.readouterr().err
    job.words[-1] = f"base+lora:{tmp_path / 'nowhere'}"
    assert job.run(Echo()) == 2
    assert "name a folder that deg-train generator wrote" in capsys.readouterr().err
    job.words[-1] = "both"
    assert job.run(Echo()) == 1
    assert "'both' names no writer: say self, base or base+lora:DIR" in capsys.readouterr().err
