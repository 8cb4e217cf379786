"""The capture of a decode step, with the CUDA kernels interpreted and a graph that a CPU replays.

The graph repeats every operation on the tensors that it was captured with. So a replay is right
only if no number of the capture came to it by way of the host.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
)
from torch.utils._pytree import tree_leaves

from deg_model import DegModel, State, Writer
from deg_model.decode_graph import DecodeBuffers, DecodeStep

KERNEL_TESTS = Path(__file__).parents[2] / "deg-kernels" / "tests"
if not importlib.util.find_spec("triton") or not KERNEL_TESTS.is_dir():
    pytest.skip("Triton and its interpreter for tests are needed", allow_module_level=True)
# read when triton is first imported
os.environ["TRITON_INTERPRET"] = "1"
sys.path.insert(0, str(KERNEL_TESTS))
import_module("interpreter")

from triton.runtime.interpreter import InterpretedFunction  # noqa: E402

OPERATORS = ["attention", "convolution", "delta_rule", "linear", "rms_norm"]


class Graph(TorchDispatchMode):
    """What `torch.cuda.CUDAGraph` is for a GPU."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], Any]] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        assert func is not torch.ops.aten._local_scalar_dense.default, "the host reads a number"
        found = func(*args, **(kwargs or {}))
        self.calls.append((func, args, kwargs or {}, found))
        return found

    def replay(self) -> None:
        for func, args, kwargs, found in self.calls:
            again = func(*args, **kwargs)
            for old, new in zip(tree_leaves(found), tree_leaves(again), strict=True):
                if isinstance(old, Tensor) and old.data_ptr() != new.data_ptr():
                    old.copy_(new)


@pytest.fixture
def _cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the CUDA kernels, interpreted, and give graphs to a CPU."""
    for name in OPERATORS:
        module, kernels = (
            import_module(f"deg_kernels.{name}"),
            import_module(f"deg_kernels.{name}.triton_kernel"),
        )
        for attribute, operator in list(vars(module).items()):
            kernel = getattr(kernels, getattr(operator, "__name__", ""), None)
            if kernel and hasattr(operator, "__wrapped__"):
                monkeypatch.setattr(module, attribute, kernel)
    linear = import_module("deg_kernels.linear")
    monkeypatch.setattr(linear, "_packed_weight", lambda weight_NK: weight_NK)
    run = InterpretedFunction.run

    def launch(self: Any, *args: Any, **kwargs: Any) -> None:
        graph = _get_current_dispatch_mode()
        with _disable_current_modes():
            run(self, *args, **kwargs)
        if isinstance(graph, Graph):
            graph.calls.append((run, (self, *args), kwargs, None))

    stream = SimpleNamespace(wait_stream=lambda other: None)
    monkeypatch.setattr(InterpretedFunction, "run", launch)
    monkeypatch.setattr("torch.cuda.CUDAGraph", Graph)
    monkeypatch.setattr("torch.cuda.graph", lambda graph: graph)
    monkeypatch.setattr("torch.cuda.Stream", lambda: stream)
    monkeypatch.setattr("torch.cuda.current_stream", lambda: stream)
    monkeypatch.setattr("torch.cuda.stream", nullcontext)


@pytest.mark.slow
@pytest.mark.usefixtures("_cuda")
@pytest.mark.parametrize("family", ["llama", "qwen3.5"])
@torch.inference_mode()
def test_a_replayed_step_has_the_bits_of_each_row_read_alone(
    make_model: Callable[..., DegModel], family: str
) -> None:
    writer: Writer = make_model(family, dtype=torch.bfloat16).writer
    states = [writer.extend([row], [State()])[1][0] for row in ([5, 9, 40, 7, 11], [8], [6, 3])]
    buffers = DecodeBuffers(states[0].layers, 2, 16)
    buffers.join(states[0])
    step = DecodeStep(writer.backbone, writer._head_VH, buffers, 2)
    step._run = step._captured()

    def check(tokens: dict[int, int]) -> None:
        """Compare a step of rows in the order of the buffers with each alone."""
        buffers.ids_R[: len(tokens)] = torch.tensor(list(tokens.values()))
        logits_RV = step()
        for place, (row, token) in enumerate(tokens.items()):
            expected_1V, (states[row],) = writer.extend([[token]], [states[row]])
            assert torch.equal(logits_RV[place], expected_1V[0])

    check({0: 31})
    buffers.join(states[1])
    check({0: 12, 1: 250})
    buffers.leave(0)
    buffers.join(states[2])
    check({1: 77, 2: 78})
