from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from deg_kernels import naive_linear
from invariance import num_rows_that_company_changes

pytest.importorskip("triton")
from deg_kernels.linear import triton_kernel

# M rows, K inputs, N outputs
DTYPES = [torch.float32, torch.bfloat16]
OPERATORS = [triton_kernel.linear, triton_kernel.linear_small]
Operator = Callable[[Tensor, Tensor, Tensor | None], Tensor]


def rows_and_weight(
    num_rows: int, num_inputs: int, num_outputs: int, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(num_inputs)
    x_MK = torch.randn(num_rows, num_inputs, generator=generator).to(dtype)
    return x_MK, torch.randn(num_outputs, num_inputs, generator=generator).to(dtype)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_company_changes_no_row(operator: Operator, dtype: torch.dtype) -> None:
    x_MK, weight_NK = rows_and_weight(20, 512, 40, dtype)
    changed = num_rows_that_company_changes(
        lambda x: operator(x, weight_NK, None), x_MK, counts=(1, 17)
    )
    assert changed == 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("num_inputs", [512, 100])
def test_a_decode_step_gives_the_bits_of_a_prefill(num_inputs: int, dtype: torch.dtype) -> None:
    x_MK, weight_NK = rows_and_weight(70, num_inputs, 40, dtype)
    bias_N = torch.linspace(-1, 1, 40).to(dtype)
    prefill_MN = triton_kernel.linear(x_MK, weight_NK, bias_N)
    decode_MN = triton_kernel.linear_small(x_MK[65:67], weight_NK, bias_N)
    assert torch.equal(decode_MN, prefill_MN[65:67])


def test_the_largest_tile_gives_the_bits_of_the_smallest(monkeypatch: pytest.MonkeyPatch) -> None:
    x_MK, weight_NK = rows_and_weight(70, 512, 40, torch.bfloat16)
    expected_MN = triton_kernel.linear_small(x_MK, weight_NK, None)
    monkeypatch.setattr(triton_kernel, "_MOST_MEDIUM_ROWS", 64)
    assert torch.equal(triton_kernel.linear(x_MK, weight_NK, None), expected_MN)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(
    ("num_rows", "num_inputs", "num_outputs"), [(0, 64, 8), (3, 512, 33), (70, 100, 65)]
)
def test_it_agrees_with_the_reference(
    operator: Operator, num_rows: int, num_inputs: int, num_outputs: int
) -> None:
    x_MK, weight_NK = rows_and_weight(num_rows, num_inputs, num_outputs, torch.float32)
    bias_N = torch.linspace(-1, 1, num_outputs)
    expected_MN = naive_linear(x_MK.double(), weight_NK.double(), bias_N.double()).float()
    torch.testing.assert_close(operator(x_MK, weight_NK, bias_N), expected_MN, atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("operator", OPERATORS)
def test_bf16_is_rounded_once(operator: Operator) -> None:
    x_MK, weight_NK = rows_and_weight(4, 512, 40, torch.bfloat16)
    expected_MN = naive_linear(x_MK.double(), weight_NK.double())
    actual_MN = operator(x_MK, weight_NK, None).double()
    assert ((actual_MN - expected_MN).abs() <= expected_MN.abs() * 2**-8 + 1e-4).all()
