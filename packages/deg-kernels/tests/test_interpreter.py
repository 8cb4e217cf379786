from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

triton = pytest.importorskip("triton")
from interpreter import to_bfloat16_bits, to_float32  # noqa: E402
from kernels_for_tests import arithmetic, copy, product, total  # noqa: E402

SIZE = 1024


def numbers(seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(SIZE, generator=generator) * 10 ** torch.randn(SIZE, generator=generator)


def test_rounding_to_bf16_is_that_of_torch() -> None:
    x = torch.cat([numbers(0), torch.tensor([0.0, -0.0, torch.inf, -torch.inf, 3.4e38, 1e-40])])
    bits = to_bfloat16_bits(x.numpy())
    assert np.array_equal(bits, x.bfloat16().view(torch.int16).numpy().view(np.uint16))
    assert np.array_equal(to_float32(bits), x.bfloat16().float().numpy())
    assert np.isnan(to_float32(to_bfloat16_bits(np.array([np.nan], np.float32)))).all()


def test_a_store_rounds_and_a_load_is_exact() -> None:
    x = numbers(1)
    rounded, widened = torch.empty(SIZE, dtype=torch.bfloat16), torch.empty(SIZE)
    copy[(1,)](x, rounded, SIZE=SIZE)
    copy[(1,)](rounded, widened, SIZE=SIZE)
    assert torch.equal(rounded, x.bfloat16())
    assert torch.equal(widened, rounded.float())


def test_arithmetic_in_bf16_is_that_of_torch() -> None:
    x, y = numbers(2).bfloat16(), numbers(3).bfloat16()
    result = torch.empty(SIZE, dtype=torch.bfloat16)
    arithmetic[(1,)](x, y, result, SIZE=SIZE)
    expected = torch.where(x < y, torch.maximum(x, y) - x * y, torch.sqrt(x.abs()) + y)
    assert torch.equal(result, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_row_of_a_product_has_the_same_bits_anywhere(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(4)
    a = torch.randn(16, 64, generator=generator).to(dtype)
    b = torch.randn(64, 16, generator=generator).to(dtype)
    order = torch.randperm(16, generator=generator)
    result, permuted = torch.empty(16, 16), torch.empty(16, 16)
    product[(1,)](a, b, result, SIZE=16, INNER=64)
    product[(1,)](a[order], b, permuted, SIZE=16, INNER=64)
    assert torch.equal(permuted, result[order])
    torch.testing.assert_close(result, a.float() @ b.float())


def test_a_sum_in_bf16_is_refused() -> None:
    with pytest.raises(Exception, match="reduce in fp32"):
        total[(1,)](numbers(5).bfloat16(), torch.empty(1), SIZE=SIZE)
