"""One pass of a backbone over rows that each continue a state."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from deg_model.attention import RowAttention
from deg_model.family import Backbone
from deg_model.recurrence import RowRecurrence
from deg_model.state import State

# N flat tokens, H hidden

__all__ = ["run_pass"]

_ROW_GRID = 16


def run_pass(
    backbone: Backbone,
    rows: Sequence[Sequence[int]],
    states: Sequence[State],
    attend: RowAttention,
    recur: RowRecurrence,
    *,
    taps: tuple[int, ...],
) -> list[Tensor]:
    """Return the hidden states [N, H] of the rows' tokens, one row after another, at each tap."""
    num = sum(map(len, rows))
    # one product over a multiple of 16 rows gives each row the same bits in any company
    spare = -num % _ROW_GRID
    ids = [token for row in rows for token in row] + [0] * spare
    device = backbone.embedding_VH.device
    positions = [
        torch.arange(state.length, state.length + len(row), device=device)
        for row, state in zip(rows, states, strict=True)
    ]
    tapped = backbone.hidden(
        torch.tensor(ids, device=device),
        torch.cat([*positions, torch.zeros(spare, dtype=torch.long, device=device)]),
        attend,
        recur,
        taps=taps,
    )
    return [tap_NH[:num] for tap_NH in tapped]
