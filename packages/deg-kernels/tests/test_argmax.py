from __future__ import annotations

from types import ModuleType

import pytest
import torch
from torch import Tensor

from deg_kernels import argmax, naive_argmax
from deg_kernels.argmax import cpu

# R rows, V numbers


def kernels() -> ModuleType:
    pytest.importorskip("triton")
    from deg_kernels.argmax import triton_kernel  # noqa: PLC0415

    return triton_kernel


def rows_with_equals(size: int) -> Tensor:
    x_RV = torch.randn(3, size, generator=torch.Generator().manual_seed(0)).round()
    x_RV[1] = -torch.inf
    return x_RV


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("size", [1, 7, 5000])
def test_the_first_of_equals_is_found(size: int, dtype: torch.dtype) -> None:
    x_RV = rows_with_equals(size).to(dtype)
    expected_R = naive_argmax(x_RV)
    assert torch.equal(cpu.argmax(x_RV), expected_R)
    assert torch.equal(kernels().argmax(x_RV), expected_R)


def test_blocks_beyond_those_looked_at_together_count() -> None:
    x_RV = torch.zeros(1, 65 * 4096)
    x_RV[0, -1] = 1
    assert kernels().argmax(x_RV).tolist() == [65 * 4096 - 1]


def test_no_rows_have_no_places() -> None:
    assert argmax(torch.zeros(0, 3)).shape == kernels().argmax(torch.zeros(0, 3)).shape == (0,)


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
        argmax(x_RV)
