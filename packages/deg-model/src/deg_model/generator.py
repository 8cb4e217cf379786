"""Generators: adapters that were trained to write texts, merged into a frozen base (contract 12.7).

A generator writes beside the checkpoint that decides and copies, and changes nothing of that. Its
folder holds `generator.json` and `lora.safetensors`, whose pairs carry the names that transformers
has for the matrices that they belong to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save as save_tensors
from torch import Tensor

from deg_model.adapters import LowRankAdapters
from deg_model.bases import Base
from deg_model.errors import CheckpointError
from deg_model.family import Backbone
from deg_model.files import digest, read_facts, read_tensors, write_folder

# r rank, I in, O out

__all__ = [
    "GENERATOR_FACTS",
    "Generator",
    "generator_folder",
    "load_generator",
    "save_generator",
]

_FORMAT = "deg-generator-lora-v1"
GENERATOR_FACTS = "generator.json"
"""The file of a generator that says what it is, by hash of the other one."""

_TENSORS = "lora.safetensors"
_PREFIX = "base+lora:"


@dataclass(frozen=True, slots=True)
class Generator:
    """A trained generator in memory.

    Attributes:
        base: The name of the base that it was trained on, its family and the hash of its weights.
        rank: The rank of each pair.
        alpha: A pair adds `alpha / rank * lora_B @ lora_A` to its matrix.
        tensors: `<matrix>.lora_A` [r, I] and `<matrix>.lora_B` [O, r], in fp32.
        training: How it was trained, for a person to read.
    """

    base: Base
    rank: int
    alpha: float
    tensors: dict[str, Tensor]
    training: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, adapters: LowRankAdapters, backbone: Backbone, base: Base, training: Mapping[str, Any]
    ) -> Generator:
        """Return the one adapter of *adapters* as a generator for *backbone*."""
        pairs, tensors = adapters.pairs(torch.float32), {}
        for projection, parts in backbone.adapter_parts().items():
            down_RI, up_OR = (tensor.detach().cpu() for tensor in pairs[projection])
            own = torch.split(up_OR, list(parts.values()))
            for part, part_OR in zip(parts, own, strict=True):
                tensors[f"{part}.lora_A"] = down_RI.clone()
                tensors[f"{part}.lora_B"] = part_OR.clone()
        return cls(base, adapters.rank, float(adapters.rank), tensors, training)

    def merged(self, backbone: Backbone) -> Backbone:
        """Return *backbone*, the base that it was trained on, with its pairs added.

        The sums are made in fp32 on the CPU, so that they do not depend on the device.

        Raises:
            CheckpointError: A pair is of no matrix here, lacks its other half or has other sizes.
        """
        weights = backbone.weights()
        left = dict(self.tensors)
        for projection, parts in backbone.adapter_parts().items():
            base_OI = weights[projection]
            own = torch.split(base_OI.cpu().float(), list(parts.values()))
            pieces = zip(parts, own, strict=True)
            summed = [self._added(part, own_OI, left) for part, own_OI in pieces]
            weights[projection] = torch.cat(summed).to(base_OI.device, base_OI.dtype)
        if left:
            raise CheckpointError(f"the generator has {min(left)!r}, of no matrix of its base")
        return backbone.with_weights(weights)

    def _added(self, part: str, own_OI: Tensor, left: dict[str, Tensor]) -> Tensor:
        """Return a matrix with its pair added, which is taken out of *left*."""
        down_rI, up_Or = left.pop(f"{part}.lora_A", None), left.pop(f"{part}.lora_B", None)
        if down_rI is None and up_Or is None:
            return own_OI
        num_out, num_in = own_OI.shape
        sizes = [None if each is None else tuple(each.shape) for each in (down_rI, up_Or)]
        if down_rI is None or up_Or is None or sizes != [(self.rank, num_in), (num_out, self.rank)]:
            raise CheckpointError(
                f"the generator's pair of {part!r} has the sizes {sizes}, expected "
                f"{[(self.rank, num_in), (num_out, self.rank)]}"
            )
        return torch.addmm(own_OI, up_Or, down_rI, alpha=self.alpha / self.rank)


def save_generator(generator: Generator, folder: Path) -> None:
    """Write *generator* to *folder*, which is replaced whole or not at all; pairs in bf16."""
    stored = {name: tensor.bfloat16().contiguous() for name, tensor in generator.tensors.items()}
    content = save_tensors(stored)
    base = generator.base
    facts = {
        "format": _FORMAT,
        "base": {"name": base.name, "family": base.family, "sha256": base.sha256},
        "rank": generator.rank,
        "alpha": generator.alpha,
        "training": dict(generator.training),
        "files": {_TENSORS: digest(content)},
    }
    told = (json.dumps(facts, indent=2) + "\n").encode()
    write_folder(folder, {_TENSORS: content, GENERATOR_FACTS: told})


def load_generator(folder: Path) -> Generator:
    """Read and check the generator in *folder*.

    Raises:
        CheckpointError: Naming the file and what is wrong with it.
    """
    path = folder / GENERATOR_FACTS
    facts = read_facts(path, _FORMAT)
    try:
        base, rank = facts["base"], int(facts["rank"])
        return Generator(
            base=Base(base["name"], base["family"], base["sha256"]),
            rank=rank,
            alpha=float(facts["alpha"]),
            tensors=read_tensors(folder / _TENSORS, facts["files"][_TENSORS]),
            training=dict(facts.get("training") or {}),
        )
    except KeyError as error:
        raise CheckpointError(f"{path} lacks {error}") from error
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{path} is not laid out as {_FORMAT!r}") from error


def generator_folder(generate: str) -> Path | None:
    """Return the folder that `generate` names, as `base+lora:DIR`; None for `self` and `base`.

    Raises:
        CheckpointError: It is something else.
    """
    if generate in ("self", "base"):
        return None
    folder = generate.removeprefix(_PREFIX)
    if folder in (generate, ""):
        raise CheckpointError(f"{generate!r} names no writer: say self, base or {_PREFIX}DIR")
    return Path(folder)
