"""Base weights to a running backbone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from deg_model import lfm2, llama, qwen35
from deg_model.errors import DeviceError, WeightsError
from deg_model.family import Backbone
from deg_model.weights import BaseFiles, load_weights

__all__ = ["FAMILIES", "checked_device", "load_backbone", "load_head"]


def checked_device(name: torch.device | str) -> torch.device:
    """Return the device of a *name* such as `cuda` or `cuda:1`.

    Raises:
        DeviceError: It is none, or there is none here.
    """
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise DeviceError(f"{name!r} is no device: take 'cpu' or 'cuda'") from error
    if device.type not in ("cpu", "cuda"):
        raise DeviceError(f"deg does not run on {name!r}: take 'cpu' or 'cuda'")
    num_cuda = torch.cuda.device_count() if device.type == "cuda" else 0
    if device.type == "cuda" and (device.index or 0) >= num_cuda:
        raise DeviceError(f"{name!r} is not here, of {num_cuda} CUDA devices: take 'cpu'")
    return device


def load_backbone(
    files: BaseFiles, dtype: torch.dtype = torch.bfloat16, device: torch.device | str = "cpu"
) -> Backbone:
    """Build the backbone of *files* in *dtype* on *device*.

    Raises:
        WeightsError: The family is not one of ours, or a file is damaged, lacks something or is
            configured in a way that deg does not run.
    """
    if files.family not in FAMILIES:
        known = ", ".join(map(repr, FAMILIES))
        raise WeightsError(f"{files.name!r} is of family {files.family!r}; known are: {known}")
    weights = {name: tensor.to(device, dtype) for name, tensor in load_weights(files).items()}
    try:
        return FAMILIES[files.family](files.config, weights)
    except KeyError as error:
        raise WeightsError(f"{files.folder} lacks {error}: delete it to fetch it again") from error


def load_head(
    files: BaseFiles, dtype: torch.dtype = torch.bfloat16, device: torch.device | str = "cpu"
) -> Tensor | None:
    """Return the head over the vocabulary, or None where it is the token embeddings."""
    head_VH = load_weights(files).get("lm_head.weight")
    return None if head_VH is None else head_VH.to(device, dtype)


def _llama(config: Mapping[str, Any], weights: Mapping[str, Tensor]) -> Backbone:
    return llama.Llama(llama.config_from_hf(config), weights)


def _qwen35(config: Mapping[str, Any], weights: Mapping[str, Tensor]) -> Backbone:
    # a published model carries a vision tower and a second head beside the text stack
    texts = {
        name.replace("model.language_model.", "model.", 1): tensor
        for name, tensor in weights.items()
        if not name.startswith(("mtp.", "model.visual."))
    }
    return qwen35.Qwen35(qwen35.config_from_hf(config), texts)


def _lfm2(config: Mapping[str, Any], weights: Mapping[str, Tensor]) -> Backbone:
    return lfm2.Lfm2(lfm2.config_from_hf(config), weights)


FAMILIES: dict[str, Callable[[Mapping[str, Any], Mapping[str, Tensor]], Backbone]] = {
    "llama": _llama,
    "qwen3.5": _qwen35,
    "lfm2": _lfm2,
}
