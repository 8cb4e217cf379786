"""Texts that keep to their limits: which tokens may come next, so that a valid end stays in reach.

A token may come next if the text with it can still be brought to a valid end by the tokens that are
left. Some token then always may, and a text is valid when its tokens are used up, or earlier.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

from deg_runtime.alphabet import DEAD, FAR
from deg_runtime.automaton import read_automaton
from deg_runtime.distances import Distances, Language
from deg_runtime.pattern_tree import UnwritablePattern
from deg_runtime.token_tree import Vocabulary
from deg_schema import Constraints

# V tokens, M nodes of a token tree, F its leaves

__all__ = ["Draft", "UnwritableText"]


class UnwritableText(ValueError):
    """No text within the budget keeps to the limits."""


class Draft:
    """A text while it is written.

    Args:
        limits: What the text must satisfy.
        budget: The most tokens, the one that ends the text included.
        vocabulary: The tokens.

    Attributes:
        text: What was written so far; it may break off inside a character.
        num_tokens: How many tokens were added, the one that ends the text included.
        is_over: Whether nothing may be added any more.

    Raises:
        UnwritableText: No valid text fits the budget, or the pattern is none that can be written.
    """

    def __init__(self, limits: Constraints, budget: int, vocabulary: Vocabulary) -> None:
        self._vocabulary, self._budget = vocabulary, budget
        self._least = limits.min_length or 0
        try:
            self._language = _language(vocabulary, limits.pattern or "")
        except UnwritablePattern as error:
            raise UnwritableText(
                f"no text can be written for the pattern {limits.pattern!r}: {error}"
            ) from error
        self._distances = self._measure(limits.max_length)
        self._state = self._place = self._num_chars = 0
        self.text, self.num_tokens, self.is_over = b"", 0, False

    @property
    def is_whole(self) -> bool:
        """Whether the text ends between two characters."""
        return self._place == 0

    def admits(self, token: int) -> bool:
        """Say whether *token* may come next."""
        if token == self._vocabulary.end:
            return self._may_end()
        after = self._after(token)
        left = self._budget - self.num_tokens - 1
        return after is not None and self._distances.at(*after) <= left

    def admitted_V(self) -> Tensor:
        """Return for each token whether it may come next."""
        language, distances = self._language, self._distances
        tree = language.tree(self._place)
        states_F = language.ends_M(self._state, self._place)[tree.leaf_nodes_F]
        counts_F = tree.depths_M[tree.leaf_nodes_F] + self._num_chars
        left_F = distances.table_LS[distances.level(counts_F), states_F]
        inside = tree.inside_F
        left_F[inside] = distances.inside(
            states_F[inside], tree.leaf_places_F[inside], counts_F[inside]
        )
        fits_F = left_F <= self._budget - self.num_tokens - 1
        admitted_V = torch.cat([fits_F, fits_F.new_zeros(1)])[tree.leaf_of_V]
        admitted_V[self._vocabulary.end] = self._may_end()
        return admitted_V

    def add(self, token: int) -> None:
        """Write *token*, which is admitted."""
        self.num_tokens += 1
        self.is_over = token == self._vocabulary.end or self.num_tokens == self._budget
        if token == self._vocabulary.end:
            return
        after, spelled = self._after(token), self._vocabulary.token_bytes[token]
        assert after is not None
        assert spelled is not None
        self._state, self._place, self._num_chars = after
        self.text += spelled

    def _measure(self, most: int | None) -> Distances:
        language, budget = self._language, self._budget
        in_reach = budget * language.longest
        if most is not None and most >= in_reach:
            most = None
        if self._least > in_reach:
            raise _too_long(-(-self._least // max(language.longest, 1)), budget)
        distances = _distances(language, self._least, most)
        if (shortest := distances.at(0, 0, 0)) >= FAR:
            raise UnwritableText("no tokens of this model spell a text that keeps to the limits")
        if shortest > budget:
            raise _too_long(shortest, budget)
        return distances

    def _may_end(self) -> bool:
        if self._place or self._num_chars < self._least:
            return False
        return self._language.automaton.accepts[self._state]

    def _after(self, token: int) -> tuple[int, int, int] | None:
        """Return state, place and number of characters after *token*."""
        spelled = self._vocabulary.token_bytes[token]
        if spelled is None:
            return None
        bytes_after, steps = self._language.alphabet.bytes_after, self._language.automaton.steps
        state, place, count = self._state, self._place, self._num_chars
        for byte in spelled:
            target = bytes_after[place][byte]
            if target == DEAD:
                return None
            if target < DEAD:
                state, count = steps[state][-2 - target], count + 1
            place = max(target, 0)
        return state, place, count


def _too_long(shortest: int, budget: int) -> UnwritableText:
    return UnwritableText(
        f"a valid text takes at least {shortest} tokens, and {budget} are allowed: raise "
        "'x-max-tokens' or the option 'max_new_tokens', or relax the limits"
    )


@lru_cache(maxsize=32)
def _language(vocabulary: Vocabulary, pattern: str) -> Language:
    return Language(read_automaton(pattern), vocabulary)


@lru_cache(maxsize=32)
def _distances(language: Language, least: int, most: int | None) -> Distances:
    return Distances(language, least, most)
