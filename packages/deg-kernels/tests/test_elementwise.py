from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from deg_kernels import naive_sigmoid, naive_silu, naive_softplus, sigmoid, silu, softplus

Function = Callable[[Tensor], Tensor]
PAIRS = [(sigmoid, naive_sigmoid), (silu, naive_silu), (softplus, naive_softplus)]
FUNCTIONS = [function for function, _ in PAIRS]


def numbers(dtype: torch.dtype) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return (4 * torch.randn(40_000, generator=generator)).to(dtype)


def num_changed(function: Function, x: Tensor) -> int:
    together = function(x)
    spans = [(first, first + size) for first in (0, 1, 37) for size in (1, 7, 31, 65, 1000, 39_000)]
    return sum(not torch.equal(function(x[a:b]), together[a:b]) for a, b in spans)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_place_in_a_tensor_changes_no_bit(function: Function, dtype: torch.dtype) -> None:
    assert num_changed(function, numbers(dtype)) == 0


@pytest.mark.parametrize(("function", "naive"), PAIRS)
def test_without_it_the_place_does_change_bits(function: Function, naive: Function) -> None:
    assert num_changed(naive, numbers(torch.float32)) > 0


@pytest.mark.parametrize("function", FUNCTIONS)
def test_two_threads_give_the_bits_of_one(function: Function) -> None:
    x = numbers(torch.float32)[:39_937]
    expected = function(x)
    num_threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert torch.equal(function(x), expected)
    finally:
        torch.set_num_threads(num_threads)


@pytest.mark.parametrize(("function", "naive"), PAIRS)
def test_it_agrees_with_the_reference(function: Function, naive: Function) -> None:
    x = torch.tensor([-200.0, -90.0, -20.0, -1.0, 0.0, 1e-3, 1.0, 20.0, 20.5, 90.0, 200.0])
    torch.testing.assert_close(function(x), naive(x.double()).float())
    assert function(x[:0]).shape == (0,)
    assert function(x[:10].view(2, 5).T).shape == (5, 2)


@pytest.mark.parametrize(("function", "naive"), PAIRS)
def test_gradients_are_those_of_the_reference(function: Function, naive: Function) -> None:
    x, y = (
        numbers(torch.float32)[:50].requires_grad_(),
        numbers(torch.float32)[:50].requires_grad_(),
    )
    function(x).sum().backward()
    naive(y).sum().backward()
    torch.testing.assert_close(x.grad, y.grad)


def test_what_does_not_fit_is_named() -> None:
    with pytest.raises(ValueError, match="x: has dtype int64"):
        silu(torch.arange(3))


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_part_of_wider_rows_has_the_bits_of_its_copy(
    function: Function, num_threads: int
) -> None:
    wide = numbers(torch.bfloat16).view(100, 400)[:, 8:328]
    before = torch.get_num_threads()
    torch.set_num_threads(num_threads)
    try:
        assert torch.equal(function(wide), function(wide.contiguous()))
        assert torch.equal(function(wide[7:8]), function(wide)[7:8])
    finally:
        torch.set_num_threads(before)
