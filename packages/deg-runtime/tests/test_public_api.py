from __future__ import annotations

import deg_runtime


def test_public_names_are_sorted_and_there() -> None:
    assert list(deg_runtime.__all__) == sorted(deg_runtime.__all__)
    assert all(hasattr(deg_runtime, name) for name in deg_runtime.__all__)


def test_the_public_names() -> None:
    assert set(deg_runtime.__all__) == {"Engine", "__version__", "load"}
