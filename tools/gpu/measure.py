"""What the GPU check measures with: ceilings, times, errors against fp64, equal bits."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version

import torch
from torch import Tensor

__all__ = [
    "Bench",
    "Ceilings",
    "Equal",
    "Line",
    "equal",
    "equalities",
    "errors",
    "measure_ceilings",
    "same_bits",
]

Equal = tuple[str, bool]
"""The name of an equality, and whether it holds."""

_LIMITS = {torch.bfloat16: 5e-2, torch.float32: 1e-4}
_FLUSH_BYTES = 2**28


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table.

    Attributes:
        against: The limit, floor or ceiling that the measured value stands beside.
        share: Percent of that floor or ceiling.
        holds: Whether an equality or a limit holds; None for a time, which fails nothing.
    """

    what: str
    batch: str = ""
    context: str = ""
    measured: str = ""
    against: str = ""
    share: str = ""
    holds: bool | None = None
    section: str = ""


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What this machine reaches at best, measured in the same run.

    Attributes:
        copy: Bytes a second that a large copy reads and writes, both counted.
        matrix: Operations a second of a large bf16 product.
    """

    copy: float
    matrix: float


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a section runs: at real sizes on CUDA, or dry, at tiny sizes on the CPU."""

    dry: bool
    ceilings: Ceilings | None = None

    @property
    def device(self) -> str:
        """The device of all tensors."""
        return "cpu" if self.dry else "cuda"

    def size(self, real: int, tiny: int) -> int:
        """Return the size that this run takes."""
        return tiny if self.dry else real

    def randn(self, *shape: int, scale: float = 1.0, dtype: torch.dtype = torch.bfloat16) -> Tensor:
        """Return random numbers."""
        return (scale * torch.randn(shape, device=self.device)).to(dtype)

    def ms(self, run: Callable[[], object], *, repeats: int = 15) -> float:
        """Return the median time of a call in milliseconds, the caches of the device cold."""
        if self.dry:
            began = time.perf_counter()
            run()
            return 1e3 * (time.perf_counter() - began)
        for _ in range(3):
            run()
        # filling it empties the caches, and keeps the device busy while the host queues the call
        flush = torch.empty(_FLUSH_BYTES, dtype=torch.int8, device=self.device)
        times = []
        for _ in range(repeats):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            flush.zero_()
            start.record()
            run()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
        return statistics.median(times)

    def captured(self, run: Callable[[], object]) -> Callable[[], object]:
        """Return *run* as a CUDA graph, whose time holds no launches from the host."""
        if self.dry:
            return run
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            run()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run()
        return graph.replay

    def timing(
        self, what: str, ms: float, *, num_bytes: float = 0, operations: float = 0, **columns: str
    ) -> Line:
        """Return the line of a time beside the least one that its bytes or operations take."""
        if self.ceilings is None:
            return Line(what, measured=f"{ms:.3f} ms", **columns)
        best_ms = 1e3 * (num_bytes / self.ceilings.copy + operations / self.ceilings.matrix)
        against = f"{best_ms:.3f} ms for the {'bytes' if num_bytes else 'products'}"
        share = f"{100 * best_ms / ms:.0f} %"
        return Line(what, measured=f"{ms:.3f} ms", against=against, share=share, **columns)


def measure_ceilings(bench: Bench) -> Iterator[Line | Ceilings]:
    """Measure what a copy, a matrix product and a launch reach on this machine."""
    num_bytes, side = bench.size(2**30, 2**16), bench.size(8192, 64)
    source = torch.zeros(num_bytes, dtype=torch.int8, device=bench.device)
    target = torch.empty_like(source)
    copy = 2 * num_bytes / (1e-3 * bench.ms(lambda: target.copy_(source)))
    a, b = bench.randn(side, side), bench.randn(side, side)
    matrix = 2 * side**3 / (1e-3 * bench.ms(lambda: a @ b))
    yield Ceilings(copy, matrix)
    chip = "CPU" if bench.dry else f"{torch.cuda.get_device_name()}, triton {version('triton')}"
    yield Line(f"{chip}, torch {torch.__version__}")
    yield Line(f"copy of {num_bytes / 2**20:g} MiB", measured=f"{copy / 1e9:.0f} GB/s")
    yield Line(f"bf16 product, {side} cubed", measured=f"{matrix / 1e12:.1f} TFLOP/s")

    def hundred() -> None:
        for _ in range(100):
            a[0].add_(1)

    for how, run in (("from the host", hundred), ("in a graph", bench.captured(hundred))):
        yield Line(f"a launch {how}", measured=f"{10 * bench.ms(run):.2f} us")


def errors(what: str, pairs: Iterable[tuple[Tensor, Tensor]]) -> Line:
    """Return the line of the largest error, relative to a number or to the size of its row.

    Args:
        pairs: Each result with its truth in fp64.
    """
    worst, limit = 0.0, 0.0
    for result, truth in pairs:
        scale = truth.square().mean(-1, keepdim=True).sqrt().maximum(truth.abs()).clamp_min(1e-30)
        error = ((result.double() - truth) / scale).abs().max().item()
        # a NaN would not show in a maximum
        worst = max(worst, error) if error == error else float("inf")
        limit = max(limit, _LIMITS[result.dtype])
    against = f"at most {limit:.0e}"
    return Line(f"{what}: error", measured=f"{worst:.1e}", against=against, holds=worst <= limit)


def equalities(what: str, cases: Iterable[tuple[str, Iterable[Equal]]]) -> Iterator[Line]:
    """Yield a line for each equality, which holds where it does in every case.

    Args:
        cases: The name of each case, and its equalities.
    """
    failing: dict[str, list[str]] = {}
    for case, checks in cases:
        for name, holds in checks:
            failing.setdefault(name, []).extend([] if holds else [case])
    for name, where in failing.items():
        measured = f"differ: {', '.join(where)}" if where else "same bits"
        yield Line(f"{what}: {name}", measured=measured, holds=not where)


def same_bits(run: Callable[[Sequence[int]], Sequence[Tensor]], num_rows: int) -> Iterator[Equal]:
    """Check whether rows keep their bits alone, in parts, permuted and repeated.

    Args:
        run: Computes the rows with these numbers, in this order, in one call.
        num_rows: How many rows there are.
    """
    together = run(range(num_rows))
    lone = range(0, num_rows, -(-num_rows // 8))
    yield "alone == batch", all(equal(run([i]), together[i : i + 1]) for i in lone)
    sizes = [n for n in (2, 3, 7, 16, 17, num_rows // 2, num_rows - 1) if n < num_rows]
    yield "part == batch", all(equal(run(range(n)), together[:n]) for n in sizes)
    order = torch.randperm(num_rows, generator=torch.Generator().manual_seed(0)).tolist()
    again = [*order, order[0], order[0]]
    yield "permuted, repeated == batch", equal(run(again), [together[i] for i in again])


def equal(left: Sequence[Tensor], right: Sequence[Tensor]) -> bool:
    """Return whether two sequences hold the same bits."""
    return all(torch.equal(a, b) for a, b in zip(left, right, strict=True))
