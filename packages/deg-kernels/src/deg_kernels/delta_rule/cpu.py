"""The gated delta rule on a CPU: a small matrix product and an update a token, all heads at once.

Rows go together, the longest first, so that those that still have tokens stay a block in memory. A
matrix of the batched product and an element of the update have the same bits in every batch.
"""

# N flat tokens, H key heads, J value heads, K key size, V value size, S and F places in the pools
# R rows of a group, T tokens of each in a block, A rows that have them, B = A x J heads
# G value heads that a key head serves

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import torch
from torch import Tensor

from deg_kernels.state_rows import NOWHERE, StateRows

__all__ = ["fork_delta_rule"]

_GROUP_BYTES = 8 << 20
_BLOCK_TOKENS = 256

Row = tuple[int, int, int, int]


@torch.no_grad()
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
    shape_JKV = (v_NJV.shape[1], q_NHK.shape[2], v_NJV.shape[2])
    for group in _groups(rows, shape_JKV):
        work_RJKV = _workspace(group, shape_JKV, finals_FJKV)
        _load(work_RJKV, group, states_SJKV)
        for first, last, num_active in _blocks(group, max(1, _BLOCK_TOKENS // len(group))):
            shape, tokens = (last - first, num_active), _tokens(group[:num_active], first, last)
            q_TAHK, k_TAHK, v_TAJV, g_TAJ, beta_TAJ = (
                x[tokens].reshape(*shape, *x.shape[1:])
                for x in (q_NHK, k_NHK, v_NJV, g_NJ, beta_NJ)
            )
            read_TAJV = _advance(q_TAHK, k_TAHK, v_TAJV, g_TAJ, beta_TAJ, work_RJKV[:num_active])
            out_NJV[tokens] = read_TAJV.flatten(0, 1).to(out_NJV.dtype)
        _store(work_RJKV, group, finals_FJKV)
    return out_NJV


def _advance(
    q_TAHK: Tensor,
    k_TAHK: Tensor,
    v_TAJV: Tensor,
    g_TAJ: Tensor,
    beta_TAJ: Tensor,
    states_AJKV: Tensor,
) -> Tensor:
    """Let each token of a block change the states in place, and return what it reads."""
    num_steps, num_active, num_heads, value_size = v_TAJV.shape
    num_key_heads, key_size = q_TAHK.shape[2:]
    served = num_heads // num_key_heads
    batch = num_active * num_heads
    decay_TAJ, beta_TAJ = g_TAJ.exp(), beta_TAJ.float()
    unit_TAH2K = _unit(torch.stack([k_TAHK, q_TAHK], 3).float())
    k_TAHK, q_TAHK = unit_TAH2K.unbind(3)
    scale = key_size**-0.5
    # one product with the state before the token gives what it holds for the key and the query
    factor_TAJ2 = torch.stack([decay_TAJ * beta_TAJ, decay_TAJ * -scale], 3)
    factor_TAHG2 = factor_TAJ2.view(num_steps, num_active, num_key_heads, served, 2)
    asked_TAHG2K = unit_TAH2K[:, :, :, None] * factor_TAHG2[..., None]
    told_TAJ2V = v_TAJV.new_zeros(
        num_steps, num_active, num_heads, 2, value_size, dtype=torch.float32
    )
    torch.mul(v_TAJV, beta_TAJ[..., None], out=told_TAJ2V[..., 0, :])
    key_TAJK = k_TAHK.repeat_interleave(served, 2) if served > 1 else k_TAHK
    states_BKV = states_AJKV.view(batch, key_size, value_size)
    for asked_B2K, told_B2V, key_BK1, decay_B11 in zip(
        asked_TAHG2K.view(num_steps, batch, 2, key_size).unbind(),
        told_TAJ2V.view(num_steps, batch, 2, value_size).unbind(),
        key_TAJK.reshape(num_steps, batch, key_size, 1).unbind(),
        decay_TAJ.view(num_steps, batch, 1, 1).unbind(),
        strict=True,
    ):
        told_B2V.baddbmm_(asked_B2K, states_BKV, alpha=-1)
        states_BKV.mul_(decay_B11).addcmul_(key_BK1, told_B2V[:, :1])
    delta_TAJV, read_TAJV = told_TAJ2V.unbind(3)
    own_TAH1 = (q_TAHK * k_TAHK).sum(-1, keepdim=True) * scale
    own_TAJ1 = own_TAH1.repeat_interleave(served, 2) if served > 1 else own_TAH1
    return torch.addcmul(read_TAJV, delta_TAJV, own_TAJ1)


def _groups(rows: StateRows, shape_JKV: tuple[int, int, int]) -> Iterator[list[Row]]:
    # more states than the caches hold would be fetched from memory for every token
    size = max(1, _GROUP_BYTES // (4 * prod(shape_JKV)))
    longest_first = sorted(rows.entries(), key=lambda row: -row[1])
    for first in range(0, len(longest_first), size):
        yield longest_first[first : first + size]


def _blocks(group: list[Row], size: int) -> Iterator[tuple[int, int, int]]:
    """Cut the steps so that a row has all of a block or none: first, last, rows that have it."""
    done = 0
    for length in sorted({length for _, length, *_ in group}):
        num_active = sum(row[1] >= length for row in group)
        for first in range(done, length, size):
            yield first, min(first + size, length), num_active
        done = length


def _tokens(active: list[Row], first: int, last: int) -> slice | Tensor:
    """Address steps *first* to *last* of the rows in N, one step's after another's.

    Tokens that lie like this already are a slice, which copies nothing.
    """
    offsets = [offset for offset, *_ in active]
    start = offsets[0]
    if len(active) == 1:
        return slice(start + first, start + last)
    if last == first + 1 and offsets == list(range(start, start + len(active))):
        return slice(start + first, start + first + len(active))
    return (torch.arange(first, last)[:, None] + torch.tensor(offsets)).flatten()


def _workspace(
    group: list[Row], shape_JKV: tuple[int, int, int], finals_FJKV: Tensor | None
) -> Tensor:
    """Give room for the states of a group: where they will be written, if they lie together."""
    writes = [write for *_, write in group]
    together = list(range(writes[0], writes[0] + len(group)))
    if finals_FJKV is not None and writes[0] != NOWHERE and writes == together:
        return finals_FJKV[writes[0] : writes[0] + len(group)]
    return torch.empty(len(group), *shape_JKV)


def _load(work_RJKV: Tensor, group: list[Row], states_SJKV: Tensor | None) -> None:
    for state_JKV, (_, _, start, _) in zip(work_RJKV, group, strict=True):
        if states_SJKV is None or start == NOWHERE:
            state_JKV.zero_()
        elif states_SJKV[start].data_ptr() != state_JKV.data_ptr():
            state_JKV.copy_(states_SJKV[start])


def _store(work_RJKV: Tensor, group: list[Row], finals_FJKV: Tensor | None) -> None:
    for state_JKV, (*_, write) in zip(work_RJKV, group, strict=True):
        if finals_FJKV is None or write == NOWHERE:
            continue
        if finals_FJKV[write].data_ptr() != state_JKV.data_ptr():
            finals_FJKV[write] = state_JKV


def _unit(x_TAH2K: Tensor) -> Tensor:
    return x_TAH2K * torch.rsqrt(x_TAH2K.square().sum(-1, keepdim=True) + 1e-6)
