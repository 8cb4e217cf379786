"""The words of the command line."""

from __future__ import annotations

import argparse
from pathlib import Path

from deg_serve._version import __version__
from deg_serve.settings import Settings

__all__ = ["KEYS_VARIABLE", "make_parser", "settings_of"]

KEYS_VARIABLE = "DEG_API_KEYS"

_LEVELS = ("debug", "info", "warning", "error", "critical")
_UNITS = {"": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}


def make_parser() -> argparse.ArgumentParser:
    """Return what reads the command line."""
    parser = argparse.ArgumentParser(prog="deg-serve", description="Serve a deg model over HTTP.")
    add, default = parser.add_argument, Settings()
    add("--version", action="version", version=f"deg-serve {__version__}")
    add("--ckpt", type=Path, metavar="DIR", help="a trained checkpoint (default: the embedded one)")
    add("--device", default="cpu", help="where the model computes: cpu or cuda (%(default)s)")
    add(
        "--generate",
        metavar="self|base|base+lora:DIR",
        default="self",
        help="who writes texts: the checkpoint, the frozen base beside it, or that base with what "
        "deg-train generator wrote (%(default)s)",
    )
    add("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    add("--port", type=_port, default=8790, help="port to listen on, 0 for any (%(default)s)")
    keys = parser.add_mutually_exclusive_group()
    keys.add_argument(
        "--keys",
        type=Path,
        metavar="FILE",
        help=f"file with the keys that requests may carry, one a line (default: {KEYS_VARIABLE})",
    )
    keys.add_argument("--no-keys", action="store_true", help="serve everyone, whatever the host is")
    for name, kind, value, text in (
        ("--max-pending", _count, default.max_pending, "requests that may wait"),
        ("--batch-window", _seconds, default.window, "seconds that a request waits for others"),
        ("--max-batch", _count, default.max_batch, "requests that are filled together"),
        ("--timeout", _positive, default.timeout, "seconds that a request may take"),
        (
            "--engine-timeout",
            _positive,
            default.engine_timeout,
            "seconds until the engine is stuck",
        ),
        ("--max-body", _size, default.max_body, "bytes of a body, also decompressed"),
        ("--body-timeout", _positive, default.body_timeout, "seconds for a body to arrive"),
        (
            "--null-margin",
            _finite,
            default.null_margin,
            "nats by which a value must be likelier than nothing",
        ),
    ):
        add(name, type=kind, default=value, help=f"{text} (%(default)s)")
    add(
        "--context-cache",
        type=_size,
        metavar="BYTES",
        help="memory for documents that were read, 0 for none (1GiB)",
    )
    add("--log-level", choices=_LEVELS, default="info", help="what is logged (%(default)s)")
    return parser


def settings_of(parsed: argparse.Namespace) -> Settings:
    """Return the bounds that a command line sets."""
    return Settings(
        window=parsed.batch_window,
        max_batch=parsed.max_batch,
        max_pending=parsed.max_pending,
        timeout=parsed.timeout,
        engine_timeout=parsed.engine_timeout,
        max_body=parsed.max_body,
        body_timeout=parsed.body_timeout,
        null_margin=parsed.null_margin,
    )


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number < 1 << 16:
        raise argparse.ArgumentTypeError(f"{text} is no port")
    return number


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 1e6:
        raise argparse.ArgumentTypeError(f"{text} is no number of seconds")
    return number


def _positive(text: str) -> float:
    number = _seconds(text)
    if number == 0:
        raise argparse.ArgumentTypeError("it has to be more than 0")
    return number


def _finite(text: str) -> float:
    number = float(text)
    if not -1e300 <= number <= 1e300:
        raise argparse.ArgumentTypeError(f"{text} is no finite number")
    return number


def _size(text: str) -> int:
    digits = text.rstrip("KMGiBkmgb")
    unit = text[len(digits) :].lower()
    if unit not in _UNITS or not digits.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no size: give bytes, or as in 512MiB")
    return int(digits) * _UNITS[unit]
