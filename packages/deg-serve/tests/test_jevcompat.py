"""The public conformance suite of System One, with a key and without one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deg_runtime import load
from deg_serve import Keys, Settings
from oracle import Oracle

PATIENT = Settings(timeout=570)


def run_suite(url: str, report: Path, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "jevcompat.cli", "test", url, "--timeout", "570"]
    subprocess.run(
        [*command, "--json", str(report), *arguments], check=True, capture_output=True, timeout=1800
    )
    summary: dict[str, Any] = json.loads(report.read_text())["summary"]
    return summary


def test_every_requirement_is_met_where_a_key_is_needed(serve: Any, tmp_path: Path) -> None:
    with serve(Oracle(), keys=Keys(["right"])) as served:
        summary = run_suite(served.url, tmp_path / "report.json", "--key", "right")
    assert summary["verdict"] == "conformant"
    # one of two requirements about keys is of servers that need none
    assert summary["MUST"] == {"passed": 32, "failed": 0, "skipped": 1, "tested": 32}
    assert summary["SHOULD"] == {"passed": 15, "failed": 0, "skipped": 0, "tested": 15}


@pytest.mark.slow
def test_the_default_model_meets_every_requirement(serve: Any, tmp_path: Path) -> None:
    with serve(load(), PATIENT) as served:
        summary = run_suite(served.url, tmp_path / "report.json")
    assert summary["verdict"] == "conformant"
    assert summary["MUST"] == {"passed": 32, "failed": 0, "skipped": 1, "tested": 32}
    # two requirements are of servers that need a key
    assert summary["SHOULD"] == {"passed": 13, "failed": 0, "skipped": 2, "tested": 13}
