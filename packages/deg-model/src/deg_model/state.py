"""What a backbone remembers of the tokens it has read, one entry a layer.

An attention layer remembers keys and values, a state layer a matrix of fixed size and the last
inputs of its convolution. A state never changes: reading on gives a new one, which may share memory
with the old one where that leaves every token of the old one as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

# P tokens read, L tokens to add, G key/value heads, D head size, S room in a buffer
# I rows of a pass, H state heads, K key size, V value size, C channels, W tokens of a tail

__all__ = ["KeyValues", "LayerState", "Moment", "Recurrent", "State"]

_LEAST_ROOM = 64
_ROOM_SHARE = 4


@dataclass(slots=True, eq=False)
class _Buffer:
    keys_SGD: Tensor
    values_SGD: Tensor
    used: int


@dataclass(frozen=True, slots=True, eq=False)
class KeyValues:
    """Keys and values of one attention layer.

    Attributes:
        keys_PGD: Rotated keys, in the dtype of the model; each token's heads lie together.
        values_PGD: Values, laid out alike.
    """

    keys_PGD: Tensor
    values_PGD: Tensor
    _buffer: _Buffer | None = field(default=None, repr=False)

    @classmethod
    def of(cls, keys_LGD: Tensor, values_LGD: Tensor, *, room: int = 0) -> KeyValues:
        """Keep a copy of the keys and values of a row's first tokens, with *room* for so many."""
        if room > len(keys_LGD):
            return cls(keys_LGD[:0], values_LGD[:0]).extended(keys_LGD, values_LGD, room=room)
        kept = torch.contiguous_format
        return cls(keys_LGD.clone(memory_format=kept), values_LGD.clone(memory_format=kept))

    def __len__(self) -> int:
        return len(self.keys_PGD)

    def extended(
        self, keys_LGD: Tensor, values_LGD: Tensor, *, room: int | None = None
    ) -> KeyValues:
        """Return what is remembered after further tokens.

        They are written behind this one's in the same buffer where nothing stands there yet; a
        second continuation of the same tokens gets a copy. With gradients nothing is overwritten.

        Args:
            keys_LGD: The keys of the further tokens.
            values_LGD: Their values.
            room: The tokens that a new buffer has room for; a share more than needed if not given.
        """
        if torch.is_grad_enabled():
            return KeyValues(
                torch.cat([self.keys_PGD, keys_LGD]), torch.cat([self.values_PGD, values_LGD])
            )
        start, end = len(self), len(self) + len(keys_LGD)
        buffer = self._buffer
        if buffer is None or buffer.used != start or end > len(buffer.keys_SGD):
            grown = end + max(_LEAST_ROOM, end // _ROOM_SHARE)
            buffer = self._copied(grown if room is None else max(room, end))
        buffer.keys_SGD[start:end] = keys_LGD
        buffer.values_SGD[start:end] = values_LGD
        buffer.used = end
        return KeyValues(buffer.keys_SGD[:end], buffer.values_SGD[:end], buffer)

    def first(self, num_tokens: int) -> KeyValues:
        """Return what was remembered of the first tokens: a view."""
        return KeyValues(self.keys_PGD[:num_tokens], self.values_PGD[:num_tokens])

    def alone(self) -> KeyValues:
        """Return these in memory of their own, if they lie in that of a longer context."""
        if self.keys_PGD.untyped_storage().nbytes() == _num_bytes(self.keys_PGD):
            return self
        return KeyValues.of(self.keys_PGD, self.values_PGD)

    @property
    def num_bytes(self) -> int:
        """The memory of the keys and values, without the room behind them."""
        return _num_bytes(self.keys_PGD) + _num_bytes(self.values_PGD)

    def _copied(self, room: int) -> _Buffer:
        shape = (room, *self.keys_PGD.shape[1:])
        buffer = _Buffer(self.keys_PGD.new_empty(shape), self.values_PGD.new_empty(shape), 0)
        buffer.keys_SGD[: len(self)] = self.keys_PGD
        buffer.values_SGD[: len(self)] = self.values_PGD
        return buffer


@dataclass(frozen=True, slots=True, eq=False)
class Recurrent:
    """What one state layer remembers: row *index* of what a pass left behind for all its rows.

    Rows of one pass stay side by side, so that a later pass over the same rows can address them by
    index without gathering them.

    Attributes:
        states_IHKV: The delta rule's states, fp32; None for a layer that only convolves.
        tails_ICW: The last inputs of the causal convolution, oldest first, zeros before the start.
        index: The row.
    """

    states_IHKV: Tensor | None
    tails_ICW: Tensor
    index: int = 0

    @property
    def state_HKV(self) -> Tensor | None:
        """The delta rule's state of this row."""
        return None if self.states_IHKV is None else self.states_IHKV[self.index]

    def alone(self) -> Recurrent:
        """Return this row in memory of its own, so that the others of its pass can be let go."""
        if len(self.tails_ICW) == 1:
            return self
        own = slice(self.index, self.index + 1)
        state_1HKV = None if self.states_IHKV is None else self.states_IHKV[own].clone()
        return Recurrent(state_1HKV, self.tails_ICW[own].clone())

    @property
    def tail_CW(self) -> Tensor:
        """The convolution's last inputs of this row."""
        return self.tails_ICW[self.index]

    @property
    def num_bytes(self) -> int:
        """The memory of this row alone."""
        state = 0 if self.states_IHKV is None else _num_bytes(self.states_IHKV[0])
        return state + _num_bytes(self.tails_ICW[0])


LayerState = KeyValues | Recurrent
"""What one layer remembers."""


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """What the state layers, by their number, remembered after the first *length* tokens."""

    length: int
    layers: Mapping[int, Recurrent] = field(default_factory=dict)

    def alone(self) -> Moment:
        """Return this moment in memory of its own."""
        return Moment(self.length, {i: layer.alone() for i, layer in self.layers.items()})

    @property
    def num_bytes(self) -> int:
        """The memory that the moment holds."""
        return sum(layer.num_bytes for layer in self.layers.values())


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """What every layer remembers of the tokens read so far; empty before the first.

    A fork reads it by reference and never writes to it.
    """

    layers: tuple[LayerState, ...] = ()
    length: int = 0

    @property
    def recurrent(self) -> dict[int, Recurrent]:
        """What the state layers remember, by their number."""
        return {i: layer for i, layer in enumerate(self.layers) if isinstance(layer, Recurrent)}

    def at(self, moment: Moment) -> State:
        """Return what every layer remembered at an earlier *moment*."""
        layers = (
            layer.first(moment.length) if isinstance(layer, KeyValues) else moment.layers[index]
            for index, layer in enumerate(self.layers)
        )
        return State(tuple(layers), moment.length)

    def alone(self) -> State:
        """Return this state in memory of its own: no other row of its pass stays with it."""
        return State(tuple(layer.alone() for layer in self.layers), self.length)

    @property
    def num_bytes(self) -> int:
        """The memory that the state holds."""
        return sum(layer.num_bytes for layer in self.layers)


def _num_bytes(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()
