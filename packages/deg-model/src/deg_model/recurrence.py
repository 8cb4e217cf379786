"""State layers of a flat pass whose rows each continue a state.

Start states are addressed by index in what an earlier pass left behind, so that rows that fork the
same context read the same memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from deg_kernels import NOWHERE, StateRows, fork_delta_rule, short_conv
from deg_model.attention import RowAttention
from deg_model.state import LayerState, Recurrent, State

# N flat tokens, R rows, I rows of an earlier pass, C channels, W taps, L = W - 1 inputs of a tail
# B key heads and J value heads, K key size, V value size

__all__ = ["RowRecurrence", "states_after"]


class RowRecurrence:
    """Recurrence of rows that each continue a state; collects what each row leaves if asked."""

    def __init__(
        self, lengths: Sequence[int], states: Sequence[State], *, keep: bool = False
    ) -> None:
        self._lengths = tuple(lengths)
        self._states = tuple(states)
        self._keep = keep
        self._rows: dict[tuple[int, ...], StateRows] = {}
        self._tails: dict[int, Tensor] = {}
        self._finals: dict[int, Tensor] = {}

    def short_conv(self, layer: int, x_NC: Tensor, weight_CW: Tensor, *, silu: bool) -> Tensor:
        """Return a causal depthwise convolution [N, C] along each row, through SiLU if asked."""
        start = self._start(layer)
        out_NC, self._tails[layer] = short_conv(
            x_NC.contiguous(),
            weight_CW,
            start.tails_ICL,
            self._state_rows(start.places),
            activation="silu" if silu else None,
        )
        return out_NC

    def delta_rule(
        self,
        layer: int,
        q_NBK: Tensor,
        k_NBK: Tensor,
        v_NJV: Tensor,
        log_decay_NJ: Tensor,
        beta_NJ: Tensor,
    ) -> Tensor:
        """Return the gated delta rule's output [N, J, V] along each row."""
        start = self._start(layer)
        _, heads, size = v_NJV.shape
        if self._keep:
            shape = (len(self._lengths), heads, q_NBK.shape[2], size)
            self._finals[layer] = torch.empty(shape, device=v_NJV.device)
        return fork_delta_rule(
            q_NBK.contiguous(),
            k_NBK.contiguous(),
            v_NJV.contiguous(),
            log_decay_NJ,
            beta_NJ,
            start.states_IJKV,
            self._state_rows(start.places),
            finals_FJKV=self._finals.get(layer),
        )

    def after(self, row: int) -> dict[int, LayerState]:
        """Return what each state layer remembers after *row*."""
        assert self._keep
        return {
            layer: Recurrent(self._finals.get(layer), tails_RCL, row)
            for layer, tails_RCL in self._tails.items()
        }

    def _state_rows(self, places: tuple[int, ...]) -> StateRows:
        if places not in self._rows:
            writes = range(len(places)) if self._keep else None
            self._rows[places] = StateRows.of(self._lengths, starts=places, writes=writes)
        return self._rows[places]

    def _start(self, layer: int) -> _Start:
        before = [_entry(state, layer) for state in self._states]
        distinct = {_key(entry): entry for entry in before if entry is not None}
        if not distinct:
            return _Start(None, None, (NOWHERE,) * len(before))
        first, *others = distinct.values()
        states_IJKV, tails_ICL = first.states_IHKV, first.tails_ICW
        places = {key: entry.index for key, entry in distinct.items()}
        if any(entry.tails_ICW is not tails_ICL for entry in others):
            # left behind by several passes: put side by side, each once
            places = {key: number for number, key in enumerate(distinct)}
            tails_ICL = torch.stack([entry.tail_CW for entry in distinct.values()])
            held = [
                state_HKV
                for entry in distinct.values()
                if (state_HKV := entry.state_HKV) is not None
            ]
            states_IJKV = torch.stack(held) if held else None
        return _Start(
            states_IJKV,
            tails_ICL,
            tuple(NOWHERE if entry is None else places[_key(entry)] for entry in before),
        )


@dataclass(frozen=True, slots=True)
class _Start:
    """Where rows start: the pools, and each row's place in both."""

    states_IJKV: Tensor | None
    tails_ICL: Tensor | None
    places: tuple[int, ...]


def _entry(state: State, layer: int) -> Recurrent | None:
    if not state.length:
        return None
    entry = state.layers[layer]
    assert isinstance(entry, Recurrent)
    return entry


def _key(entry: Recurrent) -> tuple[int, int]:
    return id(entry.tails_ICW), entry.index


def states_after(
    attention: RowAttention, recurrence: RowRecurrence, state_layers: frozenset[int]
) -> list[State]:
    """Return each row's state after its own tokens, its layers in the order of the stack."""
    return [
        _joined(state, recurrence.after(row), state_layers)
        for row, state in enumerate(attention.states())
    ]


def _joined(
    attended: State, recurred: dict[int, LayerState], state_layers: frozenset[int]
) -> State:
    others = iter(attended.layers)
    num_layers = len(attended.layers) + len(recurred)
    layers = (recurred[i] if i in state_layers else next(others) for i in range(num_layers))
    return State(tuple(layers), attended.length)
