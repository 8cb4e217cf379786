from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

pytest.importorskip("triton")
from compile_only import SHARED_BYTES, Launch, compile_launches, recorded_launches
from deg_kernels.argmax.triton_kernel import argmax
from deg_kernels.head_product.triton_kernel import head_product
from deg_kernels.linear.triton_kernel import linear
from deg_kernels.log_softmax.triton_kernel import log_softmax
from deg_kernels.rms_norm.triton_kernel import (
    rms_norm,
    rms_norm_centred,
    rms_norm_gated,
)
from kernels_for_tests import racing_sum

NUM_ROWS = [1, 2, 3, 16, 17, 64, 65, 1024, 1025, 2048, 4097]
BF16, FP32 = torch.bfloat16, torch.float32


def run_linear(num_rows: int, dtype: torch.dtype) -> None:
    """Run a weight whose sum is split, and one whose sum is not."""
    linear(torch.empty(num_rows, 3584, dtype=dtype), torch.empty(1024, 3584, dtype=dtype), None)


def run_norms(num_rows: int, dtype: torch.dtype) -> None:
    x_NH, weight_H = torch.empty(num_rows, 1024, dtype=dtype), torch.empty(1024, dtype=dtype)
    rms_norm(x_NH, weight_H, 1e-5)
    rms_norm_centred(x_NH, weight_H, 1e-5)
    rms_norm_gated(x_NH, weight_H, x_NH, 1e-5)


def run_heads(num_rows: int, dtype: torch.dtype) -> None:
    head_product(torch.empty(num_rows, 256), torch.empty(max(num_rows // 3, 1), 256))
    argmax(torch.empty(num_rows, 500 + num_rows, dtype=dtype))
    log_softmax(torch.empty(num_rows, 500 + num_rows, dtype=dtype))


def recorded(run: Callable[[int, torch.dtype], None], dtype: torch.dtype) -> list[Launch]:
    with recorded_launches() as launches:
        for num_rows in NUM_ROWS:
            run(num_rows, dtype)
    return list(dict.fromkeys(launches))


@pytest.mark.parametrize(
    ("run", "dtype", "num_variants"),
    [
        # parts, their sum, two taller tiles; in fp32 these two are one
        (run_linear, BF16, 4),
        (run_linear, FP32, 3),
        (run_norms, BF16, 3),
        (run_norms, FP32, 3),
        # one for products, two for each of the others
        (run_heads, BF16, 5),
        (run_heads, FP32, 5),
    ],
)
def test_the_number_of_rows_makes_no_variants(
    run: Callable[[int, torch.dtype], None], dtype: torch.dtype, num_variants: int
) -> None:
    assert len(recorded(run, dtype)) == num_variants


def test_every_kernel_fits_every_chip() -> None:
    launches = [
        *recorded(run_linear, BF16),
        *recorded(run_linear, FP32),
        *recorded(run_norms, BF16),
        *recorded(run_heads, FP32),
    ]
    compiled = compile_launches(launches)
    assert len(compiled) == len(launches) * len(SHARED_BYTES)
    assert [each for each in compiled if not each.fits] == []
    uses_tensor_cores = {each.kernel for each in compiled if each.num_matrix_products}
    assert uses_tensor_cores == {"_part_kernel", "_whole_kernel"}


def test_what_decides_a_variant_is_noted() -> None:
    with recorded_launches() as launches:
        for num_rows in (1, 16, 17):
            racing_sum[(1,)](torch.empty(16), torch.empty(1), num_rows, 16)
        racing_sum[(1,)](torch.empty(16), torch.empty(1), 2, 1)
        racing_sum[(1,)](torch.empty(17)[1:], torch.empty(1), 2, 16)
    assert [launches.index(launch) for launch in launches] == [0, 0, 0, 3, 4]


def test_a_sum_without_an_order_does_not_pass() -> None:
    with recorded_launches() as launches:
        racing_sum[(1,)](torch.empty(16), torch.empty(1), 1, 16)
    (compiled,) = compile_launches(launches, capabilities=[90])
    assert compiled.num_float_atomics > 0
    assert not compiled.fits
