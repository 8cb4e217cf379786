from __future__ import annotations

import pytest

from deg_train.console import say


def test_a_line_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    say("done")
    assert capsys.readouterr() == ("", "done\n")
