from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch import Tensor

from deg_kernels import linear
from deg_kernels.dispatch import by_device


def doubled(x: Tensor, *, times: int = 2) -> Tensor:
    return x * times


def test_cpu_tensors_go_to_the_cpu() -> None:
    operator = by_device(doubled)
    assert torch.equal(operator(torch.ones(2), times=3), torch.full((2,), 3.0))
    assert operator.__name__ == "doubled"


def test_other_devices_are_refused() -> None:
    with pytest.raises(ValueError, match="linear runs on cpu and cuda, not on 'meta'"):
        linear(torch.zeros(2, 4, device="meta"), torch.zeros(3, 4, device="meta"))


def test_a_cpu_needs_no_triton() -> None:
    program = "import deg_kernels, sys; print('triton' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
