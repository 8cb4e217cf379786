"""The gated delta rule as its definition reads: the reference, one row and one token at a time."""

# N flat tokens, H key heads, J value heads, K key size, V value size, S and F places in the pools

from __future__ import annotations

import torch
from torch import Tensor

from deg_kernels.state_rows import NOWHERE, StateRows

__all__ = ["naive_fork_delta_rule"]


def naive_fork_delta_rule(
    q_NHK: Tensor,
    k_NHK: Tensor,
    v_NJV: Tensor,
    g_NJ: Tensor,
    beta_NJ: Tensor,
    states_SJKV: Tensor | None,
    rows: StateRows,
    *,
    finals_FJKV: Tensor | None = None,
) -> Tensor:
    """Return what `fork_delta_rule` returns, in the dtype of the state and with gradients.

    Pools of fp64 give the truth that others are measured by.
    """
    pools = [pool for pool in (states_SJKV, finals_FJKV) if pool is not None]
    dtype = pools[0].dtype if pools else torch.float32
    num_heads, key_size, value_size = v_NJV.shape[1], q_NHK.shape[2], v_NJV.shape[2]
    group = num_heads // q_NHK.shape[1]
    q_NJK = _unit(q_NHK.to(dtype)).repeat_interleave(group, 1) * key_size**-0.5
    k_NJK = _unit(k_NHK.to(dtype)).repeat_interleave(group, 1)
    decay_NJ, beta_NJ, v_NJV = g_NJ.to(dtype).exp(), beta_NJ.to(dtype), v_NJV.to(dtype)
    out_NJV = torch.zeros_like(v_NJV)
    finals = {}
    for offset, length, start, write in rows.entries():
        state_JKV = v_NJV.new_zeros(num_heads, key_size, value_size)
        if states_SJKV is not None and start != NOWHERE:
            state_JKV = states_SJKV[start]
        for n in range(offset, offset + length):
            state_JKV = state_JKV * decay_NJ[n, :, None, None]
            known_JV = (state_JKV * k_NJK[n, :, :, None]).sum(1)
            delta_JV = (v_NJV[n] - known_JV) * beta_NJ[n, :, None]
            state_JKV = state_JKV + k_NJK[n, :, :, None] * delta_JV[:, None]
            out_NJV[n] = (state_JKV * q_NJK[n, :, :, None]).sum(1)
        finals[write] = state_JKV
    for write, state_JKV in finals.items():
        if finals_FJKV is not None and write != NOWHERE:
            finals_FJKV[write] = state_JKV
    return out_NJV if dtype == torch.float64 else out_NJV.to(q_NHK.dtype)


def _unit(x_NHK: Tensor) -> Tensor:
    return x_NHK * torch.rsqrt(x_NHK.square().sum(-1, keepdim=True) + 1e-6)
