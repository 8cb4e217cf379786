"""Tensors laid out so that a row's address cannot change its bits."""

from __future__ import annotations

from torch import Tensor

__all__ = ["dense"]

_ALIGNMENT_BYTES = 64


def dense(tensor: Tensor) -> Tensor:
    """Return *tensor*, copied unless it is contiguous and starts at a multiple of 64 bytes.

    Libraries and compilers pick another instruction sequence for other strides or addresses.
    """
    contiguous = tensor.contiguous()
    return contiguous if contiguous.data_ptr() % _ALIGNMENT_BYTES == 0 else contiguous.clone()
