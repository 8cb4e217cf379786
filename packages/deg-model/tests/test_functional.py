from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from deg_model.functional import linear, lora_linear, rms_norm, rotate


def random(*shapes: tuple[int, ...], dtype: torch.dtype = torch.float32) -> list[Tensor]:
    generator = torch.Generator().manual_seed(len(shapes))
    return [torch.randn(*shape, generator=generator).to(dtype) for shape in shapes]


def plain_norm(x: Tensor, weight: Tensor) -> Tensor:
    wide = x.float()
    scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)
    return (wide * scale).to(x.dtype) * weight


def plain_lora(x: Tensor, weight: Tensor, down: Tensor, up: Tensor) -> Tensor:
    return x @ weight.T + x @ down.T @ up.T


def gradients(f: Callable[..., Tensor], free: list[Tensor], fixed: list[Tensor]) -> list[Tensor]:
    inputs = [tensor.clone().requires_grad_() for tensor in free]
    out = f(*inputs[:1], *fixed, *inputs[1:])
    weight = torch.arange(out.numel(), dtype=out.dtype).view_as(out).cos()
    return list(torch.autograd.grad((out * weight).sum(), inputs))


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 0.05)])
def test_rms_norm_is_the_plain_formula_forward_and_backward(
    dtype: torch.dtype, tolerance: float
) -> None:
    x, weight = random((7, 32), (32,), dtype=dtype)
    found = rms_norm(x, weight, 1e-5)
    assert torch.allclose(found.float(), plain_norm(x, weight).float(), atol=tolerance)
    (own,) = gradients(lambda x, w: rms_norm(x, w, 1e-5), [x], [weight])
    (plain,) = gradients(plain_norm, [x], [weight])
    assert torch.allclose(own.float(), plain.float(), atol=tolerance)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 0.2)])
def test_a_norm_of_heads_gives_its_weight_the_gradient_of_the_plain_formula(
    dtype: torch.dtype, tolerance: float
) -> None:
    tensors = random((7, 3, 16), (16,), dtype=dtype)
    own = gradients(lambda x, w: rms_norm(x, w, 1e-5), tensors, [])
    for one, other in zip(own, gradients(plain_norm, tensors, []), strict=True):
        assert one.dtype == dtype
        assert torch.allclose(one.float(), other.float(), atol=tolerance, rtol=tolerance)


def test_linear_has_the_gradient_of_the_product() -> None:
    tensors = random((5, 6), (4, 6))
    own = gradients(linear, tensors, [])
    for one, other in zip(own, gradients(lambda x, w: x @ w.T, tensors, []), strict=True):
        assert torch.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rms_norm_is_the_same_without_gradients_and_keeps_its_input(
    dtype: torch.dtype,
) -> None:
    x, weight = random((7, 32), (32,), dtype=dtype)
    before = x.clone()
    with torch.no_grad():
        found = rms_norm(x, weight, 1e-5)
    assert torch.allclose(found, rms_norm(x, weight, 1e-5), rtol=0.01, atol=1e-6)
    assert torch.equal(x, before)


def test_the_backward_of_lora_linear_passes_gradcheck() -> None:
    x, weight, down, up = random((5, 6), (4, 6), (2, 6), (4, 2), dtype=torch.float64)
    free = [tensor.requires_grad_() for tensor in (x, down, up)]
    assert torch.autograd.gradcheck(lambda x, d, u: lora_linear(x, weight, d, u), free)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-4), (torch.bfloat16, 0.2)])
def test_lora_linear_is_the_plain_formula(dtype: torch.dtype, tolerance: float) -> None:
    x, weight, down, up = random((5, 16), (12, 16), (3, 16), (12, 3), dtype=dtype)
    own = [lora_linear(x, weight, down, up), *gradients(lora_linear, [x, down, up], [weight])]
    plain = [plain_lora(x, weight, down, up), *gradients(plain_lora, [x, down, up], [weight])]
    for one, other in zip(own, plain, strict=True):
        assert torch.allclose(one.float(), other.float(), atol=tolerance, rtol=tolerance)


def test_rotate_turns_each_pair_by_its_angle() -> None:
    (x,) = random((3, 2, 8))
    angle = torch.linspace(0, 3, 12).view(3, 1, 4)
    cos, sin = (torch.cat([t, t], -1) for t in (angle.cos(), angle.sin()))
    turned = torch.complex(x[..., :4], x[..., 4:]) * torch.polar(torch.ones_like(angle), angle)
    assert torch.allclose(rotate(x, cos, sin), torch.cat([turned.real, turned.imag], -1), atol=1e-6)
