from __future__ import annotations

import subprocess
import sys

import pytest

import deg_client

HEAVY = ("asyncio", "deg_schema", "numpy", "torch", "transformers")


def test_the_public_names_are_these() -> None:
    assert deg_client.__all__ == [
        "AsyncClient",
        "Bounds",
        "Choices",
        "Client",
        "Context",
        "DeadlineExceeded",
        "Decisions",
        "DegClientError",
        "Description",
        "Email",
        "Event",
        "FieldDone",
        "FieldMeta",
        "Filled",
        "Generate",
        "InvalidSetting",
        "KeyRejected",
        "Levels",
        "MalformedResponse",
        "ModelInfo",
        "NotSent",
        "Options",
        "Problem",
        "RequestRejected",
        "ServerBusy",
        "ServerFailed",
        "ServerUnreachable",
        "StatusError",
        "SystemOne",
        "TextPiece",
        "Title",
        "Uri",
        "Usage",
        "__version__",
        "decisions",
        "schema_of",
        "systemone",
    ]


def test_every_public_name_is_there() -> None:
    assert all(hasattr(deg_client, name) for name in deg_client.__all__)


def test_importing_it_loads_nothing_heavy() -> None:
    code = f"import sys, deg_client; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_name_that_is_not_there_is_told() -> None:
    with pytest.raises(AttributeError, match="'deg_client' has no attribute 'Klient'"):
        deg_client.Klient  # noqa: B018
