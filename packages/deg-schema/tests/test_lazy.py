from __future__ import annotations

import re

import pytest

from deg_schema.lazy import lazy


def test_a_pattern_is_compiled_once() -> None:
    word = lazy("[a-z]+", re.IGNORECASE)
    assert word() is word()
    assert word().fullmatch("Ab")


def test_nothing_is_compiled_before_the_first_use() -> None:
    broken = lazy("(")
    with pytest.raises(re.error):
        broken()
