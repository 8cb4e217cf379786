"""Log-probabilities on CUDA: the largest and the sum of each block of a row, then all of them.

Every program of a row adds up the blocks anew, in the same order: that costs less than a launch.
"""

# R rows, V outcomes, C blocks of a row
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators

import torch
import triton
import triton.language as tl
from torch import Tensor

from deg_kernels.memory import dense

__all__ = ["log_softmax"]

_BLOCK = 4096
_BLOCKS_AT_A_TIME = 64


def log_softmax(x_RV: Tensor) -> Tensor:
    """Return `x - log(sum(exp(x)))` of each row, in fp32."""
    x_RV = dense(x_RV)
    num_rows, size = x_RV.shape
    result_RV = x_RV.new_empty(num_rows, size, dtype=torch.float32)
    num_blocks = triton.cdiv(size, _BLOCK)
    largest_RC = x_RV.new_empty(num_rows, num_blocks, dtype=torch.float32)
    sum_RC = torch.empty_like(largest_RC)
    grid = (num_rows, num_blocks)
    if num_rows:
        _block_kernel[grid](
            x_RV, largest_RC, sum_RC, size, num_blocks, BLOCK=_BLOCK,
            num_warps=4, num_stages=1, enable_fp_fusion=False,
        )  # fmt: skip
        _row_kernel[grid](
            x_RV, largest_RC, sum_RC, result_RV, size, num_blocks,
            BLOCK=_BLOCK, BLOCKS=_BLOCKS_AT_A_TIME,
            num_warps=8, num_stages=1, enable_fp_fusion=False,
        )  # fmt: skip
    return result_RV


@triton.jit(do_not_specialize=["size", "num_blocks"])
def _block_kernel(x, largest, total, size, num_blocks, BLOCK: tl.constexpr):
    row, block = tl.program_id(0).to(tl.int64), tl.program_id(1)
    column_B = block * BLOCK + tl.arange(0, BLOCK)
    x_B = tl.load(x + row * size + column_B, mask=column_B < size, other=-float("inf"))
    x_B = x_B.to(tl.float32)
    # a block of nothing but -inf has a largest number too, or its sum would be no number
    value = tl.maximum(tl.max(x_B, 0), -3.0e38)
    tl.store(largest + row * num_blocks + block, value)
    tl.store(total + row * num_blocks + block, tl.sum(tl.exp(x_B - value), 0))


@triton.jit(do_not_specialize=["size", "num_blocks"])
def _row_kernel(
    x, largest, total, result, size, num_blocks, BLOCK: tl.constexpr, BLOCKS: tl.constexpr
):
    row, block = tl.program_id(0).to(tl.int64), tl.program_id(1)
    start = row * num_blocks
    best = tl.load(largest + start)
    for first in range(0, num_blocks, BLOCKS):
        block_C = first + tl.arange(0, BLOCKS)
        value_C = tl.load(largest + start + block_C, mask=block_C < num_blocks, other=-3.0e38)
        best = tl.maximum(best, tl.max(value_C, 0))
    total_sum = 0.0
    for first in range(0, num_blocks, BLOCKS):
        block_C = first + tl.arange(0, BLOCKS)
        mask_C = block_C < num_blocks
        value_C = tl.load(largest + start + block_C, mask=mask_C, other=-3.0e38)
        sum_C = tl.load(total + start + block_C, mask=mask_C, other=0.0)
        total_sum += tl.sum(sum_C * tl.exp(value_C - best), 0)
    column_B = block * BLOCK + tl.arange(0, BLOCK)
    mask_B = column_B < size
    x_B = tl.load(x + row * size + column_B, mask=mask_B, other=0.0).to(tl.float32)
    tl.store(result + row * size + column_B, x_B - best - tl.log(total_sum), mask=mask_B)
