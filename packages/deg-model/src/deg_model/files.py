"""Folders that are written whole or not at all, and their files, checked when they are read."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from torch import Tensor

from deg_model.errors import CheckpointError

__all__ = ["digest", "read_facts", "read_tensors", "write_folder"]


def write_folder(
    folder: Path, contents: Mapping[str, bytes], *, without: Sequence[str] = ()
) -> None:
    """Write *contents* to *folder*, which is replaced whole or not at all.

    What else lies there, such as a model card, stays. What a process left there that was killed
    while it wrote is put right first.

    Args:
        folder: Where to.
        contents: The files by their names.
        without: Names of files that do not stay.
    """
    _put_right(folder)
    staging = folder.with_name(f".{folder.name}-new-{os.getpid()}")
    shutil.rmtree(staging, ignore_errors=True)
    try:
        if folder.is_dir():
            shutil.copytree(folder, staging, ignore=shutil.ignore_patterns(*without, *contents))
        staging.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (staging / name).write_bytes(content)
        _swap(staging, folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def read_facts(path: Path, expected: str) -> dict[str, Any]:
    """Read what a folder says of itself as JSON.

    Raises:
        CheckpointError: It cannot be read, or its format is not *expected*.
    """
    try:
        facts = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"no checkpoint: {path} cannot be read ({error})") from error
    found = facts.get("format") if isinstance(facts, dict) else None
    if found != expected:
        raise CheckpointError(f"{path} has format {found!r}; this version reads {expected!r}")
    return dict(facts)


def read_tensors(path: Path, sha256: str) -> dict[str, Tensor]:
    """Read the tensors in *path*, in fp32.

    Raises:
        CheckpointError: It cannot be read, or has another hash.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read ({error})") from error
    if digest(content) != sha256:
        raise CheckpointError(
            f"{path} is damaged: {len(content)} bytes with sha256 {digest(content)}, "
            f"expected {sha256}"
        )
    try:
        return {name: tensor.float() for name, tensor in load_tensors(content).items()}
    except SafetensorError as error:
        raise CheckpointError(f"{path} is damaged ({error})") from error


def digest(content: bytes) -> str:
    """Return the SHA-256 of *content* in hex."""
    return hashlib.sha256(content).hexdigest()


def _swap(staging: Path, folder: Path) -> None:
    old = folder.with_name(f".{folder.name}-old-{os.getpid()}")
    if folder.exists():
        folder.replace(old)
    try:
        staging.replace(folder)
    finally:
        # whatever came between, be it Ctrl-C
        if not folder.exists() and old.exists():
            old.replace(folder)
    shutil.rmtree(old, ignore_errors=True)


def _put_right(folder: Path) -> None:
    for old in folder.parent.glob(f".{folder.name}-old-*"):
        if not folder.exists():
            old.replace(folder)
    for kind in ("old", "new"):
        for left in folder.parent.glob(f".{folder.name}-{kind}-*"):
            shutil.rmtree(left, ignore_errors=True)
