"""Base weights to a running backbone."""

from __future__ import annotations

import torch

from deg_model.errors import WeightsError
from deg_model.family import Backbone
from deg_model.llama import Llama, config_from_hf
from deg_model.weights import BaseFiles, load_weights

__all__ = ["load_backbone"]


def load_backbone(files: BaseFiles, dtype: torch.dtype = torch.bfloat16) -> Backbone:
    """Build the backbone of *files* in *dtype*.

    Raises:
        WeightsError: The family is not one of ours, or a tensor is missing.
    """
    if files.family != "llama":
        raise WeightsError(f"{files.name!r} is of family {files.family!r}; known are: 'llama'")
    weights = {name: tensor.to(dtype) for name, tensor in load_weights(files).items()}
    try:
        return Llama(config_from_hf(files.config), weights)
    except KeyError as error:
        raise WeightsError(f"{files.folder} lacks {error}: delete it to fetch it again") from error
