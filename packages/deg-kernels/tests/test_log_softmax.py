from __future__ import annotations

from types import ModuleType

import pytest
import torch
from torch import Tensor

from deg_kernels import log_softmax, naive_log_softmax
from deg_kernels.log_softmax import cpu
from invariance import num_rows_that_company_changes

# R rows, V outcomes


def kernels() -> ModuleType:
    pytest.importorskip("triton")
    from deg_kernels.log_softmax import triton_kernel  # noqa: PLC0415

    return triton_kernel


def logits(num_rows: int, size: int) -> Tensor:
    return 5 * torch.randn(num_rows, size, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_company_changes_no_row(dtype: torch.dtype) -> None:
    x_RV = logits(6, 4100).to(dtype)
    assert num_rows_that_company_changes(cpu.log_softmax, x_RV) == 0
    assert num_rows_that_company_changes(kernels().log_softmax, x_RV, counts=(1,)) == 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("size", [1, 7, 5000])
def test_it_agrees_with_the_reference(size: int, dtype: torch.dtype) -> None:
    x_RV = logits(2, size).to(dtype)
    expected_RV = naive_log_softmax(x_RV)
    torch.testing.assert_close(cpu.log_softmax(x_RV), expected_RV)
    torch.testing.assert_close(kernels().log_softmax(x_RV), expected_RV, atol=2e-5, rtol=1e-5)


def test_a_block_of_impossible_outcomes_adds_nothing() -> None:
    x_RV = torch.zeros(1, 5000)
    x_RV[:, :4096] = -torch.inf
    expected_RV = naive_log_softmax(x_RV)
    torch.testing.assert_close(kernels().log_softmax(x_RV), expected_RV)
    torch.testing.assert_close(cpu.log_softmax(x_RV), expected_RV)


def test_blocks_beyond_those_added_together_count() -> None:
    x_RV = torch.zeros(1, 65 * 4096)
    torch.testing.assert_close(kernels().log_softmax(x_RV), naive_log_softmax(x_RV))


def test_no_rows_have_no_probabilities() -> None:
    assert log_softmax(torch.zeros(0, 3)).shape == (0, 3)
    assert kernels().log_softmax(torch.zeros(0, 3)).shape == (0, 3)


@pytest.mark.parametrize(
    ("x_RV", "problem"),
    [
        (torch.zeros(3), "x_RV: has shape"),
        (torch.zeros(2, 0), "x_RV: rows have no numbers"),
        (torch.zeros(2, 3).half(), "x_RV: has dtype float16"),
    ],
)
def test_what_does_not_fit_is_named(x_RV: Tensor, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        log_softmax(x_RV)
