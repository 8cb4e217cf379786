from __future__ import annotations

import deg_kernels


def test_the_public_names_are_these() -> None:
    assert deg_kernels.__all__ == ["__version__", "linear", "naive_linear"]
