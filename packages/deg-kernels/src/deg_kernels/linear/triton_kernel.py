"""The batch-invariant linear map on CUDA: three tile heights, one order of the sums.

Tiles are multiplied in blocks of `BLOCK_INPUTS` inputs, in order; the parts of the split plan are
summed one by one. The kernel for few rows gives each part to another program and adds them up in a
second launch; the other one adds the same parts in the same order without leaving the program.
"""

# M rows, K inputs, N outputs, S splits
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

from deg_kernels.linear.plan import BLOCK_INPUTS, SplitPlan, split_plan
from deg_kernels.memory import dense

__all__ = ["linear", "linear_small"]

_MOST_SMALL_ROWS = 64
_MOST_MEDIUM_ROWS = 1024
_TILES_A_GROUP = 8
_SUM_BLOCK = 256


@dataclass(frozen=True, slots=True)
class _Tile:
    """The shape of one program's result, and how it is computed."""

    rows: int
    outputs: int
    num_warps: int
    num_stages: int


_SMALL = {
    torch.bfloat16: _Tile(rows=16, outputs=32, num_warps=4, num_stages=8),
    torch.float32: _Tile(rows=16, outputs=32, num_warps=4, num_stages=3),
}
_MEDIUM = {
    torch.bfloat16: _Tile(rows=64, outputs=64, num_warps=4, num_stages=4),
    torch.float32: _Tile(rows=32, outputs=64, num_warps=4, num_stages=2),
}
_LARGE = {
    torch.bfloat16: _Tile(rows=128, outputs=128, num_warps=8, num_stages=3),
    torch.float32: _MEDIUM[torch.float32],
}


def linear(x_MK: Tensor, weight_NK: Tensor, bias_N: Tensor | None) -> Tensor:
    """Return `x @ weight.T + bias` by the tile height that suits the number of rows."""
    if len(x_MK) <= _MOST_SMALL_ROWS:
        return linear_small(x_MK, weight_NK, bias_N)
    tiles = _MEDIUM if len(x_MK) <= _MOST_MEDIUM_ROWS else _LARGE
    x_MK, weight_NK = dense(x_MK), dense(weight_NK)
    y_MN = x_MK.new_empty(len(x_MK), len(weight_NK))
    plan = split_plan(*weight_NK.shape)
    _launch_whole(x_MK, weight_NK, bias_N, y_MN, plan, tiles[x_MK.dtype])
    return y_MN


def linear_small(x_MK: Tensor, weight_NK: Tensor, bias_N: Tensor | None) -> Tensor:
    """Return `x @ weight.T + bias` in tiles of 16 rows, each part of the sum by itself."""
    x_MK, weight_NK = dense(x_MK), dense(weight_NK)
    num_rows, num_outputs = len(x_MK), len(weight_NK)
    y_MN = x_MK.new_empty(num_rows, num_outputs)
    plan = split_plan(*weight_NK.shape)
    tile = _SMALL[x_MK.dtype]
    if plan.num_splits == 1 or not y_MN.numel():
        _launch_whole(x_MK, weight_NK, bias_N, y_MN, plan, tile)
        return y_MN
    parts_SMN = x_MK.new_empty(plan.num_splits, num_rows, num_outputs, dtype=torch.float32)
    grid = (triton.cdiv(num_outputs, tile.outputs), triton.cdiv(num_rows, tile.rows))
    _part_kernel[(*grid, plan.num_splits)](
        x_MK,
        weight_NK,
        parts_SMN,
        num_rows,
        num_outputs,
        x_MK.shape[1],
        INPUTS_A_SPLIT=plan.num_inputs,
        EVEN=x_MK.shape[1] % BLOCK_INPUTS == 0,
        ROWS=tile.rows,
        OUTPUTS=tile.outputs,
        INPUTS=BLOCK_INPUTS,
        num_warps=tile.num_warps,
        num_stages=tile.num_stages,
        enable_fp_fusion=False,
    )
    _sum_kernel[(num_rows, triton.cdiv(num_outputs, _SUM_BLOCK))](
        parts_SMN,
        None if bias_N is None else dense(bias_N),
        y_MN,
        num_rows,
        num_outputs,
        SPLITS=plan.num_splits,
        OUTPUTS=_SUM_BLOCK,
        num_warps=2,
        num_stages=1,
        enable_fp_fusion=False,
    )
    return y_MN


def _launch_whole(
    x_MK: Tensor,
    weight_NK: Tensor,
    bias_N: Tensor | None,
    y_MN: Tensor,
    plan: SplitPlan,
    tile: _Tile,
) -> None:
    num_rows, num_outputs = y_MN.shape
    if not y_MN.numel():
        return
    grid = (triton.cdiv(num_rows, tile.rows) * triton.cdiv(num_outputs, tile.outputs),)
    _whole_kernel[grid](
        x_MK,
        weight_NK,
        None if bias_N is None else dense(bias_N),
        y_MN,
        num_rows,
        num_outputs,
        x_MK.shape[1],
        SPLITS=plan.num_splits,
        INPUTS_A_SPLIT=plan.num_inputs,
        EVEN=x_MK.shape[1] % BLOCK_INPUTS == 0,
        ROWS=tile.rows,
        OUTPUTS=tile.outputs,
        INPUTS=BLOCK_INPUTS,
        GROUP=_TILES_A_GROUP,
        num_warps=tile.num_warps,
        num_stages=tile.num_stages,
        enable_fp_fusion=False,
    )


@triton.jit
def _tile_sum(
    x,
    weight,
    row_R,
    output_O,
    num_rows,
    num_outputs,
    num_inputs,
    start,
    INPUTS_A_SPLIT: tl.constexpr,
    EVEN: tl.constexpr,
    ROWS: tl.constexpr,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
):
    """Sum one part of the plan for one tile."""
    # rows and outputs past the end read the last one; nobody stores what comes of them
    row_R = tl.minimum(row_R, num_rows - 1).to(tl.int64)
    output_O = tl.minimum(output_O, num_outputs - 1).to(tl.int64)
    input_I = start + tl.arange(0, INPUTS)
    x_RI = x + row_R[:, None] * num_inputs + input_I[None, :]
    weight_IO = weight + output_O[None, :] * num_inputs + input_I[:, None]
    total_RO = tl.zeros((ROWS, OUTPUTS), tl.float32)
    for first in range(start, tl.minimum(start + INPUTS_A_SPLIT, num_inputs), INPUTS):
        if EVEN:
            block_RI = tl.load(x_RI)
            block_IO = tl.load(weight_IO)
        else:
            inside_I = first + tl.arange(0, INPUTS) < num_inputs
            block_RI = tl.load(x_RI, mask=inside_I[None, :], other=0.0)
            block_IO = tl.load(weight_IO, mask=inside_I[:, None], other=0.0)
        total_RO = tl.dot(block_RI, block_IO, total_RO, input_precision="ieee")
        x_RI += INPUTS
        weight_IO += INPUTS
    return total_RO


@triton.jit(do_not_specialize=["num_rows"])
def _whole_kernel(
    x,
    weight,
    bias,
    y,
    num_rows,
    num_outputs,
    num_inputs,
    SPLITS: tl.constexpr,
    INPUTS_A_SPLIT: tl.constexpr,
    EVEN: tl.constexpr,
    ROWS: tl.constexpr,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
    GROUP: tl.constexpr,
):
    # neighbours share rows or outputs, so that both stay in the cache
    program = tl.program_id(0)
    num_row_tiles = tl.cdiv(num_rows, ROWS)
    num_output_tiles = tl.cdiv(num_outputs, OUTPUTS)
    group = program // (GROUP * num_output_tiles)
    group_rows = tl.minimum(num_row_tiles - group * GROUP, GROUP)
    inside = program % (GROUP * num_output_tiles)
    row_R = (group * GROUP + inside % group_rows) * ROWS + tl.arange(0, ROWS)
    output_O = (inside // group_rows) * OUTPUTS + tl.arange(0, OUTPUTS)

    total_RO = _tile_sum(
        x, weight, row_R, output_O, num_rows, num_outputs, num_inputs, 0,
        INPUTS_A_SPLIT, EVEN, ROWS, OUTPUTS, INPUTS,
    )  # fmt: skip
    for split in range(1, SPLITS):
        total_RO += _tile_sum(
            x, weight, row_R, output_O, num_rows, num_outputs, num_inputs, split * INPUTS_A_SPLIT,
            INPUTS_A_SPLIT, EVEN, ROWS, OUTPUTS, INPUTS,
        )  # fmt: skip
    if bias is not None:
        bias_O = tl.load(bias + output_O, mask=output_O < num_outputs, other=0.0)
        total_RO += bias_O.to(tl.float32)[None, :]
    y_RO = y + row_R.to(tl.int64)[:, None] * num_outputs + output_O[None, :]
    mask_RO = (row_R[:, None] < num_rows) & (output_O[None, :] < num_outputs)
    tl.store(y_RO, total_RO.to(y.dtype.element_ty), mask=mask_RO)


@triton.jit(do_not_specialize=["num_rows"])
def _part_kernel(
    x,
    weight,
    parts,
    num_rows,
    num_outputs,
    num_inputs,
    INPUTS_A_SPLIT: tl.constexpr,
    EVEN: tl.constexpr,
    ROWS: tl.constexpr,
    OUTPUTS: tl.constexpr,
    INPUTS: tl.constexpr,
):
    split = tl.program_id(2)
    row_R = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    output_O = tl.program_id(0) * OUTPUTS + tl.arange(0, OUTPUTS)
    total_RO = _tile_sum(
        x, weight, row_R, output_O, num_rows, num_outputs, num_inputs, split * INPUTS_A_SPLIT,
        INPUTS_A_SPLIT, EVEN, ROWS, OUTPUTS, INPUTS,
    )  # fmt: skip
    part_R = split.to(tl.int64) * num_rows + row_R
    parts_RO = parts + part_R[:, None] * num_outputs + output_O[None, :]
    mask_RO = (row_R[:, None] < num_rows) & (output_O[None, :] < num_outputs)
    tl.store(parts_RO, total_RO, mask=mask_RO)


@triton.jit(do_not_specialize=["num_rows"])
def _sum_kernel(parts, bias, y, num_rows, num_outputs, SPLITS: tl.constexpr, OUTPUTS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    output_O = tl.program_id(1) * OUTPUTS + tl.arange(0, OUTPUTS)
    mask_O = output_O < num_outputs
    total_O = tl.load(parts + row * num_outputs + output_O, mask=mask_O, other=0.0)
    for split in range(1, SPLITS):
        part = split * tl.cast(num_rows, tl.int64) + row
        total_O += tl.load(parts + part * num_outputs + output_O, mask=mask_O, other=0.0)
    if bias is not None:
        total_O += tl.load(bias + output_O, mask=mask_O, other=0.0).to(tl.float32)
    tl.store(y + row * num_outputs + output_O, total_O.to(y.dtype.element_ty), mask=mask_O)
