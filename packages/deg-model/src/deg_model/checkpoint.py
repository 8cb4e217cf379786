"""Checkpoints: what deg trained on top of a base, as three files that are checked on loading.

`deg.json` says which base (by name and hash), which layers the span keys read, which adapters there
are and the hash of the other two, `heads.safetensors` and `adapters.safetensors`, both in bf16.
Where the whole backbone was trained, `backbone.safetensors` stands in place of the adapters: every
weight but the token embeddings, which stay those of the base.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors, save as save_tensors
from torch import Tensor

from deg_model.adapters import BASE_READS, SHARED, AdapterPlan
from deg_model.bases import BASES, Base
from deg_model.errors import CheckpointError

__all__ = ["DEFAULT_CHECKPOINT", "ArrayMode", "Checkpoint", "load_checkpoint", "save_checkpoint"]

DEFAULT_CHECKPOINT = Path(__file__).parent / "checkpoints" / "default"
_FORMAT = "deg-checkpoint-v1"
_FACTS, _HEADS = "deg.json", "heads.safetensors"
_ADAPTERS, _BACKBONE = "adapters.safetensors", "backbone.safetensors"
# what checkpoints say that were trained before there was a choice: the one adapter reads contexts
_ONE_ADAPTER = "adapter"


@dataclass(frozen=True, slots=True)
class ArrayMode:
    """How a checkpoint learned to find the items of arrays that hold copied values.

    Attributes:
        mode: By where they start in the context, or by their number.
        min_tokens: In a context of fewer tokens it is by their number all the same.
    """

    mode: Literal["anchor", "index"]
    min_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A trained checkpoint in memory.

    Attributes:
        model_id: The name that responses carry.
        base: The base weights that it was trained on.
        taps: The layers after which the span keys read.
        rank: The rank of the adapters, 0 where there are none.
        heads: The heads' tensors, `temperatures` among them.
        adapters: The adapters' tensors, as `LowRankAdapters` names them.
        arrays: How it finds the items of arrays; None where it was not trained on any.
        plan: Which adapters there are, and what each of them reads.
        backbone: The weights in place of the base's, as `Backbone.weights` names them, where they
            were trained; there are no adapters then.
    """

    model_id: str
    base: Base
    taps: tuple[int, ...]
    rank: int
    heads: dict[str, Tensor]
    adapters: dict[str, Tensor]
    arrays: ArrayMode | None = None
    plan: AdapterPlan = AdapterPlan()
    backbone: dict[str, Tensor] | None = None


def save_checkpoint(checkpoint: Checkpoint, folder: Path) -> None:
    """Write *checkpoint* to *folder*, which is replaced whole or not at all.

    What a process left there that was killed while it wrote is put right first.
    """
    _put_right(folder)
    parts = {_HEADS: checkpoint.heads}
    if checkpoint.backbone is None:
        parts[_ADAPTERS] = checkpoint.adapters
    else:
        parts[_BACKBONE] = checkpoint.backbone
    facts: dict[str, Any] = {
        "format": _FORMAT,
        "model_id": checkpoint.model_id,
        "base": {
            "name": checkpoint.base.name,
            "family": checkpoint.base.family,
            "sha256": checkpoint.base.sha256,
        },
        "taps": list(checkpoint.taps),
        "lora": _lora(checkpoint) if checkpoint.backbone is None else None,
        "arrays": checkpoint.arrays and asdict(checkpoint.arrays),
        "files": {},
    }
    staging = folder.with_name(f".{folder.name}-new-{os.getpid()}")
    shutil.rmtree(staging, ignore_errors=True)
    try:
        # what stands beside the three files, such as a model card, stays
        if folder.is_dir():
            shutil.copytree(folder, staging, ignore=shutil.ignore_patterns(_ADAPTERS, _BACKBONE))
        staging.mkdir(parents=True, exist_ok=True)
        for name, tensors in parts.items():
            content = save_tensors({key: _stored(key, tensor) for key, tensor in tensors.items()})
            facts["files"][name] = _digest(content)
            (staging / name).write_bytes(content)
        (staging / _FACTS).write_text(json.dumps(facts, indent=2) + "\n", "utf-8")
        _swap(staging, folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def load_checkpoint(folder: Path) -> Checkpoint:
    """Read and check the checkpoint in *folder*.

    Raises:
        CheckpointError: Naming the file and what is wrong with it.
    """
    facts = _facts(folder / _FACTS)
    try:
        base, files = facts["base"], facts["files"]
        known = BASES.get(base["name"]) or Base(base["name"], base["family"], base["sha256"])
        if (known.family, known.sha256) != (base["family"], base["sha256"]):
            raise CheckpointError(
                f"{folder / _FACTS} was trained on {base['name']!r} with sha256 "
                f"{base['sha256']}, but that base has sha256 {known.sha256}"
            )
        lora = facts["lora"]
        heads = _tensors(folder / _HEADS, files[_HEADS])
        return Checkpoint(
            model_id=facts["model_id"],
            base=known,
            taps=tuple(facts["taps"]),
            rank=0 if lora is None else lora["rank"],
            heads=heads,
            adapters={} if lora is None else _tensors(folder / _ADAPTERS, files[_ADAPTERS]),
            arrays=_array_mode(facts.get("arrays")),
            plan=_plan(folder / _FACTS, lora),
            backbone=_tensors(folder / _BACKBONE, files[_BACKBONE]) if lora is None else None,
        )
    except KeyError as error:
        raise CheckpointError(f"{folder / _FACTS} lacks {error}") from error
    except (TypeError, AttributeError) as error:
        raise CheckpointError(f"{folder / _FACTS} is not laid out as {_FORMAT!r}") from error


def _lora(checkpoint: Checkpoint) -> dict[str, Any]:
    names, context, rank = checkpoint.plan.names, checkpoint.plan.context, checkpoint.rank
    return {"rank": rank, "alpha": rank, "adapters": list(names), "context": context}


def _plan(path: Path, lora: dict[str, Any] | None) -> AdapterPlan:
    if lora is None:
        return AdapterPlan((), BASE_READS)
    context = lora["context"]
    if "adapters" not in lora and context == _ONE_ADAPTER:
        return AdapterPlan((SHARED,), SHARED)
    try:
        return AdapterPlan(tuple(lora["adapters"]), context)
    except ValueError as error:
        raise CheckpointError(f"{path}, 'lora': {error}") from error


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


def _facts(path: Path) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(f"no checkpoint: {path} cannot be read ({error})") from error
    found = facts.get("format") if isinstance(facts, dict) else None
    if found != _FORMAT:
        raise CheckpointError(f"{path} has format {found!r}; this version reads {_FORMAT!r}")
    return dict(facts)


def _array_mode(facts: dict[str, Any] | None) -> ArrayMode | None:
    if facts is None:
        return None
    mode = ArrayMode(**facts)
    if mode.mode not in ("anchor", "index") or not isinstance(mode.min_tokens, int):
        raise TypeError(facts)
    return mode


def _tensors(path: Path, sha256: str) -> dict[str, Tensor]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read ({error})") from error
    if _digest(content) != sha256:
        raise CheckpointError(
            f"{path} is damaged: {len(content)} bytes with sha256 {_digest(content)}, "
            f"expected {sha256}"
        )
    try:
        return {name: tensor.float() for name, tensor in load_tensors(content).items()}
    except SafetensorError as error:
        raise CheckpointError(f"{path} is damaged ({error})") from error


def _stored(name: str, tensor: Tensor) -> Tensor:
    kept = torch.float32 if name == "temperatures" else torch.bfloat16
    return tensor.detach().to(kept).contiguous()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
