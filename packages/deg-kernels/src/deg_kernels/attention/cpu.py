"""Batch-invariant attention on a CPU, in the products that `deg_kernels.attention.tiles` cuts.

The weights of a query are one softmax over its far and near keys together. Their products with the
values are taken by segment and summed in the order of positions.
"""

# N flat tokens, A heads, G key/value heads, D head size, P tokens of a prefix
# I tiles of a group, M rows of a tile's products, K near keys, C far and near keys
# B = G * I, Q = I * M, T tokens of the source, S keys of a segment

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor

from deg_kernels.attention.rows import DecodeRows, Prefix, Rows
from deg_kernels.attention.tiles import NEAR, SEGMENT, Group, Plan, Segment, plan_tiles

__all__ = ["decode_attention", "fork_attention"]


def fork_attention(
    q_NAD: Tensor,
    keys_NGD: Tensor,
    values_NGD: Tensor,
    rows: Rows,
    prefixes: Sequence[Prefix],
    window: int | None,
    scale: float,
) -> Tensor:
    """Return attention [N, A, D] of every row, all at once where rows share a prefix."""
    num_tokens, heads, size = q_NAD.shape
    plan = plan_tiles(
        rows,
        tuple(len(prefix) for prefix in prefixes),
        num_tokens=num_tokens,
        heads=heads,
        groups=keys_NGD.shape[1],
        window=window,
        dtype=q_NAD.dtype,
    )
    queries = q_NAD.reshape(-1, size).index_select(0, plan.query_index)
    queries = queries * scale if torch.is_grad_enabled() else queries.mul_(scale)
    far = _Far(keys_NGD, values_NGD, rows, prefixes)
    keys, values = (
        _source(own_NGD, tails).index_select(0, plan.key_index)
        for own_NGD, tails in (
            (keys_NGD, [prefixes[i].keys_PGD[first:] for i, first in plan.tails]),
            (values_NGD, [prefixes[i].values_PGD[first:] for i, first in plan.tails]),
        )
    )
    outputs = _outputs(plan, queries, keys, values, far)
    zeros_1D = queries.new_zeros(1, size)
    gathered = torch.cat([*outputs, zeros_1D]).index_select(0, plan.output_index)
    return gathered.view(num_tokens, heads, size)


def decode_attention(
    q_RAD: Tensor,
    keys_RGD: Tensor,
    values_RGD: Tensor,
    rows: DecodeRows,
    pool_keys_TGD: Tensor,
    pool_values_TGD: Tensor,
    scale: float,
) -> Tensor:
    """Return `fork_attention` of the rows that are no padding, and zeros for those that are."""
    out_RAD = torch.zeros_like(q_RAD, memory_format=torch.contiguous_format)
    token_size = pool_keys_TGD[:1].numel()
    own, prefixes = [], []
    for is_row, token, before, start, _ in rows.table_R5.tolist():
        if is_row:
            inside = slice(start // token_size, start // token_size + before)
            prefixes.append(Prefix(pool_keys_TGD[inside], pool_values_TGD[inside]))
            own.append(token)
    if own:
        out_RAD[own] = fork_attention(
            q_RAD[own],
            keys_RGD[own],
            values_RGD[own],
            Rows((1,) * len(own), tuple(range(len(own)))),
            prefixes,
            None,
            scale,
        )
    return out_RAD


class _Far:
    """Where far keys and values lie: in a prefix, or in a row with the end of its prefix."""

    def __init__(
        self, keys_NGD: Tensor, values_NGD: Tensor, rows: Rows, prefixes: Sequence[Prefix]
    ) -> None:
        self._own, self._rows, self._prefixes = (keys_NGD, values_NGD), rows, prefixes
        self.groups = keys_NGD.shape[1]
        self._joined: dict[int, tuple[int, Tensor, Tensor]] = {}

    def __call__(self, segment: Segment) -> tuple[Tensor, Tensor]:
        """Return the keys and values [S, G, D] of *segment*."""
        if segment.prefix is not None:
            prefix, inside = self._prefixes[segment.prefix], slice(segment.start, segment.end)
            return prefix.keys_PGD[inside], prefix.values_PGD[inside]
        assert segment.row is not None
        if segment.row not in self._joined:
            self._joined[segment.row] = self._join(segment.row)
        first, keys, values = self._joined[segment.row]
        inside = slice(segment.start - first, segment.end - first)
        return keys[inside], values[inside]

    def _join(self, row: int) -> tuple[int, Tensor, Tensor]:
        start, index = sum(self._rows.lengths[:row]), self._rows.prefixes[row]
        own = slice(start, start + self._rows.lengths[row])
        keys, values = (own_NGD[own] for own_NGD in self._own)
        if index is None:
            return 0, keys, values
        prefix = self._prefixes[index]
        first = len(prefix) // SEGMENT * SEGMENT
        return (
            first,
            torch.cat([prefix.keys_PGD[first:], keys]),
            torch.cat([prefix.values_PGD[first:], values]),
        )


def _source(own_NGD: Tensor, tails: list[Tensor]) -> Tensor:
    source_TGD = torch.cat([torch.zeros_like(own_NGD[:1]), *tails, own_NGD])
    return source_TGD.view(-1, own_NGD.shape[2])


def _outputs(plan: Plan, queries: Tensor, keys: Tensor, values: Tensor, far: _Far) -> list[Tensor]:
    groups, size = far.groups, queries.shape[1]
    counts = [groups * group.num_tiles for group in plan.groups]
    num_queries = [n * group.num_rows for n, group in zip(counts, plan.groups, strict=True)]
    num_keys = [n * NEAR for n in counts]
    parts = zip(
        plan.groups,
        torch.split(queries, num_queries),
        torch.split(keys, num_keys),
        torch.split(values, num_keys),
        strict=True,
    )
    outputs = []
    for group, q, k, v in parts:
        q_GQD = q.view(groups, -1, size)
        k_BKD, v_BKD = k.view(-1, NEAR, size), v.view(-1, NEAR, size)
        pieces = [far(segment) for segment in group.segments]
        weights_GQC = _weights(group, q_GQD, k_BKD, [keys_SGD for keys_SGD, _ in pieces])
        out_GQD = _weighted(group, weights_GQC, v_BKD, [values_SGD for _, values_SGD in pieces])
        outputs.append(out_GQD.view(-1, size))
    return outputs


def _weights(group: Group, q_GQD: Tensor, k_BKD: Tensor, far: list[Tensor]) -> Tensor:
    num_groups, num_rows, size = q_GQD.shape
    near_BMK = torch.bmm(q_GQD.view(-1, group.num_rows, size), k_BKD.transpose(1, 2))
    near_GIMK = near_BMK.view(num_groups, group.num_tiles, group.num_rows, NEAR)
    if torch.is_grad_enabled():
        far_GQS = [q_GQD @ keys_SGD.permute(1, 2, 0) for keys_SGD in far]
        scores_GQC = torch.cat([*far_GQS, near_GIMK.view(num_groups, num_rows, NEAR)], -1)
        _last_columns(scores_GQC, group).add_(group.mask_IMC)
        return scores_GQC.softmax(-1)
    # each product is written where it belongs
    scores_GQC = q_GQD.new_empty(num_groups, num_rows, group.num_far + NEAR)
    end = 0
    for keys_SGD in far:
        start, end = end, end + len(keys_SGD)
        for g in range(num_groups):
            torch.mm(q_GQD[g], keys_SGD[:, g].t(), out=scores_GQC[g, :, start:end])
    masked_GIMC = _last_columns(scores_GQC, group)
    if masked_GIMC.shape[-1] == NEAR:
        torch.add(near_GIMK, group.mask_IMC, out=masked_GIMC)
    else:
        masked_GIMC[..., -NEAR:] = near_GIMK
        masked_GIMC.add_(group.mask_IMC)
    return torch.softmax(scores_GQC, -1, out=scores_GQC)


def _last_columns(scores_GQC: Tensor, group: Group) -> Tensor:
    """Return a view of the last columns, those that some query does not see."""
    scores_GIMC = scores_GQC.view(len(scores_GQC), group.num_tiles, group.num_rows, -1)
    return scores_GIMC[..., -group.mask_IMC.shape[2] :]


def _weighted(group: Group, weights_GQC: Tensor, v_BKD: Tensor, far: list[Tensor]) -> Tensor:
    num_groups, num_rows, columns = weights_GQC.shape
    weights_BMK = weights_GQC.view(-1, group.num_rows, columns)[..., group.num_far :]
    if not far:
        return torch.bmm(weights_BMK, v_BKD).view(num_groups, num_rows, -1)
    far_BMD = _far_weighted(weights_GQC, far).view(-1, group.num_rows, v_BKD.shape[2])
    return far_BMD.baddbmm_(weights_BMK, v_BKD).view(num_groups, num_rows, -1)


def _far_weighted(weights_GQC: Tensor, far: list[Tensor]) -> Tensor:
    ends = list(accumulate((len(values_SGD) for values_SGD in far), initial=0))
    pieces = (
        torch.bmm(weights_GQC[..., start:end], values_SGD.transpose(0, 1))
        for start, end, values_SGD in zip(ends, ends[1:], far, strict=False)
    )
    if len(far) == 1:
        return next(pieces)
    # in fp32, or a long context would round as often as it has segments
    total_GQD = next(pieces).float()
    for piece_GQD in pieces:
        total_GQD = total_GQD + piece_GQD
    return total_GQD.to(weights_GQC.dtype)
