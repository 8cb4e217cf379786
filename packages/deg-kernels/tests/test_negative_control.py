"""Prove that the tests of invariance can fail: what torch does by itself must not pass them."""

from __future__ import annotations

import torch

from deg_kernels import head_product, linear, naive_head_product, naive_linear
from invariance import num_rows_that_company_changes


def test_the_naive_linear_map_fails_where_ours_passes() -> None:
    generator = torch.Generator().manual_seed(0)
    x_MK = torch.randn(40, 576, generator=generator)
    weight_NK = torch.randn(192, 576, generator=generator)
    assert num_rows_that_company_changes(lambda x: naive_linear(x, weight_NK), x_MK) > 0
    assert num_rows_that_company_changes(lambda x: linear(x, weight_NK), x_MK) == 0


def test_the_naive_product_fails_where_ours_passes() -> None:
    generator = torch.Generator().manual_seed(0)
    a_RD = torch.randn(40, 256, generator=generator)
    b_OD = torch.randn(33, 256, generator=generator)
    assert num_rows_that_company_changes(lambda a: naive_head_product(a, b_OD), a_RD) > 0
    assert num_rows_that_company_changes(lambda a: head_product(a, b_OD), a_RD) == 0
