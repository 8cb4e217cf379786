"""Small kernels that show what the interpreter and the compiler do."""

import triton
import triton.language as tl

__all__ = ["arithmetic", "copy", "product", "racing_sum", "total"]


@triton.jit
def copy(source, target, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    tl.store(target + i, tl.load(source + i).to(target.dtype.element_ty))


@triton.jit
def arithmetic(x, y, target, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    a, b = tl.load(x + i), tl.load(y + i)
    root = tl.sqrt(tl.abs(a).to(tl.float32)).to(tl.bfloat16)
    tl.store(target + i, tl.where(a < b, tl.maximum(a, b) - a * b, root + b))


@triton.jit
def product(a, b, target, SIZE: tl.constexpr, INNER: tl.constexpr):
    row, inner = tl.arange(0, SIZE), tl.arange(0, INNER)
    x = tl.load(a + row[:, None] * INNER + inner[None, :])
    y = tl.load(b + inner[:, None] * SIZE + row[None, :])
    tl.store(target + row[:, None] * SIZE + row[None, :], tl.dot(x, y, input_precision="ieee"))


@triton.jit
def total(x, target, SIZE: tl.constexpr):
    tl.store(target, tl.sum(tl.load(x + tl.arange(0, SIZE)), 0))


@triton.jit(do_not_specialize=["num_rows"])
def racing_sum(x, target, num_rows, size):
    for i in range(size):
        tl.atomic_add(target, tl.load(x + tl.program_id(0) * size + i))
