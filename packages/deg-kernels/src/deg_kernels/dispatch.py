"""The one place that knows where tensors are: CPU operators or Triton kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

import torch
from torch import Tensor

__all__ = ["by_device"]

P = ParamSpec("P")
R = TypeVar("R")


def by_device(cpu: Callable[P, R], cuda: Callable[P, R] | None = None) -> Callable[P, R]:
    """Return the operator that runs *cpu* on the CPU and *cuda*, or its namesake, on CUDA.

    The namesake has the same name and parameters, and lies in `triton_kernel.py` beside the
    `cpu.py` of *cpu*. It is imported with the first CUDA tensor, so a CPU needs no Triton. The
    first tensor among the arguments decides; that the others lie beside it is for the caller to
    check, as is everything else about the arguments.

    Raises:
        ValueError: The tensors lie on another kind of device, or a gradient is asked for on CUDA,
            where the kernels have no backward pass.
    """
    package = cpu.__module__.rpartition(".")[0]

    @wraps(cpu)
    def operator(*args: P.args, **kwargs: P.kwargs) -> R:
        device = _first_tensor(args, kwargs).device
        if device.type == "cpu":
            return cpu(*args, **kwargs)
        if device.type != "cuda":
            raise ValueError(f"{cpu.__name__} runs on cpu and cuda, not on {device.type!r}")
        if cuda is not None:
            return cuda(*args, **kwargs)
        if torch.is_grad_enabled() and any(t.requires_grad for t in _tensors(args, kwargs)):
            raise ValueError(f"{cpu.__name__} has no gradient on cuda: call it under no_grad")
        result: R = _kernel(package, cpu.__name__)(*args, **kwargs)
        return result

    return operator


def _first_tensor(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    # nearly always: what an operator costs beyond its arithmetic is felt in a decode step
    if args and isinstance(args[0], Tensor):
        return args[0]
    return next(_tensors(args, kwargs))


def _tensors(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Tensor]:
    return (value for value in (*args, *kwargs.values()) if isinstance(value, Tensor))


@cache
def _kernel(package: str, name: str) -> Callable[..., Any]:
    kernel: Callable[..., Any] = getattr(import_module(f"{package}.triton_kernel"), name)
    return kernel
