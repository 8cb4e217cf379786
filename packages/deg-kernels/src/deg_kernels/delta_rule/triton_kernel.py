"""The gated delta rule on CUDA: a program keeps some value columns of one state while tokens pass.

A column of the state depends on no other column, and a row's tokens come in order, so neither the
batch nor a cut of the row into passes can change a bit.
"""

# N flat tokens, H key heads, J value heads, K key size, V value size, S and F places in the pools
# C value columns of a program
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, allow-untyped-decorators

import torch
import triton
import triton.language as tl
from torch import Tensor

from deg_kernels.memory import dense
from deg_kernels.state_rows import StateRows

__all__ = ["fork_delta_rule"]

_COLUMNS = 8


def fork_delta_rule(
    q_NHK: Tensor,
    k_NHK: Tensor,
    v_NJV: Tensor,
    g_NJ: Tensor,
    beta_NJ: Tensor,
    states_SJKV: Tensor | None,
    rows: StateRows,
    finals_FJKV: Tensor | None,
) -> Tensor:
    """Return what each token reads from its row's state; see `deg_kernels.fork_delta_rule`."""
    out_NJV = torch.zeros_like(v_NJV, memory_format=torch.contiguous_format)
    num_heads, value_size = v_NJV.shape[1:]
    if not len(rows):
        return out_NJV
    # a pool that is not there is never addressed, but has a type
    nothing = g_NJ.new_empty(16)
    _delta_rule_kernel[(len(rows), num_heads, value_size // _COLUMNS)](
        dense(q_NHK),
        dense(k_NHK),
        dense(v_NJV),
        dense(g_NJ),
        dense(beta_NJ.float()),
        nothing if states_SJKV is None else states_SJKV,
        nothing if finals_FJKV is None else finals_FJKV,
        rows.table_R4(v_NJV.device),
        out_NJV,
        q_NHK.shape[2] ** -0.5,
        KEY_HEADS=q_NHK.shape[1],
        HEADS=num_heads,
        KEY_SIZE=q_NHK.shape[2],
        VALUE_SIZE=value_size,
        COLUMNS=_COLUMNS,
        num_warps=1,
        num_stages=1,
        enable_fp_fusion=False,
    )
    return out_NJV


@triton.jit
def _fetch(q_K, k_K, v_C, g, beta, there):
    """Load one token's numbers if it is *there*."""
    return (
        tl.load(q_K, mask=there, other=0.0),
        tl.load(k_K, mask=there, other=0.0),
        tl.load(v_C, mask=there, other=0.0),
        tl.load(g, mask=there, other=0.0),
        tl.load(beta, mask=there, other=0.0),
    )


@triton.jit
def _delta_rule_kernel(
    q,
    k,
    v,
    g,
    beta,
    states,
    finals,
    table,
    out,
    scale,
    KEY_HEADS: tl.constexpr,
    HEADS: tl.constexpr,
    KEY_SIZE: tl.constexpr,
    VALUE_SIZE: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    row = tl.program_id(0)
    head = tl.program_id(1)
    offset = tl.load(table + row * 4).to(tl.int64)
    length = tl.load(table + row * 4 + 1)
    start = tl.load(table + row * 4 + 2).to(tl.int64)
    write = tl.load(table + row * 4 + 3).to(tl.int64)

    key_K = tl.arange(0, KEY_SIZE)
    column_C = tl.program_id(2) * COLUMNS + tl.arange(0, COLUMNS)
    state_KC = tl.zeros((KEY_SIZE, COLUMNS), tl.float32)
    inside_KC = key_K[:, None] * VALUE_SIZE + column_C[None, :]
    if start >= 0:
        state_KC = tl.load(states + (start * HEADS + head) * KEY_SIZE * VALUE_SIZE + inside_KC)

    key_head = head // (HEADS // KEY_HEADS)
    q_K = q + (offset * KEY_HEADS + key_head) * KEY_SIZE + key_K
    k_K = k + (offset * KEY_HEADS + key_head) * KEY_SIZE + key_K
    v_C = v + (offset * HEADS + head) * VALUE_SIZE + column_C
    out_C = out + (offset * HEADS + head) * VALUE_SIZE + column_C
    g += offset * HEADS + head
    beta += offset * HEADS + head

    # the next token is fetched while this one is worked on
    next_q_K, next_k_K, next_v_C, next_g, next_beta = _fetch(q_K, k_K, v_C, g, beta, length > 0)
    for step in range(0, length):
        query_K = next_q_K.to(tl.float32)
        unit_K = next_k_K.to(tl.float32)
        value_C = next_v_C.to(tl.float32)
        decay = tl.exp(next_g)
        amount = next_beta
        q_K += KEY_HEADS * KEY_SIZE
        k_K += KEY_HEADS * KEY_SIZE
        v_C += HEADS * VALUE_SIZE
        g += HEADS
        beta += HEADS
        next_q_K, next_k_K, next_v_C, next_g, next_beta = _fetch(
            q_K, k_K, v_C, g, beta, step + 1 < length
        )
        query_K *= tl.rsqrt(tl.sum(query_K * query_K, 0) + 1e-6) * scale
        unit_K *= tl.rsqrt(tl.sum(unit_K * unit_K, 0) + 1e-6)
        state_KC *= decay
        delta_C = (value_C - tl.sum(state_KC * unit_K[:, None], 0)) * amount
        state_KC += unit_K[:, None] * delta_C[None, :]
        read_C = tl.sum(state_KC * query_K[:, None], 0)
        tl.store(out_C, read_C.to(out.dtype.element_ty))
        out_C += HEADS * VALUE_SIZE
    if write >= 0:
        tl.store(finals + (write * HEADS + head) * KEY_SIZE * VALUE_SIZE + inside_KC, state_KC)
