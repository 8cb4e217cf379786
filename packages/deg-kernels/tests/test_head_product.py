from __future__ import annotations

import pytest
import torch
from torch import Tensor

from deg_kernels import head_product, naive_head_product
from invariance import num_rows_that_company_changes

# R rows, O others, D inner size


def vectors(num_rows: int, num_others: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    a_RD = torch.randn(num_rows, 256, generator=generator)
    return a_RD, torch.randn(num_others, 256, generator=generator)


def test_company_changes_no_row() -> None:
    a_RD, b_OD = vectors(40, 33)
    assert num_rows_that_company_changes(lambda a: head_product(a, b_OD), a_RD) == 0


def test_company_changes_no_column() -> None:
    a_RD, b_OD = vectors(3, 40)
    assert num_rows_that_company_changes(lambda b: head_product(a_RD, b).T, b_OD) == 0


@pytest.mark.parametrize(("num_rows", "num_others"), [(0, 3), (3, 0), (1, 1), (20, 33)])
def test_it_agrees_with_the_reference(num_rows: int, num_others: int) -> None:
    a_RD, b_OD = vectors(num_rows, num_others)
    torch.testing.assert_close(head_product(a_RD, b_OD), naive_head_product(a_RD, b_OD))


@pytest.mark.parametrize(
    ("a_RD", "b_OD", "problem"),
    [
        (torch.zeros(2, 4).bfloat16(), torch.zeros(3, 4), "a_RD: has dtype bfloat16"),
        (torch.zeros(2, 4), torch.zeros(3, 5), "b_OD: has shape"),
        (torch.zeros(4), torch.zeros(3, 4), "a_RD: has shape"),
        (torch.zeros(2, 4), torch.zeros(3, 4, device="meta"), "b_OD: lies on meta"),
    ],
)
def test_what_does_not_fit_is_named(a_RD: Tensor, b_OD: Tensor, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        head_product(a_RD, b_OD)


def test_the_kernel_gives_a_pair_its_bits_in_any_company() -> None:
    pytest.importorskip("triton")
    from deg_kernels.head_product import triton_kernel  # noqa: PLC0415

    a_RD, b_OD = vectors(20, 70)
    product_RO = triton_kernel.head_product(a_RD, b_OD)
    torch.testing.assert_close(product_RO, naive_head_product(a_RD, b_OD), atol=1e-4, rtol=1e-5)
    alone_11 = triton_kernel.head_product(a_RD[17:18], b_OD[65:66])
    assert torch.equal(alone_11, product_RO[17:18, 65:66])
    assert triton_kernel.head_product(a_RD[:0], b_OD).shape == (0, 70)
