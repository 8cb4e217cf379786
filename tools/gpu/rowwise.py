"""The sections of the GPU check for operators on single rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from gpu.measure import Bench, Equal, Line, equal, equalities, errors, same_bits
from gpu.model import EPS, REAL, TINY
from torch import Tensor

import deg_kernels as kernels

# M rows, K inputs, N outputs, C columns, O options, D head size, V vocabulary

__all__ = ["heads", "linear", "norms"]


def linear(bench: Bench) -> Iterator[Line]:
    """Check and time `linear` and `linear_small` on every matrix of the model."""
    shapes = (TINY if bench.dry else REAL).matrices
    weights = {name: bench.randn(*shape, scale=shape[1] ** -0.5) for name, shape in shapes.items()}
    weights["fp32"] = weights["mlp in"][:, :64].float()
    # rows for every height of tile
    rows = {
        name: bench.randn(bench.size(1100, 40), weight_NK.shape[1], dtype=weight_NK.dtype)
        for name, weight_NK in weights.items()
    }

    def bits(operator: Callable[..., Tensor]) -> Iterator[tuple[str, Iterator[Equal]]]:
        for name, weight_NK in weights.items():
            yield name, _same_rows(lambda x_MK, w_NK=weight_NK: operator(x_MK, w_NK), rows[name])

    for operator in (kernels.linear, kernels.linear_small):
        cases = ((rows[name][:200], weight_NK) for name, weight_NK in weights.items())
        pairs = ((operator(x_MK, w_NK), x_MK.double() @ w_NK.double().T) for x_MK, w_NK in cases)
        yield errors(operator.__name__, pairs)
        yield from equalities(operator.__name__, bits(operator))
    both = (
        (name, equal(kernels.linear_small(rows[name], w_NK), kernels.linear(rows[name], w_NK)))
        for name, w_NK in weights.items()
    )
    yield from equalities("linear", ((name, [("decode == prefill", same)]) for name, same in both))
    control = equalities("", ((name, each) for name, each in bits(F.linear)))
    held = "same bits" if all(line.holds for line in control) else "differ, as they may"
    yield Line("torch's own product, not checked", measured=held)
    for name in shapes:
        for num_rows in (1, 16, 4096):
            # a prefill asks for no word, so it takes no product with the vocabulary
            if num_rows < 4096 or name != "vocabulary":
                yield _product_time(bench, name, bench.size(num_rows, 16), weights[name])


def norms(bench: Bench) -> Iterator[Line]:
    """Check the RMS norms."""
    for dtype in (torch.bfloat16, torch.float32):
        yield from _norms(bench, dtype)


def heads(bench: Bench) -> Iterator[Line]:
    """Check what the heads and the end of a decode step compute, in fp32."""
    vocabulary = bench.size(248320, 500)
    options_OD, x_MD, x_MV = (
        bench.randn(*shape, dtype=torch.float32)
        for shape in ((bench.size(8192, 64), 256), (70, 256), (70, vocabulary))
    )
    exact_MD, exact_MV = x_MD.double(), x_MV.double()
    yield from _checks(
        "head_product",
        lambda x: kernels.head_product(x, options_OD),
        exact_MD @ options_OD.double().T,
        x_MD,
    )
    yield from _checks("log_softmax", kernels.log_softmax, exact_MV.log_softmax(-1), x_MV)
    yield from _checks("sigmoid", kernels.sigmoid, exact_MD.sigmoid(), x_MD)
    yield from _checks("silu", kernels.silu, F.silu(exact_MD), x_MD)
    yield from _checks("softplus", kernels.softplus, F.softplus(exact_MD), x_MD)
    # so coarse that several numbers are the largest
    coarse_MV = (4 * x_MV).round()
    first_M = (coarse_MV == coarse_MV.amax(-1, keepdim=True)).int().argmax(-1)
    same = torch.equal(kernels.argmax(coarse_MV), first_M)
    yield from equalities("argmax", [("ties", [("the first of the largest", same)])])
    yield from equalities("argmax", [("rows", _same_rows(kernels.argmax, x_MV))])


def _norms(bench: Bench, dtype: torch.dtype) -> Iterator[Line]:
    kind = str(dtype).removeprefix("torch.")
    w_C, x_MC, gate_MC = (bench.randn(*s, dtype=dtype) for s in ((1024,), (70, 1024), (70, 1024)))
    exact_C, exact_MC = w_C.double(), x_MC.double()
    unit_MC = exact_MC * (exact_MC.square().mean(-1, keepdim=True) + EPS).rsqrt()
    opened_MC = F.silu(gate_MC.double())
    plain, centred, gated = (
        partial(operator, eps=EPS)
        for operator in (kernels.rms_norm, kernels.rms_norm_centred, kernels.rms_norm_gated)
    )
    yield from _checks(f"rms_norm, {kind}", lambda x: plain(x, w_C), unit_MC * exact_C, x_MC)
    yield from _checks(
        f"rms_norm_centred, {kind}", lambda x: centred(x, w_C), unit_MC * (1 + exact_C), x_MC
    )
    yield from _checks(
        f"rms_norm_gated, {kind}",
        lambda x, gate: gated(x, w_C, gate),
        unit_MC * exact_C * opened_MC,
        x_MC,
        gate_MC,
    )


def _checks(
    name: str, operator: Callable[..., Tensor], truth: Tensor, *rows: Tensor
) -> Iterator[Line]:
    yield errors(name, [(operator(*rows), truth)])
    yield from equalities(name, [("rows", _same_rows(operator, *rows))])


def _same_rows(operator: Callable[..., Tensor], *rows: Tensor) -> Iterator[Equal]:
    def run(numbers: Sequence[int]) -> Tensor:
        index = torch.tensor(numbers, device=rows[0].device)
        return operator(*(each[index] for each in rows))

    return same_bits(run, len(rows[0]))


def _product_time(bench: Bench, name: str, num_rows: int, weight_NK: Tensor) -> Line:
    num_outputs, num_inputs = weight_NK.shape
    x_MK = bench.randn(num_rows, num_inputs)
    # in a graph: the host takes longer to launch a small product than the device to compute it
    ms, torch_ms = (
        bench.ms(bench.captured(partial(operator, x_MK, weight_NK)))
        for operator in (kernels.linear, F.linear)
    )
    if num_rows <= 16:
        work = {"num_bytes": 2 * (weight_NK.numel() + num_rows * (num_inputs + num_outputs))}
    else:
        work = {"operations": 2 * num_rows * weight_NK.numel()}
    what = f"linear, {name} (torch {torch_ms:.3f} ms)"
    return bench.timing(what, ms, batch=str(num_rows), **work)
