"""The sections of the GPU check that run the whole of a Qwen3.5-0.8B with random weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

import torch
from gpu.measure import Bench, Equal, Line, equal, equalities, same_bits
from gpu.model import Memory, Model
from torch import Tensor
from torch.autograd import DeviceType
from torch.autograd.profiler import profile

__all__ = ["decode", "forks", "kernels", "prefill", "stack"]


def stack(bench: Bench) -> Iterator[Line]:
    """Check that hidden states keep their bits through all layers."""
    yield from equalities("hidden states after all layers", [("rows", _bits(bench))])


def decode(bench: Bench) -> Iterator[Line]:
    """Time decode steps: all layers, the vocabulary, the next token."""
    model, memory = _read(bench)
    parts = (model.num_bytes, memory.kv_bytes, memory.state_bytes)
    measured = " + ".join(f"{part / 1e6:.1f}" for part in parts) + " MB"
    yield Line("weights + keys and values of the context + states of a row", measured=measured)
    for how in ("from the host", "in a graph"):
        for num_rows in (1, 2, 4, 8, 16):
            step = partial(model.decoder(memory, num_rows), _ids(bench, num_rows))
            ms = bench.ms(step if how == "from the host" else bench.captured(step))
            # a context is read once for all rows, and each row's own states are read and written
            num_bytes = model.num_bytes + memory.kv_bytes + 2 * num_rows * memory.state_bytes
            columns = {"batch": str(num_rows), "context": str(memory.length)}
            yield bench.timing(f"decode step {how}", ms, num_bytes=num_bytes, **columns)


def forks(bench: Bench) -> Iterator[Line]:
    """Time rounds of forks that continue one context."""
    model, memory = _read(bench)
    for real_rows, real_length in ((64, 64), (64, 16), (16, 16)):
        num_rows, length = bench.size(real_rows, 3), bench.size(real_length, 4)
        rows = _ids(bench, num_rows * length).split(length)
        ms = bench.ms(partial(model.fork, rows, memory), repeats=8)
        num_keys = num_rows * length * (memory.length + (length + 1) // 2)
        operations = model.operations(num_rows * length, num_keys)
        columns = {"batch": f"{num_rows} x {length}", "context": str(memory.length)}
        yield bench.timing("fork round", ms, operations=operations, **columns)


def prefill(bench: Bench) -> Iterator[Line]:
    """Time the reading of a context."""
    model = Model(bench)
    for real_length in (4096, 512):
        length = bench.size(real_length, 48)
        ms = bench.ms(partial(model.read, _ids(bench, length)), repeats=5)
        operations = model.operations(length, length * (length + 1) // 2)
        yield bench.timing("prefill", ms, operations=operations, batch="1", context=str(length))


def kernels(bench: Bench) -> Iterator[Line]:
    """Say which kernels the time of each kind of pass goes to."""
    model, memory = _read(bench)
    num_rows, length = bench.size(64, 3), bench.size(64, 4)
    passes: dict[str, Callable[[], object]] = {
        "decode step": partial(model.decoder(memory, 1), _ids(bench, 1)),
        "fork round": partial(model.fork, _ids(bench, num_rows * length).split(length), memory),
        "prefill": partial(model.read, _ids(bench, memory.length)),
    }
    for name, run in passes.items():
        run()
        with profile(use_device=None if bench.dry else "cuda", use_kineto=True) as profiled:
            run()
        times: Counter[str] = Counter()
        for event in profiled.function_events:
            if (event.device_type == DeviceType.CPU) == bench.dry:
                times[event.name] += event.time_range.elapsed_us()
        for kernel, time_us in times.most_common(7):
            share = f"{100 * time_us / times.total():.0f} %"
            against = f"{times.total() / 1e3:.3f} ms of all kernels"
            yield Line(
                f"{name}: {kernel[:60]}",
                measured=f"{time_us / 1e3:.3f} ms",
                against=against,
                share=share,
            )


def _read(bench: Bench) -> tuple[Model, Memory]:
    model = Model(bench)
    return model, model.read(_ids(bench, bench.size(4096, 48)))[1]


def _bits(bench: Bench) -> Iterator[Equal]:
    model = Model(bench)
    context_N = _ids(bench, bench.size(300, 30))
    _, memory = model.read(context_N)
    rows = [_ids(bench, length) for length in (1, 5, 17, 64, 3)[: bench.size(5, 3)]]
    yield from same_bits(lambda some: model.fork([rows[i] for i in some], memory), len(rows))
    (fork_LH,) = model.fork(rows[1:2], memory)
    once_NH, _ = model.read(torch.cat([context_N, rows[1]]))
    yield "fork == one pass", equal([once_NH[len(context_N) :]], [fork_LH])
    outs, state = [], memory
    for token in rows[1].split(1):
        out, state = model.read(token, state)
        outs.append(out)
    yield "decode == fork", equal([torch.cat(outs)], [fork_LH])


def _ids(bench: Bench, length: int) -> Tensor:
    return torch.randint(500, (length,), device=bench.device)
