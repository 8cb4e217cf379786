"""Fork passes by kind: the rows of a batch that other weights read, in a pass of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import torch
from torch import Tensor

from deg_model import Backbone, DegModel, ForkBucket
from deg_train.batches import Batch
from deg_train.passes import Hidden, read_batch, read_forks, read_trunk

# M flat tokens of forks, P those of one kind, R rows of a bucket, Q those of one kind
# U tokens of a row, H hidden

__all__ = ["read_by_kind", "read_with"]

Kind = TypeVar("Kind")


def read_by_kind(
    batch: Batch, kind_of: Callable[[str], Kind], read: Callable[[Kind, Batch], Tensor]
) -> Tensor:
    """Return the hidden states [M, H] of the fork tokens of *batch*, each kind read by itself.

    Args:
        batch: Whose forks are read.
        kind_of: Names the kind of a head.
        read: Reads the forks of a batch that are all of the kind given, and returns their hidden
            states [P, H].
    """
    kinds = [kind_of(row.question.fork.head) for row in batch.rows]
    if len(set(kinds)) == 1:
        return read(kinds[0], batch)
    parts = [(kind, *_part(batch, kinds, kind)) for kind in dict.fromkeys(kinds)]
    hidden_MH = torch.cat([read(kind, part) for kind, part, _ in parts])
    places_M = torch.cat([places_P for _, _, places_P in parts])
    return hidden_MH[places_M.argsort()]


def read_with(model: DegModel, batch: Batch) -> Hidden:
    """Read *batch* with the weights that *model* has for contexts and for forks of each kind."""
    stacks = {row.question.fork.head: model.stack_of(row.question.fork.head) for row in batch.rows}
    if all(stack is model.backbone for stack in stacks.values()):
        return read_batch(model.backbone, batch, taps=model.taps)
    trunk = read_trunk(model.backbone, batch, taps=model.taps)

    def read(stack: Backbone, part: Batch) -> Tensor:
        return read_forks(stack, trunk, part)

    return trunk.hidden(read_by_kind(batch, stacks.__getitem__, read))


def _part(batch: Batch, kinds: Sequence[Kind], kind: Kind) -> tuple[Batch, Tensor]:
    """Return *batch* with the rows of *kind* alone, and the places [P] of their tokens in it."""
    buckets, places = [], []
    row, offset = 0, 0
    for bucket in batch.buckets:
        num_rows = len(bucket.context_R)
        own = kinds[row : row + num_rows]
        chosen_Q = torch.tensor([number for number, each in enumerate(own) if each == kind])
        if len(chosen_Q):
            places_RU = offset + torch.arange(num_rows * bucket.width).view(num_rows, -1)
            places.append(places_RU[chosen_Q].flatten())
            buckets.append(
                ForkBucket(bucket.context_R[chosen_Q], bucket.lengths_R[chosen_Q], bucket.width)
            )
        row, offset = row + num_rows, offset + num_rows * bucket.width
    places_P = torch.cat(places)
    num = batch.num_trunk
    part = replace(
        batch,
        ids_N=torch.cat([batch.ids_N[:num], batch.ids_N[num:][places_P]]),
        positions_N=torch.cat([batch.positions_N[:num], batch.positions_N[num:][places_P]]),
        buckets=tuple(buckets),
        rows=tuple(each for each, of in zip(batch.rows, kinds, strict=True) if of == kind),
    )
    return part, places_P
