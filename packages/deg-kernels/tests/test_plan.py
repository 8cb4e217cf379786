from __future__ import annotations

import pytest

from deg_kernels.linear.plan import BLOCK_INPUTS, SplitPlan, split_plan


@pytest.mark.parametrize(
    ("num_outputs", "num_inputs", "plan"),
    [
        (7168, 1024, SplitPlan(1, 1024)),
        (1024, 3584, SplitPlan(4, 896)),
        (1024, 1024, SplitPlan(4, 256)),
        (16, 1024, SplitPlan(4, 256)),
        (248320, 1024, SplitPlan(1, 1024)),
        (1, 1, SplitPlan(1, 64)),
        (8, 0, SplitPlan(1, 64)),
    ],
)
def test_few_outputs_split_the_sum(num_outputs: int, num_inputs: int, plan: SplitPlan) -> None:
    assert split_plan(num_outputs, num_inputs) == plan


@pytest.mark.parametrize("num_outputs", [1, 64, 500, 1024, 5120, 10000])
def test_the_parts_cover_the_sum_and_none_is_empty(num_outputs: int) -> None:
    for num_inputs in range(1, 5000, 37):
        plan = split_plan(num_outputs, num_inputs)
        assert plan.num_inputs % BLOCK_INPUTS == 0
        assert (plan.num_splits - 1) * plan.num_inputs < num_inputs
        assert num_inputs <= plan.num_splits * plan.num_inputs
