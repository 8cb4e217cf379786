"""Products in fp32 on CUDA, in fp32 arithmetic (never tf32), each pair summed block by block."""

# R rows, O others, D inner size
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators

import triton
import triton.language as tl
from torch import Tensor

from deg_kernels.memory import dense

__all__ = ["head_product"]

_ROWS, _OTHERS, _INNER = 16, 64, 32


def head_product(a_RD: Tensor, b_OD: Tensor) -> Tensor:
    """Return `a @ b.T`."""
    num_rows, num_others = len(a_RD), len(b_OD)
    product_RO = a_RD.new_empty(num_rows, num_others)
    if product_RO.numel():
        _kernel[(triton.cdiv(num_others, _OTHERS), triton.cdiv(num_rows, _ROWS))](
            dense(a_RD),
            dense(b_OD),
            product_RO,
            num_rows,
            num_others,
            a_RD.shape[1],
            ROWS=_ROWS,
            OTHERS=_OTHERS,
            INNER=_INNER,
            num_warps=4,
            num_stages=2,
            enable_fp_fusion=False,
        )
    return product_RO


@triton.jit(do_not_specialize=["num_rows", "num_others", "size"])
def _kernel(
    a,
    b,
    product,
    num_rows,
    num_others,
    size,
    ROWS: tl.constexpr,
    OTHERS: tl.constexpr,
    INNER: tl.constexpr,
):
    row_R = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    other_O = tl.program_id(0) * OTHERS + tl.arange(0, OTHERS)
    # past the end the last vector is read; nobody stores what comes of it
    a_R1 = a + tl.minimum(row_R, num_rows - 1).to(tl.int64)[:, None] * size
    b_1O = b + tl.minimum(other_O, num_others - 1).to(tl.int64)[None, :] * size
    total_RO = tl.zeros((ROWS, OTHERS), tl.float32)
    for first in range(0, size, INNER):
        inner_I = first + tl.arange(0, INNER)
        block_RI = tl.load(a_R1 + inner_I[None, :], mask=inner_I[None, :] < size, other=0.0)
        block_IO = tl.load(b_1O + inner_I[:, None], mask=inner_I[:, None] < size, other=0.0)
        total_RO = tl.dot(block_RI, block_IO, total_RO, input_precision="ieee")
    product_RO = product + row_R.to(tl.int64)[:, None] * num_others + other_O[None, :]
    mask_RO = (row_R[:, None] < num_rows) & (other_O[None, :] < num_others)
    tl.store(product_RO, total_RO, mask=mask_RO)
