"""What every operator asks of its arguments, before anything is launched."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["check", "check_dtype", "check_shape", "check_together"]


def check(holds: bool, name: str, problem: str) -> None:
    """Raise `ValueError` that names the argument unless *holds*."""
    if not holds:
        raise ValueError(f"{name}: {problem}")


def check_dtype(allowed: Sequence[torch.dtype], **tensors: Tensor | None) -> None:
    """Raise `ValueError` unless each tensor that is given has one of the *allowed* dtypes."""
    for name, tensor in tensors.items():
        if tensor is not None and tensor.dtype not in allowed:
            names = " or ".join(str(dtype).removeprefix("torch.") for dtype in allowed)
            raise ValueError(f"{name}: has dtype {_dtype(tensor)}, but {names} is supported")


def check_shape(name: str, tensor: Tensor, shape: Sequence[int | None]) -> None:
    """Raise `ValueError` unless *tensor* has *shape*; None stands for any size."""
    fits = tensor.ndim == len(shape)
    for wanted_size, size in zip(shape, tensor.shape, strict=False):
        if wanted_size is not None and wanted_size != size:
            fits = False
    if not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"{name}: has shape {tuple(tensor.shape)}, not ({wanted})")


def check_together(same_dtype: bool = False, **tensors: Tensor | None) -> None:
    """Raise `ValueError` unless all tensors lie on one device and, if asked, have one dtype."""
    given = [(name, tensor) for name, tensor in tensors.items() if tensor is not None]
    first_name, first = given[0]
    for name, tensor in given[1:]:
        if tensor.device != first.device:
            raise ValueError(
                f"{name}: lies on {tensor.device}, but {first_name} lies on {first.device}"
            )
        if same_dtype and tensor.dtype != first.dtype:
            raise ValueError(
                f"{name}: has dtype {_dtype(tensor)}, but {first_name} has {_dtype(first)}"
            )


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
