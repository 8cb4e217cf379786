from __future__ import annotations

import pytest

from deg_runtime.cards import percent


@pytest.mark.parametrize(
    ("probability", "words"),
    [
        (0.0, "0 %"),
        (1e-9, "< 1 %"),
        (0.01, "1 %"),
        (0.5, "50 %"),
        (0.985, "98 %"),
        (0.9999, "> 99 %"),
        (1.0, "100 %"),
    ],
)
def test_only_certainty_is_worded_as_certain(probability: float, words: str) -> None:
    assert percent(probability) == words
