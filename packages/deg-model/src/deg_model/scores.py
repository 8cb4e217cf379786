"""A checkpoint's heads applied to one question at a time, so that its bits are its own.

Every product runs through `deg_kernels.linear`: a question gets the same bits in any company.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from deg_kernels import linear
from deg_model.features import TapFeatures
from deg_model.heads import (
    MAX_SPAN_TOKENS,
    SCORE_DIVISOR,
    AnchorHead,
    Heads,
    OptionHead,
    SpanHead,
    anchor_bias_of,
)

# T context tokens, S starts, W span lengths, O options, H hidden, K features, D = 256
# Z = T + 1 outcomes, N counts

__all__ = ["SpanKeys", "SpanScores", "anchor_logits", "count_logits", "probabilities"]

_STARTS_PER_PASS = 64
_TOKENS_PER_BLOCK = 1024


def probabilities(heads: Heads, name: str, answer_H: Tensor, options_OH: Tensor) -> Tensor:
    """Return what the decide head *name* gives each outcome; a yes-no question has no options."""
    if name == "noul":
        yes = heads.noul.yes
        yes_11 = linear(answer_H[None], yes.weight, yes.bias)
        logits_O = torch.cat([yes_11[0], yes_11.new_zeros(1)])
    else:
        logits_O = _option_logits(
            heads.choice if name == "choice" else heads.score, answer_H, options_OH
        )
    return (logits_O / heads.temperature(name)).softmax(-1)


def count_logits(heads: Heads, answer_H: Tensor) -> Tensor:
    """Return what the count head gives each number of items, logits [N]."""
    counts = heads.count.counts
    return linear(answer_H[None], counts.weight, counts.bias)[0]


def anchor_logits(answer_H: Tensor, keys: SpanKeys) -> Tensor:
    """Return what the anchor head gives each context token, logits [T]."""
    head = keys.anchor_head
    match_1T = linear(linear(answer_H[None], head.query.weight), keys.anchor_TD)
    return match_1T[0] / SCORE_DIVISOR + keys.anchor_prior_T + head.bias


class SpanKeys:
    """The tokens of a context as places where spans start and end, and where items start.

    Keys are computed when a question first needs them, from a block of tokens at a time.

    Args:
        features_TK: What the heads read of each context token.
        head: The span head.
        anchor_head: The anchor head.
    """

    def __init__(
        self, features_TK: Tensor | TapFeatures, head: SpanHead, anchor_head: AnchorHead
    ) -> None:
        self.features_TK, self.head, self.anchor_head = features_TK, head, anchor_head

    @property
    def num_tokens(self) -> int:
        """How many tokens the context has."""
        return len(self.features_TK)

    @cached_property
    def start_TD(self) -> Tensor:
        """Keys of possible span starts."""
        return self._projected(self.head.start_key.weight)

    @cached_property
    def end_TD(self) -> Tensor:
        """Keys of possible span ends."""
        return self._projected(self.head.end_key.weight)

    @cached_property
    def anchor_TD(self) -> Tensor:
        """Keys of possible item starts."""
        return self._projected(self.anchor_head.key.weight)

    @cached_property
    def anchor_prior_T(self) -> Tensor:
        """How much each token looks like an item's start, whatever is asked."""
        return self._projected(self.anchor_head.prior.weight)[:, 0]

    @property
    def num_bytes(self) -> int:
        """The memory of the features, and of all keys once they are computed."""
        kept = self.features_TK
        kept = kept.taps_NTH if isinstance(kept, TapFeatures) else kept
        computed = self.num_tokens * (3 * len(self.head.start_key.weight) + 1)
        return kept.numel() * kept.element_size() + computed * torch.float32.itemsize

    def _projected(self, weight_DK: Tensor) -> Tensor:
        keys_TD = weight_DK.new_empty(self.num_tokens, len(weight_DK))
        for start in range(0, self.num_tokens, _TOKENS_PER_BLOCK):
            block = slice(start, start + _TOKENS_PER_BLOCK)
            keys_TD[block] = linear(self.features_TK[block], weight_DK)
        return keys_TD


class SpanScores:
    """One extract question's scores over the tokens of a context.

    Args:
        answer_H: The hidden state that answers.
        keys: The context's.
        temperature: Of the head.
        anchor: In an anchored item, the token where it starts and the one after its region.

    Attributes:
        log_start: Log-probabilities [T] that the value starts at each token.
        log_null: The log-probability that the context does not hold the value.
    """

    def __init__(
        self,
        answer_H: Tensor,
        keys: SpanKeys,
        temperature: float,
        *,
        anchor: tuple[int, int] | None = None,
    ) -> None:
        self._anchor = anchor
        self._answer_1H, self._keys, self._temperature = answer_H[None], keys, temperature
        head = keys.head
        match_1T = linear(linear(self._answer_1H, head.start_query.weight), keys.start_TD)
        null_11 = linear(self._answer_1H, head.null.weight, head.null.bias)
        match_1T = match_1T / SCORE_DIVISOR
        if anchor is not None:
            tokens_T = torch.arange(keys.num_tokens)
            match_1T = match_1T + anchor_bias_of(head.anchor_bias[0], tokens_T, *anchor)
        logits_Z = torch.cat([match_1T, null_11], dim=-1)[0]
        log_Z = (logits_Z / temperature).log_softmax(-1)
        self.log_start = log_Z[:-1]
        self.log_null = float(log_Z[-1])

    def log_end(self, starts: Sequence[int]) -> Tensor:
        """Return log-probabilities [S, W] of spans of 1 to W tokens given their start.

        W is `MAX_SPAN_TOKENS`, or T where the context is shorter; -inf lies past its last token.
        """
        passes = range(0, max(len(starts), 1), _STARTS_PER_PASS)
        return torch.cat([self._log_end(starts[i : i + _STARTS_PER_PASS]) for i in passes])

    def _log_end(self, starts: Sequence[int]) -> Tensor:
        keys, head = self._keys, self._keys.head
        num_tokens, width = keys.num_tokens, min(MAX_SPAN_TOKENS, keys.num_tokens)
        starts_S = torch.tensor(list(starts), dtype=torch.long)
        given_SD = linear(keys.features_TK[starts_S], head.end_given_start.weight)
        query_SD = linear(self._answer_1H, head.end_query.weight) + given_SD
        ends_SW = starts_S[:, None] + torch.arange(width)
        keys_SWD = keys.end_TD[ends_SW.clamp(max=num_tokens - 1)]
        # a sum over each pair alone: a matrix product would give it other bits in other company
        match_SW = (keys_SWD * query_SD[:, None]).sum(-1) / SCORE_DIVISOR
        logits_SW = match_SW + head.distance_bias[:width]
        if self._anchor is not None:
            logits_SW = logits_SW + anchor_bias_of(head.anchor_bias[1], ends_SW, *self._anchor)
        logits_SW = logits_SW.masked_fill(ends_SW >= num_tokens, float("-inf"))
        return (logits_SW / self._temperature).log_softmax(-1)


def _option_logits(head: OptionHead, answer_H: Tensor, options_OH: Tensor) -> Tensor:
    keys_OD = linear(options_OH, head.key.weight)
    query_1D = linear(answer_H[None], head.query.weight)
    match_O = linear(query_1D, keys_OD)[0] / SCORE_DIVISOR
    return match_O + linear(options_OH, head.prior.weight)[:, 0]
