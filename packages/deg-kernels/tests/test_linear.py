from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from deg_kernels import linear, linear_small, naive_linear
from deg_kernels.linear import cpu
from invariance import num_rows_that_company_changes

# M rows, K inputs, N outputs
SHAPES = [(64, 48), (576, 192), (192, 576)]
DTYPES = [torch.float32, torch.bfloat16]
Operator = Callable[..., Tensor]


def rows_and_weight(shape: tuple[int, int], dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    num_inputs, num_outputs = shape
    generator = torch.Generator().manual_seed(num_inputs)
    x_MK = torch.randn(70, num_inputs, generator=generator).to(dtype)
    return x_MK, torch.randn(num_outputs, num_inputs, generator=generator).to(dtype)


@pytest.mark.parametrize("operator", [linear, linear_small])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_company_changes_no_row(
    operator: Operator, shape: tuple[int, int], dtype: torch.dtype
) -> None:
    x_MK, weight_NK = rows_and_weight(shape, dtype)
    assert num_rows_that_company_changes(lambda x: operator(x, weight_NK), x_MK) == 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_row_alone_has_the_bits_it_has_in_a_batch(
    shape: tuple[int, int], dtype: torch.dtype
) -> None:
    x_MK, weight_NK = rows_and_weight(shape, dtype)
    together_MN = linear(x_MK, weight_NK)
    # often enough for the look at fewer rows
    alone_MN = torch.cat([linear(x_MK[i : i + 1], weight_NK) for i in range(len(x_MK))])
    assert torch.equal(alone_MN, together_MN)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("num_rows", [1, 2, 3, 5, 7, 11, 15, 16, 17, 31, 33, 64])
def test_the_number_of_rows_changes_no_bit(num_rows: int, dtype: torch.dtype) -> None:
    x_MK, weight_NK = rows_and_weight((576, 192), dtype)
    expected_MN = linear(x_MK, weight_NK)[:num_rows]
    assert torch.equal(linear(x_MK[:num_rows], weight_NK), expected_MN)


@pytest.mark.parametrize("dtype", DTYPES)
def test_two_threads_give_the_bits_of_one(dtype: torch.dtype) -> None:
    x_MK, weight_NK = rows_and_weight((576, 192), dtype)
    expected_MN = linear(x_MK, weight_NK)
    num_threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert torch.equal(linear(x_MK, weight_NK), expected_MN)
        assert torch.equal(linear(x_MK[:3], weight_NK), expected_MN[:3])
    finally:
        torch.set_num_threads(num_threads)


def test_the_layout_in_memory_changes_no_bit() -> None:
    x_MK, weight_NK = rows_and_weight((64, 48), torch.float32)
    column_major_MK = x_MK.t().contiguous().t()
    assert torch.equal(linear(column_major_MK[:32], weight_NK), linear(x_MK[:32], weight_NK))


def test_the_address_of_rows_changes_no_bit() -> None:
    x_MK, weight_NK = rows_and_weight((64, 48), torch.float32)
    shifted_MK = torch.cat([torch.zeros(1), x_MK[:16].flatten()])[1:].view(16, 64)
    assert torch.equal(linear(shifted_MK, weight_NK), linear(x_MK, weight_NK)[:16])


def test_the_look_at_fewer_rows_finds_those_whose_sums_have_another_order() -> None:
    x_MK, weight_NK = cpu._sums_to_nothing(192, 576, torch.float32)
    tile_MN = naive_linear(x_MK, weight_NK)
    assert torch.count_nonzero(tile_MN) > 0
    for count in cpu._row_counts_like_a_tile(weight_NK, has_bias=False):
        assert torch.equal(naive_linear(x_MK[:count], weight_NK), tile_MN[:count])


@pytest.mark.parametrize("num_rows", [0, 1, 16, 20])
@pytest.mark.parametrize("operator", [linear, linear_small])
def test_it_agrees_with_the_reference(operator: Operator, num_rows: int) -> None:
    x_MK, weight_NK = rows_and_weight((64, 48), torch.float32)
    bias_N = torch.linspace(-1, 1, 48)
    actual_MN = operator(x_MK[:num_rows], weight_NK, bias_N)
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


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((torch.zeros(2, 4).half(), torch.zeros(3, 4).half()), "x: has dtype float16"),
        ((torch.zeros(2, 4), torch.zeros(3, 5)), "weight_NK: has shape"),
        ((torch.zeros(2, 4), torch.zeros(3, 4).bfloat16()), "weight_NK: has dtype bfloat16"),
        ((torch.zeros(2, 4), torch.zeros(3, 4), torch.zeros(4)), "bias_N: has shape"),
        ((torch.zeros(2, 4), torch.zeros(3, 4, device="meta")), "weight_NK: lies on meta"),
    ],
)
def test_what_does_not_fit_is_named(arguments: tuple[Tensor, ...], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        linear(*arguments)
