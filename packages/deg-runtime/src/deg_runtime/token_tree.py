"""A vocabulary as a tree of the characters that its tokens spell, told apart by class alone.

Tokens that spell characters of the same classes stand at the same node, so an automaton walks a few
thousand nodes instead of a vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor

from deg_runtime.alphabet import DEAD, Alphabet

# V tokens, M nodes, F leaves, S states, C classes, R rows

__all__ = ["TokenTree", "Vocabulary"]


class Vocabulary:
    """What each token of a model spells.

    Args:
        token_bytes: By the tokens' numbers; None for those that are no part of a text.
        end: The token that ends a text.
        size: How many tokens the model tells apart; there may be more than are spelled.
    """

    def __init__(self, token_bytes: Sequence[bytes | None], end: int, size: int) -> None:
        padded = [*token_bytes, *[None] * (size - len(token_bytes))][:size]
        self.token_bytes, self.end = padded, end
        texts = [text or b"" for text in padded]
        self.lengths_V = torch.tensor([len(text) for text in texts])
        self.offsets_V = torch.tensor([0, *accumulate(map(len, texts))][:-1])
        self.spelled = torch.frombuffer(bytearray(b"".join(texts)), dtype=torch.uint8)
        self.single_bytes = frozenset(text[0] for text in texts if len(text) == 1)

    def __len__(self) -> int:
        return len(self.token_bytes)


class TokenTree:
    """The tokens of *vocabulary* that may follow at *place* inside a character.

    Attributes:
        depths_M: How many characters end on the way to each node; node 0 is the root.
        leaf_nodes_F: Where each kind of token ends.
        leaf_places_F: The place inside a further character that it breaks off at, mostly 0.
        inside_F: Those of the kinds that break off inside a character.
        leaf_of_V: The kind of each token; F for those that spell nothing that could follow.
    """

    def __init__(self, vocabulary: Vocabulary, alphabet: Alphabet, place: int) -> None:
        self._parents, self._classes = [torch.tensor([0])], [torch.tensor([0])]
        self._depths = [torch.tensor([0])]
        self._num_nodes = 1
        self.leaf_of_V = torch.full((len(vocabulary),), -1)
        leaves = self._grow(vocabulary, alphabet, place)
        num_places = len(alphabet.bytes_after)
        keys = torch.cat([nodes * num_places + places for _, nodes, places in leaves])
        kinds_F, kind_of = torch.unique(keys, return_inverse=True)
        self.leaf_of_V[torch.cat([tokens for tokens, _, _ in leaves])] = kind_of
        self.leaf_of_V[self.leaf_of_V < 0] = len(kinds_F)
        self.leaf_nodes_F = kinds_F // num_places
        self.leaf_places_F = kinds_F % num_places
        self.inside_F = self.leaf_places_F.nonzero()[:, 0]
        self.parents_M, self.classes_M = torch.cat(self._parents), torch.cat(self._classes)
        self.depths_M = torch.cat(self._depths)
        self._levels = [
            (nodes, self.parents_M[nodes], self.classes_M[nodes])
            for depth in range(1, int(self.depths_M.max()) + 1)
            if len(nodes := (self.depths_M == depth).nonzero()[:, 0])
        ]

    def walk(self, steps_SC: Tensor, states_R: Tensor) -> Tensor:
        """Return the state [R, M] at each node for an automaton that is in *states* at the root."""
        states_MR = states_R.new_empty(self._num_nodes, len(states_R))
        states_MR[0] = states_R
        flat_steps, num_classes = steps_SC.view(-1), steps_SC.shape[1]
        for nodes, parents, classes in self._levels:
            states_MR[nodes] = flat_steps[states_MR[parents] * num_classes + classes[:, None]]
        return states_MR.T

    def _grow(
        self, vocabulary: Vocabulary, alphabet: Alphabet, place: int
    ) -> list[tuple[Tensor, Tensor, Tensor]]:
        """Read all tokens byte by byte; return those that end well, with their nodes and places."""
        tokens = vocabulary.lengths_V.nonzero()[:, 0]
        nodes, places = torch.zeros_like(tokens), torch.full_like(tokens, place)
        leaves = []
        for position in range(int(vocabulary.lengths_V.max())):
            after = self._byte(vocabulary, alphabet, tokens, places, position)
            is_alive = after != DEAD
            tokens, nodes, after = tokens[is_alive], nodes[is_alive], after[is_alive]
            nodes = self._children(nodes, after, len(alphabet))
            places = after.clamp(min=0)
            ends = vocabulary.lengths_V[tokens] == position + 1
            leaves.append((tokens[ends], nodes[ends], places[ends]))
            tokens, nodes, places = tokens[~ends], nodes[~ends], places[~ends]
        return leaves

    def _byte(
        self,
        vocabulary: Vocabulary,
        alphabet: Alphabet,
        tokens: Tensor,
        places: Tensor,
        position: int,
    ) -> Tensor:
        spelled = vocabulary.spelled[vocabulary.offsets_V[tokens] + position].long()
        return alphabet.table_PB[places, spelled]

    def _children(self, nodes: Tensor, after: Tensor, num_classes: int) -> Tensor:
        """Return the nodes after a byte; where a character ends it is a new one."""
        is_whole = after < DEAD
        keys = nodes[is_whole] * num_classes + (-2 - after[is_whole])
        children, child_of = torch.unique(keys, return_inverse=True)
        parents = children // num_classes
        self._parents.append(parents)
        self._classes.append(children % num_classes)
        self._depths.append(torch.cat(self._depths)[parents] + 1)
        nodes = nodes.clone()
        nodes[is_whole] = self._num_nodes + child_of
        self._num_nodes += len(children)
        return nodes
