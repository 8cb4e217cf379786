from __future__ import annotations

import subprocess
import sys

import deg_client

HEAVY = ("deg_schema", "numpy", "torch", "transformers")


def test_the_public_names_are_these() -> None:
    assert deg_client.__all__ == [
        "Client",
        "DegClientError",
        "FieldMeta",
        "MalformedResponse",
        "Problem",
        "RequestRejected",
        "Response",
        "ServerFailed",
        "ServerUnreachable",
        "StatusError",
        "Usage",
        "__version__",
    ]


def test_every_public_name_is_there() -> None:
    assert all(hasattr(deg_client, name) for name in deg_client.__all__)


def test_importing_it_loads_nothing_heavy() -> None:
    code = f"import sys, deg_client; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
