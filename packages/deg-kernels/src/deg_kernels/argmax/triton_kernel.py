"""The first largest number on CUDA: of each block of a row, then of the blocks."""

# R rows, V numbers, C blocks of a row
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators

import torch
import triton
import triton.language as tl
from torch import Tensor

from deg_kernels.memory import dense

__all__ = ["argmax"]

_BLOCK = 4096
_BLOCKS_AT_A_TIME = 64


def argmax(x_RV: Tensor) -> Tensor:
    """Return where each row has its largest number, the first of equals."""
    x_RV = dense(x_RV)
    num_rows, size = x_RV.shape
    place_R = x_RV.new_empty(num_rows, dtype=torch.int64)
    num_blocks = triton.cdiv(size, _BLOCK)
    largest_RC = x_RV.new_empty(num_rows, num_blocks, dtype=torch.float32)
    place_RC = x_RV.new_empty(num_rows, num_blocks, dtype=torch.int32)
    if num_rows:
        _block_kernel[(num_rows, num_blocks)](
            x_RV, largest_RC, place_RC, size, num_blocks, BLOCK=_BLOCK,
            num_warps=4, num_stages=1, enable_fp_fusion=False,
        )  # fmt: skip
        _row_kernel[(num_rows,)](
            largest_RC, place_RC, place_R, num_blocks, BLOCK=_BLOCKS_AT_A_TIME,
            num_warps=1, num_stages=1, enable_fp_fusion=False,
        )  # fmt: skip
    return place_R


@triton.jit(do_not_specialize=["size", "num_blocks"])
def _block_kernel(x, largest, place, size, num_blocks, BLOCK: tl.constexpr):
    row, block = tl.program_id(0).to(tl.int64), tl.program_id(1)
    column_B = block * BLOCK + tl.arange(0, BLOCK)
    x_B = tl.load(x + row * size + column_B, mask=column_B < size, other=-float("inf"))
    value, where = tl.max(x_B.to(tl.float32), 0, return_indices=True)
    tl.store(largest + row * num_blocks + block, value)
    tl.store(place + row * num_blocks + block, block * BLOCK + where)


@triton.jit(do_not_specialize=["num_blocks"])
def _row_kernel(largest, place, best, num_blocks, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    start = row * num_blocks
    best_value = tl.load(largest + start)
    best_block = 0
    for first in range(0, num_blocks, BLOCK):
        block_B = first + tl.arange(0, BLOCK)
        mask_B = block_B < num_blocks
        value_B = tl.load(largest + start + block_B, mask=mask_B, other=-float("inf"))
        value, where = tl.max(value_B, 0, return_indices=True)
        # an equal value further on is not the first
        is_better = value > best_value
        best_block = tl.where(is_better, first + where, best_block)
        best_value = tl.where(is_better, value, best_value)
    tl.store(best + row, tl.load(place + start + best_block).to(tl.int64))
