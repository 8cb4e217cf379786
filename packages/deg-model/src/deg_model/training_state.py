"""What forks, and later chunks, continue of the padded contexts of a training batch.

It is `State` for whole batches and with gradients: chunks that were read one after another stay
separate pieces, so that a chunk which is computed again finds those before it as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

# B contexts, T tokens of a context, G key/value heads, D head size, C channels, L inputs of a tail
# J state heads, K key size, V value size

__all__ = ["Pieces", "TrainingState"]

Pieces = tuple[Tensor, ...]
"""Keys or values [B, G, T, D] of one layer: those of each chunk of tokens, in order."""


@dataclass(frozen=True, slots=True)
class TrainingState:
    """What each layer, by its number, remembers of B padded contexts.

    Attributes:
        num_tokens: T, the padded tokens that were read of each context.
        keys: Rotated keys of the attention layers.
        values: Their values.
        tails: Of the state layers, the last inputs [B, L, C] of the convolution at each context's
            real end.
        states: The delta rule's states [B, J, K, V] there, fp32.
    """

    num_tokens: int = 0
    keys: dict[int, Pieces] = field(default_factory=dict)
    values: dict[int, Pieces] = field(default_factory=dict)
    tails: dict[int, Tensor] = field(default_factory=dict)
    states: dict[int, Tensor] = field(default_factory=dict)

    def joined(self) -> TrainingState:
        """Return this state with the pieces of each layer as one."""
        return TrainingState(
            self.num_tokens,
            {layer: (joined(pieces),) for layer, pieces in self.keys.items()},
            {layer: (joined(pieces),) for layer, pieces in self.values.items()},
            self.tails,
            self.states,
        )

    def mapped(self, change: Callable[[Tensor], Tensor]) -> TrainingState:
        """Return this state with every tensor changed."""
        return TrainingState(
            self.num_tokens,
            {layer: tuple(map(change, pieces)) for layer, pieces in self.keys.items()},
            {layer: tuple(map(change, pieces)) for layer, pieces in self.values.items()},
            {layer: change(tail) for layer, tail in self.tails.items()},
            {layer: change(state) for layer, state in self.states.items()},
        )


def joined(pieces: Pieces) -> Tensor:
    """Return the keys or values [B, G, T, D] of all chunks."""
    return pieces[0] if len(pieces) == 1 else torch.cat(pieces, dim=2)
