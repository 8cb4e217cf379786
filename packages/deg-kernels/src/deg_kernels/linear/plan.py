"""How a long sum is cut: a function of the weight's shape, never of the number of rows."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BLOCK_INPUTS", "SplitPlan", "split_plan"]

BLOCK_INPUTS = 64
"""Inputs of one tile product. All kernels share it: it is part of the order of the sum."""

_OUTPUTS_A_PROGRAM = 32
_ENOUGH_PROGRAMS = 128
_FEWEST_INPUTS = 256


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """The parts that a sum over the inputs is cut into; each is summed alone, then all in order.

    Attributes:
        num_splits: How many parts there are.
        num_inputs: Inputs of each part, a multiple of `BLOCK_INPUTS`; the last may have fewer.
    """

    num_splits: int
    num_inputs: int


def split_plan(num_outputs: int, num_inputs: int) -> SplitPlan:
    """Return how to cut the sums of a weight with this shape.

    A decode step reads a weight once for a few rows, so it is as fast as the number of programs
    that read at a time. A weight with few outputs gives each program a part of the sum.
    """
    num_programs = -(-num_outputs // _OUTPUTS_A_PROGRAM)
    num_splits = 1
    while num_programs * num_splits < _ENOUGH_PROGRAMS and num_inputs >= (
        2 * num_splits * _FEWEST_INPUTS
    ):
        num_splits *= 2
    num_blocks = -(-num_inputs // (num_splits * BLOCK_INPUTS))
    inputs_a_split = max(num_blocks, 1) * BLOCK_INPUTS
    return SplitPlan(max(-(-num_inputs // inputs_a_split), 1), inputs_a_split)
