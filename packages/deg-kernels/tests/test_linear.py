from __future__ import annotations

import pytest
import torch
from torch import Tensor

from deg_kernels import linear, naive_linear

# M rows, K inputs, N outputs
SHAPES = [(64, 48), (576, 192), (192, 576)]
DTYPES = [torch.float32, torch.bfloat16]


def rows_and_weight(shape: tuple[int, int], dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    num_inputs, num_outputs = shape
    generator = torch.Generator().manual_seed(num_inputs)
    x_MK = torch.randn(70, num_inputs, generator=generator).to(dtype)
    return x_MK, torch.randn(num_outputs, num_inputs, generator=generator).to(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_row_alone_has_the_bits_it_has_in_a_batch(
    shape: tuple[int, int], dtype: torch.dtype
) -> None:
    x_MK, weight_NK = rows_and_weight(shape, dtype)
    together_MN = linear(x_MK, weight_NK)
    alone_MN = torch.cat([linear(x_MK[i : i + 1], weight_NK) for i in range(len(x_MK))])
    assert torch.equal(alone_MN, together_MN)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("num_rows", [1, 2, 3, 5, 7, 11, 15, 16, 17, 31, 33, 64])
def test_the_number_of_rows_changes_no_bit(num_rows: int, dtype: torch.dtype) -> None:
    x_MK, weight_NK = rows_and_weight((576, 192), dtype)
    expected_MN = linear(x_MK, weight_NK)[:num_rows]
    assert torch.equal(linear(x_MK[:num_rows], weight_NK), expected_MN)


def test_the_order_of_rows_changes_no_bit() -> None:
    x_MK, weight_NK = rows_and_weight((576, 192), torch.float32)
    order = torch.randperm(len(x_MK), generator=torch.Generator().manual_seed(0))
    assert torch.equal(linear(x_MK[order], weight_NK), linear(x_MK, weight_NK)[order])


def test_the_layout_in_memory_changes_no_bit() -> None:
    x_MK, weight_NK = rows_and_weight((64, 48), torch.float32)
    column_major_MK = x_MK.t().contiguous().t()
    assert torch.equal(linear(column_major_MK[:32], weight_NK), linear(x_MK[:32], weight_NK))


@pytest.mark.parametrize("num_rows", [0, 1, 16, 20])
def test_it_agrees_with_the_reference(num_rows: int) -> None:
    x_MK, weight_NK = rows_and_weight((64, 48), torch.float32)
    bias_N = torch.linspace(-1, 1, 48)
    actual_MN = linear(x_MK[:num_rows], weight_NK, bias_N)
    torch.testing.assert_close(actual_MN, naive_linear(x_MK[:num_rows], weight_NK, bias_N))


def test_leading_dimensions_stay() -> None:
    x_MK, weight_NK = rows_and_weight((64, 48), torch.float32)
    assert linear(x_MK[:6].reshape(2, 3, 64), weight_NK).shape == (2, 3, 48)
    assert linear(x_MK[0], weight_NK).shape == (48,)


def test_gradients_flow_to_rows_and_weight() -> None:
    x_MK, weight_NK = rows_and_weight((64, 48), torch.float32)
    x_MK.requires_grad_()
    weight_NK.requires_grad_()
    linear(x_MK, weight_NK).sum().backward()
    torch.testing.assert_close(x_MK.grad, weight_NK.detach().sum(0).expand(70, 64))
    assert weight_NK.grad is not None
