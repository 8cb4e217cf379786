from __future__ import annotations

import deg_runtime


def test_public_names_are_sorted_and_there() -> None:
    assert list(deg_runtime.__all__) == sorted(deg_runtime.__all__)
    assert all(hasattr(deg_runtime, name) for name in deg_runtime.__all__)


def test_the_public_names() -> None:
    assert set(deg_runtime.__all__) == {
        "CheckpointError",
        "ContextTooLong",
        "Contexts",
        "DegError",
        "DeviceError",
        "Engine",
        "Event",
        "FieldDone",
        "FillError",
        "Filled",
        "Request",
        "RequestError",
        "SchemaError",
        "Stop",
        "TextPiece",
        "Trace",
        "__version__",
        "free_bytes",
        "is_out_of_memory",
        "load",
    }


def test_every_error_of_a_caller_has_one_root() -> None:
    errors = (
        deg_runtime.SchemaError,
        deg_runtime.RequestError,
        deg_runtime.FillError,
        deg_runtime.ContextTooLong,
        deg_runtime.CheckpointError,
    )
    assert all(issubclass(error, deg_runtime.DegError) for error in errors)
