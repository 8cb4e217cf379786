from __future__ import annotations

import socket
from argparse import Namespace
from pathlib import Path
from typing import Any

import httpx
import pytest

from deg_model import CheckpointError
from deg_serve.cli import main


def never(_arguments: Namespace) -> Any:
    raise AssertionError("nothing is loaded")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--host", "0.0.0.0"], "can be reached from elsewhere"),
        (["--host", "example.org"], "can be reached from elsewhere"),
        (["--max-batch", "0"], "less than 1"),
        (["--max-body", "much"], "no size"),
        (["--null-margin", "nan"], "no finite number"),
        (["--timeout", "0"], "more than 0"),
        (["--batch-window", "-1"], "no number of seconds"),
        (["--keys", "a", "--no-keys"], "not allowed with"),
        (["--port", "70000"], "no port"),
    ],
)
def test_a_command_line_to_mend_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments, load=never)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_file_without_a_key_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "keys"
    path.write_text("# none yet\n")
    with pytest.raises(SystemExit):
        main(["--keys", str(path)], load=never)
    assert "there is no key" in capsys.readouterr().err


def test_a_failure_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def load(_arguments: Namespace) -> Any:
        raise CheckpointError("it is damaged")

    assert main(["--port", "0"], load=load) == 1
    assert capsys.readouterr().err == "error: it is damaged\n"
    assert main(["--keys", str(tmp_path / "nowhere")], load=never) == 1


def test_a_taken_address_is_found_before_anything_is_loaded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["--port", str(port)], load=never) == 1
    assert "error: 127.0.0.1" in capsys.readouterr().err


def test_sizes_have_units() -> None:
    seen: list[Namespace] = []

    def load(arguments: Namespace) -> Any:
        seen.append(arguments)
        raise CheckpointError("that is enough")

    main(["--port", "0", "--max-body", "512KiB", "--context-cache", "2GiB"], load=load)
    assert (seen[0].max_body, seen[0].context_cache) == (512 << 10, 2 << 30)


def test_keys_open_a_server_and_stay_out_of_its_log(process: Any, wire: Any) -> None:
    arguments = ("--port", "0", "--host", "0.0.0.0", "--log-level", "debug")
    with process(*arguments, env={"DEG_API_KEYS": "one,hidden"}) as server:
        url = server.url().replace("0.0.0.0", "127.0.0.1")
        body = {**wire("fill.request"), "context": "confidential"}
        headers = {"authorization": "Bearer hidden"}
        with httpx.Client(base_url=url, trust_env=False, timeout=30) as http:
            refused = http.post("/v1/fill", json=body)
            served = http.post("/v1/fill", json=body, headers=headers)
    assert (refused.status_code, served.status_code) == (401, 200)
    assert "fill 200" in server.log()
    assert served.headers["x-request-id"] in server.log()
    assert "confidential" not in server.log()
    assert "hidden" not in server.log()
