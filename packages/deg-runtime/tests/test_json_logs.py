from __future__ import annotations

import json
import logging
import sys

import pytest

from deg_runtime.json_logs import JsonFormatter, json_logs

LOG = logging.getLogger("deg_runtime")


def test_a_record_is_a_line_with_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    with json_logs(enabled=True):
        LOG.info("filled", extra={"model": "Zoë", "prompt_tokens": 3})
    line = json.loads(capsys.readouterr().err)
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "info",
        "logger": "deg_runtime",
        "message": "filled",
        "model": "Zoë",
        "prompt_tokens": 3,
    }


def test_nothing_is_written_before_after_or_without(capsys: pytest.CaptureFixture[str]) -> None:
    with json_logs(enabled=True):
        pass
    with json_logs(enabled=False):
        LOG.info("filled")
    assert capsys.readouterr().err == ""
    assert LOG.level == logging.NOTSET


def test_an_exception_stays_on_its_line() -> None:
    try:
        raise ValueError("a\nb")
    except ValueError:
        record = LOG.makeRecord("x", logging.ERROR, "f", 1, "%s", ("no",), sys.exc_info())
    line = JsonFormatter().format(record)
    assert "\n" not in line
    assert "ValueError: a" in json.loads(line)["exception"]
