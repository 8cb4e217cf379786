"""Products of two sets of vectors in fp32, such as a question with its options."""

# R rows, O others, D inner size

from __future__ import annotations

import torch
from torch import Tensor

from deg_kernels.checks import check_dtype, check_shape, check_together
from deg_kernels.dispatch import by_device
from deg_kernels.head_product import cpu
from deg_kernels.head_product.reference import naive_head_product

__all__ = ["head_product", "naive_head_product"]

_head_product = by_device(cpu.head_product)


def head_product(a_RD: Tensor, b_OD: Tensor) -> Tensor:
    """Return `a @ b.T` in fp32: a pair gives the same bits whatever other vectors are there.

    Raises:
        ValueError: A shape, dtype or device does not fit; the message names the argument.
    """
    check_dtype((torch.float32,), a_RD=a_RD, b_OD=b_OD)
    check_shape("a_RD", a_RD, (None, None))
    check_shape("b_OD", b_OD, (None, a_RD.shape[1]))
    check_together(a_RD=a_RD, b_OD=b_OD)
    return _head_product(a_RD, b_OD)
