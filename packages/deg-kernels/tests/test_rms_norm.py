from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest
import torch
from torch import Tensor

from deg_kernels import rms_norm, rms_norm_centred, rms_norm_gated
from deg_kernels.rms_norm import cpu, reference
from invariance import num_rows_that_company_changes

# N rows, H size of a row
EPS = 1e-5
DTYPES = [torch.float32, torch.bfloat16]
NAMES = ["rms_norm", "rms_norm_centred", "rms_norm_gated"]


def rows(size: int, dtype: torch.dtype) -> Tensor:
    generator = torch.Generator().manual_seed(size)
    return (3 * torch.randn(20, size, generator=generator)).to(dtype)


def applied(module: ModuleType, name: str, x: Tensor) -> Tensor:
    """Apply the norm *name* of *module*, its weight and gate made of the row itself."""
    weight_H = torch.linspace(-1, 2, x.shape[-1]).to(x.dtype)
    prefix = "naive_" if module is reference else ""
    function: Callable[..., Tensor] = getattr(module, prefix + name)
    gate = (x.flip(-1),) if name == "rms_norm_gated" else ()
    return function(x, weight_H, *gate, EPS)


def kernels() -> ModuleType:
    pytest.importorskip("triton")
    from deg_kernels.rms_norm import triton_kernel  # noqa: PLC0415

    return triton_kernel


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [64, 576])
def test_company_changes_no_row(name: str, size: int, dtype: torch.dtype) -> None:
    x_NH = rows(size, dtype)
    assert num_rows_that_company_changes(lambda x: applied(cpu, name, x), x_NH) == 0


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_company_changes_no_row_in_the_kernel(name: str, dtype: torch.dtype) -> None:
    x_NH = rows(576, dtype)
    changed = num_rows_that_company_changes(
        lambda x: applied(kernels(), name, x), x_NH, counts=(1, 3)
    )
    assert changed == 0


@pytest.mark.parametrize("name", NAMES)
def test_the_layout_in_memory_changes_no_bit(name: str) -> None:
    x_NH = rows(64, torch.float32)
    column_major_NH = x_NH.t().contiguous().t()
    assert torch.equal(applied(cpu, name, column_major_NH), applied(cpu, name, x_NH))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_the_cpu_agrees_with_the_reference(name: str, dtype: torch.dtype) -> None:
    x = rows(64, dtype).view(4, 5, 64)
    torch.testing.assert_close(applied(cpu, name, x), applied(reference, name, x))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [64, 100])
def test_the_kernel_agrees_with_the_reference(name: str, size: int, dtype: torch.dtype) -> None:
    x = rows(size, dtype).view(4, 5, size)
    # the two may round one sum of squares apart, so bf16 may differ in its last bit
    torch.testing.assert_close(applied(kernels(), name, x), applied(reference, name, x))
    assert applied(kernels(), name, x[:0]).shape == (0, 5, size)


def test_gradients_flow() -> None:
    x_NH = rows(64, torch.float32).requires_grad_()
    applied(cpu, "rms_norm_gated", x_NH).sum().backward()
    assert x_NH.grad is not None


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ((torch.zeros(2, 4, dtype=torch.int64), torch.zeros(4)), "x: has dtype int64"),
        ((torch.zeros(2, 4), torch.zeros(5)), "weight_H: has shape"),
        ((torch.zeros(2, 4), torch.zeros(4).bfloat16()), "weight_H: has dtype bfloat16"),
        ((torch.zeros(2, 4), torch.zeros(4, device="meta")), "weight_H: lies on meta"),
        ((torch.zeros(2, 0), torch.zeros(0)), "x: rows have 0 numbers"),
        ((torch.zeros(1, 20_000), torch.zeros(20_000)), "x: rows have 20000 numbers"),
    ],
)
def test_what_does_not_fit_is_named(arguments: tuple[Tensor, Tensor], problem: str) -> None:
    for norm in (rms_norm, rms_norm_centred):
        with pytest.raises(ValueError, match=problem):
            norm(*arguments, EPS)


def test_a_gate_that_does_not_fit_is_named() -> None:
    with pytest.raises(ValueError, match="gate: has shape"):
        rms_norm_gated(torch.zeros(2, 4), torch.zeros(4), torch.zeros(1, 4), EPS)
