from __future__ import annotations

import deg_serve


def test_the_public_names_are_these() -> None:
    assert deg_serve.__all__ == ["Engine", "Keys", "Settings", "__version__", "create_app"]
