"""Attention of rows over their prefixes as it is defined, in fp32: the truth, not for use."""

# N flat tokens, L tokens of a row, S keys of a row, A heads, G key/value heads, D head size

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from deg_kernels.attention.rows import Prefix, Rows

__all__ = ["naive_fork_attention"]


def naive_fork_attention(
    q_NAD: Tensor,
    keys_NGD: Tensor,
    values_NGD: Tensor,
    rows: Rows,
    prefixes: Sequence[Prefix] = (),
    *,
    window: int | None = None,
    scale: float | None = None,
) -> Tensor:
    """Return causal attention [N, A, D], each row computed by itself over a copy of its prefix."""
    out_NAD = torch.zeros_like(q_NAD, memory_format=torch.contiguous_format)
    each = q_NAD.shape[1] // keys_NGD.shape[1]
    scale = q_NAD.shape[2] ** -0.5 if scale is None else scale
    start = 0
    for length, index in zip(rows.lengths, rows.prefixes, strict=True):
        own = slice(start, start + length)
        keys_SGD, values_SGD = keys_NGD[own], values_NGD[own]
        if index is not None:
            keys_SGD = torch.cat([prefixes[index].keys_PGD, keys_SGD])
            values_SGD = torch.cat([prefixes[index].values_PGD, values_SGD])
        keys_SAD, values_SAD = (
            t.float().repeat_interleave(each, 1) for t in (keys_SGD, values_SGD)
        )
        scores_ALS = torch.einsum("lad,sad->als", q_NAD[own].float(), keys_SAD) * scale
        visible_LS = _visible(length, len(keys_SAD), window).to(q_NAD.device)
        weights_ALS = scores_ALS.masked_fill(~visible_LS, float("-inf")).softmax(-1)
        out_NAD[own] = torch.einsum("als,sad->lad", weights_ALS, values_SAD).to(q_NAD.dtype)
        start += length
    return out_NAD


def _visible(length: int, num_keys: int, window: int | None) -> Tensor:
    visible_LS = torch.ones(length, num_keys, dtype=torch.bool).tril(num_keys - length)
    return visible_LS if window is None else visible_LS.triu(num_keys - length - window + 1)
