"""How many tokens a text needs at least before it may end, from any state of its automaton."""

from __future__ import annotations

import torch
from torch import Tensor

from deg_runtime.alphabet import FAR, Alphabet
from deg_runtime.automaton import Automaton
from deg_runtime.token_tree import TokenTree, Vocabulary

# S states, the last of them dead; C classes, P places inside a character, M nodes, F leaves
# E ways from a state to another, R states at a time, W nodes where a token ends
# L numbers of characters that a text may have, as far as they are told apart

__all__ = ["Distances", "Language"]

_NODES_AT_A_TIME = 1 << 21
_MOST_ENDS = 256
_FEWER_FIRST = 1 << 24


class Language:
    """A pattern over a vocabulary: which tokens lead from which state to which.

    Attributes:
        steps_SC: The automaton's, with one more state that none leaves.
        accepts_S: Whether a text may end in each state.
        spelling_PC: How many tokens of one byte lead from a place inside a character to the end of
            one of each class.
        longest: The most characters that a token spells.
    """

    def __init__(self, automaton: Automaton, vocabulary: Vocabulary) -> None:
        self.automaton, self.vocabulary = automaton, vocabulary
        self.alphabet: Alphabet = automaton.alphabet
        num_states = len(automaton.steps)
        dead = [num_states] * len(self.alphabet)
        self.steps_SC = torch.tensor([*automaton.steps, dead])
        self.accepts_S = torch.tensor([*automaton.accepts, False])
        self.spelling_PC = self.alphabet.distances_PC(vocabulary.single_bytes)
        self._trees: dict[int, TokenTree] = {}
        self._ends: dict[tuple[int, int], Tensor] = {}
        self.sources_E, self.targets_E, self.chars_E, self.costs_E = self._ways()
        self.longest = int(self.chars_E.max()) if len(self.chars_E) else 0

    def ends_M(self, state: int, place: int) -> Tensor:
        """Return the state at each node of the tree at *place*, whose root is in *state*."""
        key = (state, place)
        if key not in self._ends:
            if len(self._ends) >= _MOST_ENDS:
                del self._ends[next(iter(self._ends))]
            self._ends[key] = self.tree(place).walk(self.steps_SC, torch.tensor([state]))[0]
        return self._ends[key]

    def tree(self, place: int) -> TokenTree:
        """Return the tree of the tokens that may follow at *place* inside a character."""
        if place not in self._trees:
            self._trees[place] = TokenTree(self.vocabulary, self.alphabet, place)
        return self._trees[place]

    def _ways(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return every way to another state by whole characters: its ends, length and tokens."""
        num_states, num_classes = self.steps_SC.shape
        spelled_C = self.spelling_PC[0]
        sources = torch.arange(num_states).repeat_interleave(num_classes)
        parts = [(sources, self.steps_SC.view(-1), torch.ones_like(sources))]
        costs = [spelled_C.repeat(num_states)]
        tree = self.tree(0)
        whole = tree.leaf_nodes_F[tree.leaf_places_F == 0].unique()
        depths_W, most = tree.depths_M[whole], int(tree.depths_M.max()) + 1
        at_a_time = max(_NODES_AT_A_TIME // len(tree.depths_M), 1)
        for states_R in torch.split(torch.arange(num_states), at_a_time):
            ends_RW = tree.walk(self.steps_SC, states_R)[:, whole]
            keys = ((states_R[:, None] * most + depths_W) * num_states + ends_RW).unique()  # type: ignore[no-untyped-call]
            ways = keys // num_states
            parts.append((ways // most, keys % num_states, ways % most))
            costs.append(torch.ones_like(keys))
        source, target, chars = (torch.cat(column) for column in zip(*parts, strict=True))
        cost = torch.cat(costs)
        is_way = (cost < FAR) & (target != num_states - 1)
        return source[is_way], target[is_way], chars[is_way], cost[is_way]


class Distances:
    """The fewest tokens to a valid end, for a language and limits on the number of characters.

    Args:
        language: The language.
        least: The fewest characters.
        most: The most; None is no limit.
    """

    def __init__(self, language: Language, least: int, most: int | None) -> None:
        self._language, self._least = language, least
        free_S, reach = self._without_limits()
        self._most = most if most is not None else FAR
        # where the limits are far from each other there is a middle in which neither matters
        has_middle = self._most - least >= reach + language.longest
        self._high = self._most - reach if has_middle else least
        if most is None:
            self._high = FAR
        num_levels = least + 1 + (0 if most is None else most - self._high)
        self.table_LS = torch.full((num_levels + 1, len(free_S)), FAR, dtype=torch.int32)
        above = range(self._most, self._high, -1) if most is not None else ()
        for count in above:
            self._fill(count)
        if has_middle:
            self.table_LS[least] = free_S
        else:
            self._fill(least)
        for count in range(least - 1, -1, -1):
            self._fill(count)

    def level(self, count: Tensor) -> Tensor:
        """Return the row of the table for texts of *count* characters."""
        level = count.clamp(max=self._least) + (count - self._high).clamp(min=0)
        return level.masked_fill_(count > self._most, len(self.table_LS) - 1)

    def at(self, state: int, place: int, count: int) -> int:
        """Return the fewest tokens from one state, at *place* inside a character."""
        counts = torch.tensor([count])
        if not place:
            return int(self.table_LS[self.level(counts), state])
        states, places = torch.tensor([state]), torch.tensor([place])
        return int(self.inside(states, places, counts))

    def inside(self, states_F: Tensor, places_F: Tensor, counts_F: Tensor) -> Tensor:
        """Return the fewest tokens from inside a character, finished by tokens of one byte."""
        after_FC = self._language.steps_SC[states_F]
        rest_FC = self.table_LS[self.level(counts_F + 1)[:, None], after_FC]
        return (self._language.spelling_PC[places_F] + rest_FC).amin(-1).clamp(max=FAR)

    def _fill(self, count: int) -> None:
        language = self._language
        level = int(self.level(torch.tensor([count])))
        row_S = self.table_LS[level]
        rest_E = self.table_LS[self.level(language.chars_E + count), language.targets_E]
        row_S.scatter_reduce_(0, language.sources_E, (rest_E + language.costs_E).int(), "amin")
        row_S.clamp_(max=FAR)
        if count >= self._least:
            row_S[language.accepts_S] = 0

    def _without_limits(self) -> tuple[Tensor, int]:
        """Return the distances without limits, and the most characters that one of them takes."""
        language = self._language
        costs_E = language.costs_E * _FEWER_FIRST + language.chars_E
        far = FAR * _FEWER_FIRST // 2
        best_S = torch.where(language.accepts_S, 0, far)
        while True:
            next_S = best_S.scatter_reduce(
                0, language.sources_E, costs_E + best_S[language.targets_E], "amin"
            )
            if torch.equal(next_S, best_S):
                break
            best_S = next_S
        is_near = best_S < far // 2
        reach = int((best_S[is_near] % _FEWER_FIRST).max()) if bool(is_near.any()) else 0
        return torch.where(is_near, best_S // _FEWER_FIRST, FAR), reach
