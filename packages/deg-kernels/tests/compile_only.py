"""Compile kernels for chips that are not there, exactly as the code launches them.

`recorded_launches` notes each launch in the interpreter with all that makes Triton compile another
variant; `compile_launches` compiles the variants in a process without the interpreter.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

__all__ = ["SHARED_BYTES", "Compiled", "Launch", "compile_launches", "recorded_launches"]

SHARED_BYTES = {89: 99 * 1024, 90: 227 * 1024, 100: 227 * 1024}
"""The most shared memory of one program, by the compute capability of each chip we compile for."""

_TYPES = {
    torch.bfloat16: "bf16",
    torch.float16: "fp16",
    torch.float32: "fp32",
    torch.float64: "fp64",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.bool: "i1",
    torch.uint8: "u8",
}


@dataclass(frozen=True, slots=True)
class Launch:
    """One variant of a kernel: what the compiler knows of a launch.

    Attributes:
        kernel: The module and the name of the kernel.
        types: Each argument with its type, such as `*bf16`, `i32` or `constexpr`.
        constants: Each argument that is a constant, with its value.
        aligned: The arguments known to be divisible by 16, which makes another variant.
        options: Options of the launch, such as `num_warps`.
    """

    kernel: tuple[str, str]
    types: tuple[tuple[str, str], ...]
    constants: tuple[tuple[str, Any], ...]
    aligned: tuple[str, ...]
    options: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a variant needs on a chip.

    Attributes:
        kernel: The kernel's name.
        capability: The chip's compute capability times ten.
        num_registers: Registers of a thread.
        num_stack_bytes: Bytes that a thread spills.
        num_shared_bytes: Shared memory of a program.
        num_float_atomics: Atomic float operations, whose order no one decides.
        num_matrix_products: Tensor core instructions.
    """

    kernel: str
    capability: int
    num_registers: int
    num_stack_bytes: int
    num_shared_bytes: int
    num_float_atomics: int
    num_matrix_products: int

    @property
    def fits(self) -> bool:
        """Whether nothing spills, shared memory suffices and the sums have an order."""
        shared = self.num_shared_bytes <= SHARED_BYTES[self.capability]
        return shared and self.num_stack_bytes == 0 and self.num_float_atomics == 0


@contextmanager
def recorded_launches(*, run: bool = False) -> Iterator[list[Launch]]:
    """Note every launch of a kernel; without *run* nothing is computed, so sizes may be real."""
    from triton.runtime.interpreter import InterpretedFunction  # noqa: PLC0415

    launches: list[Launch] = []
    plain_run = InterpretedFunction.run

    def noting_run(self: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> None:
        launches.append(_launch(self, args, kwargs))
        if run:
            plain_run(self, *args, grid=grid, warmup=warmup, **kwargs)

    with patch.object(InterpretedFunction, "run", noting_run):
        yield launches


def compile_launches(
    launches: Iterable[Launch], capabilities: Iterable[int] = tuple(SHARED_BYTES)
) -> list[Compiled]:
    """Compile each variant among *launches* for each of the chips."""
    variants = [asdict(launch) for launch in dict.fromkeys(launches)]
    environment = {name: text for name, text in os.environ.items() if name != "TRITON_INTERPRET"}
    # kernels may lie in the tests too
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        [sys.executable, __file__],
        input=json.dumps({"variants": variants, "capabilities": list(capabilities)}),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return [Compiled(**each) for each in json.loads(done.stdout)]


def _launch(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Launch:
    parameters = inspect.signature(function.fn).parameters
    options = {name: value for name, value in kwargs.items() if name not in parameters}
    named = {name: value for name, value in kwargs.items() if name in parameters}
    arguments = inspect.signature(function.fn).bind(*args, **named)
    arguments.apply_defaults()
    fixed = function.kwargs["do_not_specialize"] or ()
    types, constants, aligned = {}, {}, []
    for index, (name, value) in enumerate(arguments.arguments.items()):
        is_free = name not in fixed and index not in fixed
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        is_one = is_integer and value == 1 and is_free
        if "constexpr" in str(parameters[name].annotation) or value is None or is_one:
            types[name], constants[name] = "constexpr", value
        elif isinstance(value, torch.Tensor):
            types[name] = f"*{_TYPES[value.dtype]}"
            if value.data_ptr() % 16 == 0:
                aligned.append(name)
        elif isinstance(value, bool):
            types[name] = "i1"
        elif is_integer:
            types[name] = "i32" if -(2**31) <= value < 2**31 else "i64"
            if is_free and value % 16 == 0:
                aligned.append(name)
        else:
            types[name] = "fp32"
    return Launch(
        kernel=(function.fn.__module__, function.fn.__name__),
        types=tuple(types.items()),
        constants=tuple(constants.items()),
        aligned=tuple(aligned),
        options=tuple(sorted(options.items())),
    )


def _compile(variant: dict[str, Any], capability: int) -> Compiled:
    import triton  # noqa: PLC0415
    from triton.backends.compiler import GPUTarget  # noqa: PLC0415
    from triton.compiler import ASTSource  # noqa: PLC0415

    module, name = variant["kernel"]
    kernel = getattr(import_module(module), name)
    names = [each for each, _ in variant["types"]]
    source = ASTSource(
        kernel,
        dict(variant["types"]),
        dict(variant["constants"]),
        {(names.index(each),): [["tt.divisibility", 16]] for each in variant["aligned"]},
    )
    target = GPUTarget("cuda", capability, 32)
    binary = triton.compile(source, target=target, options=dict(variant["options"]))
    ptx = binary.asm["ptx"]
    registers, stack = _resources(binary.asm["cubin"])
    return Compiled(
        kernel=name,
        capability=capability,
        num_registers=registers,
        num_stack_bytes=stack,
        num_shared_bytes=binary.metadata.shared,
        num_float_atomics=len(re.findall(r"\b(?:atom|red)\.[\w.:]*\.(?:f|bf)\d+", ptx)),
        num_matrix_products=len(re.findall(r"\b(?:mma\.sync|wgmma\.mma|tcgen05\.mma)", ptx)),
    )


def _resources(cubin: bytes) -> tuple[int, int]:
    import triton.backends.nvidia  # noqa: PLC0415

    tool = Path(triton.backends.nvidia.__file__).parent / "bin" / "cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [str(tool), "-res-usage", file.name]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    registers = max(int(number) for number in re.findall(r"REG:(\d+)", text))
    stack = max(int(number) for number in re.findall(r"STACK:(\d+)", text))
    local = max(int(number) for number in re.findall(r"LOCAL:(\d+)", text))
    return registers, max(stack, local)


if __name__ == "__main__":
    request = json.load(sys.stdin)
    results = [
        asdict(_compile(variant, capability))
        for variant in request["variants"]
        for capability in request["capabilities"]
    ]
    json.dump(results, sys.stdout)
