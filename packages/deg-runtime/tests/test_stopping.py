from __future__ import annotations

import os
import signal

import pytest

from deg_runtime import Stop


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_a_wish_and_the_second_one_an_order(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = signal.getsignal(number)
    with Stop("step") as stop:
        assert (stop.is_asked(), stop.status) == (False, 0)
        os.kill(os.getpid(), number)
        assert (stop.is_asked(), stop.status) == (True, 128 + number)
        assert signal.getsignal(number) == usual
    assert "stopping after this step; once more to stop at once" in capsys.readouterr().err


def test_signals_are_left_as_they_were() -> None:
    usual = signal.getsignal(signal.SIGTERM)
    with Stop("step"):
        assert signal.getsignal(signal.SIGTERM) != usual
    assert signal.getsignal(signal.SIGTERM) == usual
