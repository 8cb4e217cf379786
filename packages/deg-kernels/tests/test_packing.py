from __future__ import annotations

import pytest
import torch
from torch import Tensor

from deg_kernels import linear, naive_linear, packed_weight
from invariance import num_rows_that_company_changes

# M rows, K inputs, N outputs
DTYPES = [torch.float32, torch.bfloat16]


def rows_and_weight(num_inputs: int, num_outputs: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    x_MK = torch.randn(70, num_inputs, generator=generator).to(dtype)
    return x_MK, torch.randn(num_outputs, num_inputs, generator=generator).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(576, 192), (1536, 64), (64, 1)])
def test_company_changes_no_row(shape: tuple[int, int], dtype: torch.dtype) -> None:
    x_MK, weight_NK = rows_and_weight(*shape, dtype)
    packed_NK = packed_weight(weight_NK)
    # once before and once after the look at fewer rows
    for _ in range(2):
        assert num_rows_that_company_changes(lambda x: linear(x, packed_NK), x_MK) == 0
        for i in range(40):
            linear(x_MK[i : i + 1], packed_NK)


@pytest.mark.parametrize("dtype", DTYPES)
def test_two_threads_give_the_bits_of_one(dtype: torch.dtype) -> None:
    x_MK, weight_NK = rows_and_weight(576, 192, dtype)
    packed_NK = packed_weight(weight_NK)
    expected_MN = linear(x_MK, packed_NK)
    num_threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert torch.equal(linear(x_MK, packed_NK), expected_MN)
        assert torch.equal(linear(x_MK[:3], packed_NK), expected_MN[:3])
    finally:
        torch.set_num_threads(num_threads)


@pytest.mark.parametrize("num_rows", [0, 1, 16, 20])
def test_it_agrees_with_the_reference(num_rows: int) -> None:
    x_MK, weight_NK = rows_and_weight(64, 48, torch.float32)
    bias_N = torch.linspace(-1, 1, 48)
    actual_MN = linear(x_MK[:num_rows], packed_weight(weight_NK), bias_N)
    torch.testing.assert_close(actual_MN, naive_linear(x_MK[:num_rows], weight_NK, bias_N))


def test_a_packed_weight_still_says_what_it_is() -> None:
    packed_NK = packed_weight(torch.zeros(8, 16, dtype=torch.bfloat16))
    assert (packed_NK.shape, packed_NK.dtype, packed_NK.device.type) == (
        (8, 16),
        torch.bfloat16,
        "cpu",
    )
    assert packed_weight(packed_NK) is packed_NK
    with pytest.raises(ValueError, match="weight_NK: has shape"):
        linear(torch.zeros(2, 8, dtype=torch.bfloat16), packed_NK)


def test_what_does_not_fit_is_named() -> None:
    with pytest.raises(ValueError, match="weight_NK: has shape"):
        packed_weight(torch.zeros(8))
    with pytest.raises(ValueError, match="weight_NK: has dtype float64"):
        packed_weight(torch.zeros(8, 8, dtype=torch.float64))
    x_MK = torch.zeros(2, 8, requires_grad=True)
    with pytest.raises(ValueError, match="x: asks for a gradient"):
        linear(x_MK, packed_weight(torch.zeros(8, 8)))
