"""Decode steps over static buffers: one token a row, on CUDA captured once as a graph and replayed.

A step reads and writes tensors that stay where they are: the tokens, tables of how far each row has
come, pools of what the layers remember. The host only fills in the tokens; where rows come and go,
it writes the tables anew. Places after the last row are padding, which a step leaves as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

import torch
from torch import Tensor

from deg_kernels import (
    DecodeRows,
    StateRows,
    decode_attention,
    fork_delta_rule,
    linear_small,
    short_conv,
)
from deg_model.family import Backbone
from deg_model.state import KeyValues, LayerState, Recurrent, State

# R rows, S tokens of room for each, T = R S + 1 tokens of a pool, the last one for padding
# A attention heads, G key/value heads, D head size, C channels, W taps, L = W - 1 inputs of a tail
# B key heads and J value heads, K key size, V value size; H hidden, V vocabulary for the head

__all__ = ["DecodeBuffers", "DecodeStep", "Decoder", "Extend"]

Extend = Callable[[Sequence[Sequence[int]], Sequence[State]], tuple[Tensor, list[State]]]
"""`extend(rows, states) -> logits_RV, states`, as of a `Writer`."""

# so many tokens a row may at least write before its room is doubled
_OWN_TOKENS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class _StaticRows(StateRows):
    """The rows of state layers with a table that stays where it is."""

    table: Tensor = field(compare=False)

    def table_R4(self, device: torch.device) -> Tensor:
        return self.table


class DecodeBuffers:
    """What rows remember and how far they have come, in memory that does not move.

    Args:
        like: What the layers of some state of the model remember: the pools are shaped alike.
        num_rows: R.
        num_tokens: S.

    Attributes:
        ids_R: The token that each row reads next.
        rows: How attention finds what each row continues.
        layers: The pools.
    """

    def __init__(self, like: Sequence[LayerState], num_rows: int, num_tokens: int) -> None:
        self.num_rows, self.num_tokens = num_rows, num_tokens
        self.layers = tuple(_pool(layer, num_rows, num_tokens) for layer in like)
        keys = next(layer.keys_PGD for layer in self.layers if isinstance(layer, KeyValues))
        self.token_size = keys[0].numel()
        self.ids_R = torch.zeros(num_rows, dtype=torch.int64, device=keys.device)
        self.rows = DecodeRows.padding(num_rows, keys.device)
        self._table_R4 = torch.zeros(num_rows, 4, dtype=torch.int32, device=keys.device)
        self._lengths: list[int] = []
        self._num_told: int | None = None

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def longest(self) -> int:
        """The most tokens that a row has read."""
        return max(self._lengths, default=0)

    def join(self, state: State) -> None:
        """Add a row that continues a copy of *state*."""
        self._lengths.append(state.length)
        self._put(len(self) - 1, state)

    def leave(self, row: int) -> None:
        """Let a row go; the last one takes its place."""
        last = self.state(len(self) - 1)
        self._lengths.pop()
        if row < len(self):
            self._lengths[row] = last.length
            self._put(row, last)
        self._num_told = None

    def state(self, row: int) -> State:
        """Return what *row* remembers, until the next step: views of the pools."""
        first, length = row * self.num_tokens, self._lengths[row]
        layers = (
            KeyValues(
                layer.keys_PGD[first : first + length], layer.values_PGD[first : first + length]
            )
            if isinstance(layer, KeyValues)
            else Recurrent(layer.states_IHKV, layer.tails_ICW, row)
            for layer in self.layers
        )
        return State(tuple(layers), length)

    def tell(self, *, padding: bool = False) -> None:
        """Write the tables where rows came or went, or as if all were *padding*."""
        num_rows = 0 if padding else len(self)
        if num_rows != self._num_told:
            self._num_told = num_rows
            self.rows.tell(self._lengths[:num_rows], self.num_tokens * self.token_size)
            entries = list(self.state_rows(self.num_rows).entries())
            self._table_R4.copy_(torch.tensor(entries, dtype=torch.int32))

    def advance(self) -> None:
        """Count the token that each row has read."""
        self._lengths = [length + 1 for length in self._lengths]

    def state_rows(self, num_rows: int) -> StateRows:
        """Return the first rows as state layers find what each continues."""
        places, num_real = tuple(range(num_rows)), min(num_rows, self._num_told or 0)
        lengths = (1,) * num_real + (0,) * (num_rows - num_real)
        return _StaticRows(places, lengths, places, places, table=self._table_R4[:num_rows])

    def _put(self, row: int, state: State) -> None:
        self._num_told = None
        first, end = row * self.num_tokens, row * self.num_tokens + state.length
        for pool, layer in zip(self.layers, state.layers, strict=True):
            if isinstance(pool, KeyValues):
                assert isinstance(layer, KeyValues)
                pool.keys_PGD[first:end] = layer.keys_PGD
                pool.values_PGD[first:end] = layer.values_PGD
                continue
            assert isinstance(layer, Recurrent)
            pool.tails_ICW[row] = layer.tail_CW
            if pool.states_IHKV is not None:
                assert layer.state_HKV is not None
                pool.states_IHKV[row] = layer.state_HKV


class DecodeStep:
    """Reads a token of each of the first rows of *buffers*: one function over static tensors.

    Args:
        backbone: The stack.
        head_VH: The head over the vocabulary.
        buffers: What it reads and writes.
        num_rows: R, of which those that have not joined are padding.
    """

    def __init__(
        self, backbone: Backbone, head_VH: Tensor, buffers: DecodeBuffers, num_rows: int
    ) -> None:
        self._backbone, self._head_VH = backbone, head_VH
        self._buffers, self._num_rows = buffers, num_rows
        self._rows = buffers.rows.first(num_rows)
        self._run = self._captured() if buffers.ids_R.is_cuda else self.step

    def __call__(self) -> Tensor:
        """Run or replay the step; return the logits [R, V], which the next one overwrites."""
        self._buffers.tell()
        self._buffers.advance()
        return self._run()

    def step(self) -> Tensor:
        """Run what a graph is captured of."""
        buffers, num_rows = self._buffers, self._num_rows
        self._state_rows = buffers.state_rows(num_rows)
        self._places_R = self._rows.places_R(buffers.token_size)
        (hidden_RH,) = self._backbone.hidden(
            buffers.ids_R[:num_rows],
            self._rows.before_R,
            self.attend,
            self,
            taps=(self._backbone.config.num_layers,),
        )
        self._rows.advance()
        return linear_small(hidden_RH, self._head_VH)

    def attend(self, layer: int, q_RAD: Tensor, k_RGD: Tensor, v_RGD: Tensor) -> Tensor:
        """Return the attention output [R, A, D] of one layer, and keep keys and values."""
        pool = self._buffers.layers[layer]
        assert isinstance(pool, KeyValues)
        out_RAD = decode_attention(q_RAD, k_RGD, v_RGD, self._rows, pool.keys_PGD, pool.values_PGD)
        pool.keys_PGD.index_copy_(0, self._places_R, k_RGD)
        pool.values_PGD.index_copy_(0, self._places_R, v_RGD)
        return out_RAD

    def short_conv(self, layer: int, x_NC: Tensor, weight_CW: Tensor, *, silu: bool) -> Tensor:
        """Return a causal depthwise convolution [R, C], and keep the last inputs."""
        tails_RCL = self._pool(layer).tails_ICW[: self._num_rows]
        out_NC, after_RCL = short_conv(
            x_NC.contiguous(),
            weight_CW,
            tails_RCL,
            self._state_rows,
            activation="silu" if silu else None,
        )
        tails_RCL.copy_(after_RCL)
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
        """Return the gated delta rule's output [R, J, V], and keep the states."""
        states_IJKV = self._pool(layer).states_IHKV
        assert states_IJKV is not None
        states_RJKV = states_IJKV[: self._num_rows]
        return fork_delta_rule(
            q_NBK.contiguous(),
            k_NBK.contiguous(),
            v_NJV.contiguous(),
            log_decay_NJ,
            beta_NJ,
            states_RJKV,
            self._state_rows,
            finals_FJKV=states_RJKV,
        )

    def _pool(self, layer: int) -> Recurrent:
        pool = self._buffers.layers[layer]
        assert isinstance(pool, Recurrent)
        return pool

    def _captured(self) -> Callable[[], Tensor]:
        # the first run compiles kernels; with nothing but padding it changes nothing
        self._buffers.tell(padding=True)
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self.step()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            logits_RV = self.step()

        def replay() -> Tensor:
            graph.replay()
            return logits_RV

        return replay


class Decoder:
    """Reads rows on as a `Writer` does, to the bit, those it has read before by a `DecodeStep`.

    Args:
        backbone: The writer's stack.
        head_VH: Its head over the vocabulary.
        extend: What reads rows that are new.
    """

    def __init__(self, backbone: Backbone, head_VH: Tensor, extend: Extend) -> None:
        self._backbone, self._head_VH, self._extend = backbone, head_VH, extend
        self._buffers: DecodeBuffers | None = None
        self._steps: dict[int, DecodeStep] = {}
        # what stands for each row of the buffers
        self._held: list[State] = []

    @torch.inference_mode()
    def extend(
        self, rows: Sequence[Sequence[int]], states: Sequence[State]
    ) -> tuple[list[Tensor], list[State]]:
        """Read each row on: by a token from a state that the last call gave, or from any other.

        A row of the last call that none of *states* stands for is forgotten.

        Returns:
            The logits of what comes after each row, which the next call overwrites, and each row's
            new state, which the next call alone understands.
        """
        self._forget_all_but(states)
        known = {id(state): place for place, state in enumerate(self._held)}
        num_held, new_places = len(known), count(len(known))
        places = [known[id(s)] if id(s) in known else next(new_places) for s in states]
        assert len(set(places)) == len(places), "a state is continued once"
        order = sorted(range(len(places)), key=places.__getitem__)
        old, new = order[:num_held], order[num_held:]
        logits: list[Tensor] = []
        if old:
            logits += self._step([rows[i] for i in old])
        if new:
            logits_RV, after = self._extend([rows[i] for i in new], [states[i] for i in new])
            logits += logits_RV
            self._join(after)
        return [logits[i] for i in places], [self._held[i] for i in places]

    def _forget_all_but(self, states: Sequence[State]) -> None:
        named = {id(state) for state in states}
        for place in reversed(range(len(self._held))):
            if id(self._held[place]) not in named:
                assert self._buffers is not None
                self._buffers.leave(place)
                last = self._held.pop()
                if place < len(self._held):
                    self._held[place] = last

    def _step(self, rows: Sequence[Sequence[int]]) -> Iterable[Tensor]:
        assert self._buffers is not None
        buffers = self._room(self._buffers.layers, 0, self._buffers.longest + 1)
        size = _power_of_two(len(rows))
        if size not in self._steps:
            self._steps[size] = DecodeStep(self._backbone, self._head_VH, buffers, size)
        buffers.ids_R[: len(rows)] = torch.tensor([token for (token,) in rows])
        self._held = [State(length=state.length + 1) for state in self._held]
        return self._steps[size]()[: len(rows)]

    def _join(self, states: Sequence[State]) -> None:
        num_tokens = max(state.length for state in states) + _OWN_TOKENS
        buffers = self._room(states[0].layers, len(self._held) + len(states), num_tokens)
        for state in states:
            buffers.join(state)
            self._held.append(State(length=state.length))

    def _room(self, like: Sequence[LayerState], num_rows: int, num_tokens: int) -> DecodeBuffers:
        """Return the buffers, or larger ones if they are too small; graphs go with the old ones."""
        old = self._buffers
        if old is not None:
            if num_rows <= old.num_rows and num_tokens <= old.num_tokens:
                return old
            num_rows, num_tokens = max(num_rows, old.num_rows), max(num_tokens, old.num_tokens)
        new = DecodeBuffers(like, _power_of_two(num_rows), _power_of_two(num_tokens))
        for row in range(0 if old is None else len(old)):
            assert old is not None
            new.join(old.state(row))
        self._steps.clear()
        self._buffers = new
        return new


def _pool(like: LayerState, num_rows: int, num_tokens: int) -> LayerState:
    if isinstance(like, KeyValues):
        shape = (num_rows * num_tokens + 1, *like.keys_PGD.shape[1:])
        return KeyValues(like.keys_PGD.new_zeros(shape), like.values_PGD.new_zeros(shape))
    _, channels, width = like.tails_ICW.shape
    # laid out as the convolution leaves them
    tails_RLC = like.tails_ICW.new_zeros(num_rows, width, channels)
    states_IHKV = like.states_IHKV
    if states_IHKV is not None:
        states_IHKV = states_IHKV.new_zeros(num_rows, *states_IHKV.shape[1:])
    return Recurrent(states_IHKV, tails_RLC.transpose(1, 2))


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()
