"""How tokens of a flat pass look at each other: rows over their own states, or a training batch.

Both give the `attend` function that a family calls once a layer. The serving form computes all rows
at once, each bit for bit as if it were alone (`deg_kernels.fork_attention`). In the training form
the rows of a bucket share one call. It is written out: torch's fused CPU kernel takes twice as long
in bf16, and several times as long backward.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from deg_kernels import Prefix, Rows, fork_attention
from deg_model.state import KeyValues, State
from deg_model.training_state import Pieces, TrainingState, joined

# N flat tokens, A attention heads, G key/value heads, E = A / G, D head size, L own tokens of a row
# S keys of a row, B contexts, T tokens of a context, Q those of this pass, R rows of a bucket

__all__ = ["ForkBucket", "RowAttention", "TrainingAttention"]


class RowAttention:
    """Attention of rows that each continue a state; collects the state after each row if asked.

    Args:
        lengths: The tokens of each row.
        states: What each row continues.
        keep: Collect the states after the rows.
        room: For how many tokens each of these gets room, where later passes will read on.
    """

    def __init__(
        self,
        lengths: Sequence[int],
        states: Sequence[State],
        *,
        keep: bool = False,
        room: Sequence[int] | None = None,
    ) -> None:
        self._states = list(states)
        self._keep = keep
        self._room = list(room) if room is not None else None
        self._kept: list[list[KeyValues]] = [[] for _ in lengths]
        # rows that continue the same state read the same memory
        self._distinct = list({id(state): state for state in states if state.length}.values())
        numbers = {id(state): number for number, state in enumerate(self._distinct)}
        self._rows = Rows(tuple(lengths), tuple(numbers.get(id(state)) for state in states))

    def __call__(self, layer: int, q_NAD: Tensor, k_NGD: Tensor, v_NGD: Tensor) -> Tensor:
        """Return the attention output [N, A, D] of one layer; tokens after the last row get 0."""
        before = [_key_values(state, layer) for state in self._distinct]
        prefixes = [Prefix(entry.keys_PGD, entry.values_PGD) for entry in before]
        if self._keep:
            self._keep_own(before, k_NGD, v_NGD)
        return fork_attention(q_NAD, k_NGD, v_NGD, self._rows, prefixes)

    def states(self) -> list[State]:
        """Return each row's state after its own tokens."""
        assert self._keep
        return [
            State(tuple(kept), state.length + length)
            for kept, state, length in zip(
                self._kept, self._states, self._rows.lengths, strict=True
            )
        ]

    def _keep_own(self, before: list[KeyValues], k_NGD: Tensor, v_NGD: Tensor) -> None:
        start = 0
        rows = zip(self._kept, self._rows.lengths, self._rows.prefixes, strict=True)
        for row, (kept, length, number) in enumerate(rows):
            own = k_NGD[start : start + length], v_NGD[start : start + length]
            room = None if self._room is None else self._room[row]
            if number is None:
                kept.append(KeyValues.of(*own, room=room or 0))
            else:
                kept.append(before[number].extended(*own, room=room))
            start += length


def _key_values(state: State, layer: int) -> KeyValues:
    entry = state.layers[layer]
    assert isinstance(entry, KeyValues)
    return entry


@dataclass(frozen=True, slots=True)
class ForkBucket:
    """Rows of similar length in a training batch, right-padded to one length."""

    context_R: Tensor
    lengths_R: Tensor
    width: int


class TrainingAttention:
    """Attention of a training batch: tokens of B padded contexts, then fork rows, all flat.

    Args:
        context_lengths_B: Real tokens of each context, those that were read before among them.
        width: The padded tokens of each context in this pass; none where forks alone are read.
        buckets: The fork rows, in the order in which their tokens lie.
        each: E, the attention heads of a key/value head.
        dtype: The dtype of the hidden states.
        before: What was read of the contexts before.
        after: Takes up the keys and values of the contexts, each layer's once.
    """

    def __init__(
        self,
        context_lengths_B: Tensor,
        width: int,
        buckets: Sequence[ForkBucket],
        *,
        each: int,
        dtype: torch.dtype,
        before: TrainingState | None = None,
        after: TrainingState | None = None,
    ) -> None:
        self._num_contexts, self._width = len(context_lengths_B), width
        self._buckets = list(buckets)
        self._each = each
        self._before, self._after = before or TrainingState(), after
        num_before = self._before.num_tokens
        seen = num_before + width
        future_QT = torch.ones(width, seen, dtype=torch.bool).triu(num_before + 1)
        self._causal_QT = torch.zeros(width, seen, dtype=dtype).masked_fill_(
            future_QT, float("-inf")
        )
        self._masks = [_fork_mask(context_lengths_B, seen, b, each, dtype) for b in buckets]

    def __call__(self, layer: int, q_NAD: Tensor, k_NGD: Tensor, v_NGD: Tensor) -> Tensor:
        """Return the attention output [N, A, D] of one layer."""
        num, width = self._num_contexts, self._width
        split = num * width
        keys = self._pieces(layer, self._before.keys, k_NGD[:split])
        values = self._pieces(layer, self._before.values, v_NGD[:split])
        if self._after is not None:
            # a layer that is computed again in the backward pass finds its place taken
            self._after.keys.setdefault(layer, keys)
            self._after.values.setdefault(layer, values)
        keys_BGTD, values_BGTD = joined(keys), joined(values)
        parts = []
        if width:
            out_BAQD = _attention(
                _rows(q_NAD[:split], num, width),
                keys_BGTD.repeat_interleave(self._each, 1),
                values_BGTD.repeat_interleave(self._each, 1),
                self._causal_QT,
            )
            parts.append(out_BAQD.transpose(1, 2).reshape(split, *q_NAD.shape[1:]))
        for bucket, mask in zip(self._buckets, self._masks, strict=True):
            end = split + len(bucket.context_R) * bucket.width
            own = slice(split, end)
            parts.append(
                self._bucket(
                    bucket, mask, q_NAD[own], k_NGD[own], v_NGD[own], keys_BGTD, values_BGTD
                )
            )
            split = end
        return torch.cat(parts)

    def _pieces(self, layer: int, before: dict[int, Pieces], own_NGD: Tensor) -> Pieces:
        pieces = before.get(layer, ())
        if not self._width:
            return pieces
        return (*pieces, _rows(own_NGD, self._num_contexts, self._width))

    def _bucket(
        self,
        bucket: ForkBucket,
        mask_R1QS: Tensor,
        q_MAD: Tensor,
        k_MGD: Tensor,
        v_MGD: Tensor,
        keys_BGTD: Tensor,
        values_BGTD: Tensor,
    ) -> Tensor:
        rows, width = len(bucket.context_R), bucket.width
        _, heads, size = q_MAD.shape
        groups = k_MGD.shape[1]
        keys_RGSD = torch.cat([keys_BGTD[bucket.context_R], _rows(k_MGD, rows, width)], dim=2)
        values_RGSD = torch.cat([values_BGTD[bucket.context_R], _rows(v_MGD, rows, width)], dim=2)
        q_RGQD = (
            q_MAD.view(rows, width, groups, self._each, size)
            .permute(0, 2, 3, 1, 4)
            .reshape(rows, groups, self._each * width, size)
        )
        out_RGQD = _attention(q_RGQD, keys_RGSD, values_RGSD, mask_R1QS)
        out = out_RGQD.view(rows, groups, self._each, width, size).permute(0, 3, 1, 2, 4)
        return out.reshape(rows * width, heads, size)


def _attention(q: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    scores = torch.matmul(q * q.shape[-1] ** -0.5, keys.transpose(-2, -1))
    return torch.matmul((scores + mask).softmax(-1), values)


def _rows(x_NCD: Tensor, num: int, width: int) -> Tensor:
    return x_NCD.view(num, width, *x_NCD.shape[1:]).transpose(1, 2)


def _fork_mask(
    context_lengths_B: Tensor, width: int, bucket: ForkBucket, each: int, dtype: torch.dtype
) -> Tensor:
    own, rows = bucket.width, len(bucket.context_R)
    seen_RT = torch.arange(width)[None] < context_lengths_B[bucket.context_R][:, None]
    causal_LL = torch.ones(own, own, dtype=torch.bool).tril()
    visible_RLS = torch.cat(
        [seen_RT[:, None].expand(rows, own, width), causal_LL.expand(rows, own, own)], dim=2
    )
    mask = torch.zeros(visible_RLS.shape, dtype=dtype).masked_fill_(~visible_RLS, float("-inf"))
    return mask.repeat(1, each, 1)[:, None]
