"""Checkpoints: what deg trained on top of a base, as three files that are checked on loading.

`deg.json` says which base (by name and hash), which layers the span keys read, which adapters there
are and the hash of the other two, `heads.safetensors` and `adapters.safetensors`, both in bf16.
Where the whole backbone was trained, `backbone.safetensors` stands in place of the adapters: every
weight but the token embeddings, which stay those of the base.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors.torch import save as save_tensors
from torch import Tensor

from deg_model.adapters import BASE_READS, SHARED, AdapterPlan
from deg_model.bases import BASES, Base
from deg_model.errors import CheckpointError
from deg_model.files import digest, read_facts, read_tensors, write_folder

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

    What stands beside its three files, such as a model card, stays.
    """
    parts = {_HEADS: checkpoint.heads}
    if checkpoint.backbone is None:
        parts[_ADAPTERS] = checkpoint.adapters
    else:
        parts[_BACKBONE] = checkpoint.backbone
    contents = {
        name: save_tensors({key: _stored(key, tensor) for key, tensor in tensors.items()})
        for name, tensors in parts.items()
    }
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
        "files": {name: digest(content) for name, content in contents.items()},
    }
    contents[_FACTS] = (json.dumps(facts, indent=2) + "\n").encode()
    write_folder(folder, contents, without=(_ADAPTERS, _BACKBONE))


def load_checkpoint(folder: Path) -> Checkpoint:
    """Read and check the checkpoint in *folder*.

    Raises:
        CheckpointError: Naming the file and what is wrong with it.
    """
    facts = read_facts(folder / _FACTS, _FORMAT)
    try:
        base, files = facts["base"], facts["files"]
        known = BASES.get(base["name"]) or Base(base["name"], base["family"], base["sha256"])
        if (known.family, known.sha256) != (base["family"], base["sha256"]):
            raise CheckpointError(
                f"{folder / _FACTS} was trained on {base['name']!r} with sha256 "
                f"{base['sha256']}, but that base has sha256 {known.sha256}"
            )
        lora = facts["lora"]
        heads = read_tensors(folder / _HEADS, files[_HEADS])
        return Checkpoint(
            model_id=facts["model_id"],
            base=known,
            taps=tuple(facts["taps"]),
            rank=0 if lora is None else lora["rank"],
            heads=heads,
            adapters={} if lora is None else read_tensors(folder / _ADAPTERS, files[_ADAPTERS]),
            arrays=_array_mode(facts.get("arrays")),
            plan=_plan(folder / _FACTS, lora),
            backbone=read_tensors(folder / _BACKBONE, files[_BACKBONE]) if lora is None else None,
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


def _array_mode(facts: dict[str, Any] | None) -> ArrayMode | None:
    if facts is None:
        return None
    mode = ArrayMode(**facts)
    if mode.mode not in ("anchor", "index") or not isinstance(mode.min_tokens, int):
        raise TypeError(facts)
    return mode


def _stored(name: str, tensor: Tensor) -> Tensor:
    kept = torch.float32 if name == "temperatures" else torch.bfloat16
    return tensor.detach().to(kept).contiguous()
