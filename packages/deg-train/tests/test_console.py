from __future__ import annotations

import os
import signal

import pytest

from deg_train.console import Stop, say


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_a_wish_and_the_second_one_an_order(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = signal.getsignal(number)
    with Stop() as stop:
        assert (stop.is_asked(), stop.status) == (False, 0)
        os.kill(os.getpid(), number)
        assert (stop.is_asked(), stop.status) == (True, 128 + number)
        assert signal.getsignal(number) == usual
    assert "once more to stop at once" in capsys.readouterr().err


def test_signals_are_left_as_they_were() -> None:
    usual = signal.getsignal(signal.SIGTERM)
    with Stop():
        assert signal.getsignal(signal.SIGTERM) != usual
    assert signal.getsignal(signal.SIGTERM) == usual


def test_a_line_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    say("done")
    assert capsys.readouterr() == ("", "done\n")
