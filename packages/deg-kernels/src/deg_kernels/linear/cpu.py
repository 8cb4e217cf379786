"""The batch-invariant linear map on a CPU.

A matrix library picks its algorithm by the number of rows, and with it the order of the sums, so
the same row gets other bits in another batch. It treats whole tiles of 16 rows alike, so rows are
padded to that. One row then costs as much as 16. For a weight that is often given fewer rows we
look once whether this machine's library sums fewer rows in the same order, and pad less if so.
"""

# M rows, K inputs, N outputs

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from deg_kernels.linear.packing import multiply, packed_weight
from deg_kernels.memory import dense

__all__ = ["ROW_TILE", "linear", "linear_small"]

ROW_TILE = 16
"""Rows are padded to a multiple of this many."""

_FEWER_ROWS = (1, 2, 4, 8)
_CALLS_BEFORE_A_LOOK = 32
_MOST_WEIGHTS_TO_LOOK_AT = 1 << 25


@dataclass(slots=True)
class _Habit:
    """How often a shape of weight was given few rows, and which counts its bits allow."""

    num_calls: int = 0
    row_counts: tuple[int, ...] = ()


def linear(x_MK: Tensor, weight_NK: Tensor, bias_N: Tensor | None) -> Tensor:
    """Return `x @ weight.T + bias`, summed in the order of a tile of 16 rows."""
    num_rows = len(x_MK)
    padding = _num_rows_to_run(num_rows, weight_NK, bias_N) - num_rows
    x_MK = torch.nn.functional.pad(x_MK, (0, 0, 0, padding)) if padding else dense(x_MK)
    return multiply(x_MK, weight_NK, bias_N)[:num_rows]


def linear_small(x_MK: Tensor, weight_NK: Tensor, bias_N: Tensor | None) -> Tensor:
    """Return what `linear` does: a CPU has one kernel for few rows and many."""
    return linear(x_MK, weight_NK, bias_N)


def _num_rows_to_run(num_rows: int, weight_NK: Tensor, bias_N: Tensor | None) -> int:
    if 0 < num_rows <= _FEWER_ROWS[-1] and _is_worth_a_look(weight_NK):
        packed, threads = weight_NK.is_mkldnn, torch.get_num_threads()
        habit = _habit(weight_NK.shape, weight_NK.dtype, packed, bias_N is not None, threads)
        habit.num_calls += 1
        if habit.num_calls == _CALLS_BEFORE_A_LOOK:
            habit.row_counts = _row_counts_like_a_tile(weight_NK, bias_N is not None)
        for count in habit.row_counts:
            if count >= num_rows:
                return count
    return num_rows + -num_rows % ROW_TILE


def _is_worth_a_look(weight_NK: Tensor) -> bool:
    if weight_NK.numel() > _MOST_WEIGHTS_TO_LOOK_AT:
        return False
    # the look is at a weight in order; one that is not could take another path
    return weight_NK.is_mkldnn or (weight_NK.is_contiguous() and weight_NK.data_ptr() % 64 == 0)


@lru_cache(maxsize=1024)
def _habit(
    shape: tuple[int, int], dtype: torch.dtype, packed: bool, has_bias: bool, num_threads: int
) -> _Habit:
    return _Habit()


@torch.no_grad()
def _row_counts_like_a_tile(weight_NK: Tensor, has_bias: bool) -> tuple[int, ...]:
    num_outputs, num_inputs = weight_NK.shape
    x_MK, probe_NK = _sums_to_nothing(num_outputs, num_inputs, weight_NK.dtype)
    bias_N = probe_NK.new_zeros(num_outputs) if has_bias else None
    if weight_NK.is_mkldnn:
        probe_NK = packed_weight(probe_NK)
    tile_MN = multiply(x_MK, probe_NK, bias_N)

    def is_like_a_tile(count: int) -> bool:
        parts = [multiply(dense(part), probe_NK, bias_N) for part in torch.split(x_MK, count)]
        return torch.equal(torch.cat(parts), tile_MN)

    return tuple(count for count in _FEWER_ROWS if is_like_a_tile(count))


def _sums_to_nothing(
    num_outputs: int, num_inputs: int, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Return rows and a weight whose products cancel, so that results are rounding alone.

    What is left differs in nearly every result if the order of the sum does, even in bf16.
    """
    generator = torch.Generator().manual_seed(0)
    half = num_inputs // 2
    order = torch.randperm(half, generator=generator)
    x_MK = torch.zeros(ROW_TILE, num_inputs)
    x_MK[:, :half] = torch.randn(ROW_TILE, half, generator=generator)
    x_MK[:, half : 2 * half] = x_MK[:, :half][:, order]
    weight_NK = torch.zeros(min(num_outputs, 256), num_inputs)
    weight_NK[:, :half] = torch.randn(len(weight_NK), half, generator=generator)
    weight_NK[:, half : 2 * half] = -weight_NK[:, :half][:, order]
    repeats = -(-num_outputs // max(len(weight_NK), 1))
    return x_MK.to(dtype), weight_NK.to(dtype).repeat(repeats, 1)[:num_outputs]
