"""A checkpoint's heads applied to one question at a time, so that its bits are its own.

Every product runs through `deg_kernels.linear`: a question gets the same bits in any company.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from deg_kernels import linear, log_softmax
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
# R questions, Z = T + 1 outcomes, N counts

__all__ = ["SpanKeys", "SpanScores", "anchor_logits", "count_logits", "probabilities"]

_STARTS_PER_PASS = 64
_TOKENS_PER_BLOCK = 1024
_ROWS_PER_PASS = 64
_LOGITS_PER_PASS = 1 << 22


def probabilities(heads: Heads, name: str, answer_H: Tensor, options_OH: Tensor) -> Tensor:
    """Return what the decide head *name* gives each outcome; a yes-no question has no options.

    The options come as they are written: where two questions are written alike, this is the same to
    the last bit.
    """
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

    What is as long as the context is computed when it is asked for, of several questions at a time
    where they were answered together, and kept for one such batch: many questions about a long
    context never hold a score for each of its tokens each.

    Args:
        answer_H: The hidden state that answers.
        keys: The context's.
        temperature: Of the head.
        anchor: In an anchored item, the token where it starts and the one after its region.
    """

    def __init__(
        self,
        answer_H: Tensor,
        keys: SpanKeys,
        temperature: float,
        *,
        anchor: tuple[int, int] | None = None,
    ) -> None:
        self._answer_1H, self._keys, self._temperature = answer_H[None], keys, temperature
        self._anchor = anchor
        self._starts, self._row = _Starts(self._answer_1H, keys, temperature, [anchor]), 0

    @classmethod
    def each(
        cls,
        answers_RH: Tensor,
        keys: SpanKeys,
        temperature: float,
        anchors: Sequence[tuple[int, int] | None],
    ) -> list[SpanScores]:
        """Return the scores of several questions about one context."""
        starts, each = _Starts(answers_RH, keys, temperature, anchors), []
        for row, (answer_H, anchor) in enumerate(zip(answers_RH, anchors, strict=True)):
            each.append(cls(answer_H, keys, temperature, anchor=anchor))
            each[-1]._starts, each[-1]._row = starts, row
        return each

    @property
    def log_start(self) -> Tensor:
        """Log-probabilities [T] that the value starts at each token."""
        return self._starts.log_probabilities(self._row)[:-1]

    @property
    def log_null(self) -> float:
        """The log-probability that the context does not hold the value."""
        return float(self._starts.log_probabilities(self._row)[-1])

    def log_end(self, starts: Sequence[int]) -> Tensor:
        """Return log-probabilities [S, W] of spans of 1 to W tokens given their start.

        W is `MAX_SPAN_TOKENS`, or T where the context is shorter; -inf lies past its last token.
        """
        passes = range(0, max(len(starts), 1), _STARTS_PER_PASS)
        return torch.cat([self._log_end(starts[i : i + _STARTS_PER_PASS]) for i in passes])

    def _log_end(self, starts: Sequence[int]) -> Tensor:
        keys, head = self._keys, self._keys.head
        num_tokens, width = keys.num_tokens, min(MAX_SPAN_TOKENS, keys.num_tokens)
        device = self._answer_1H.device
        starts_S = torch.tensor(list(starts), dtype=torch.long, device=device)
        given_SD = linear(keys.features_TK[starts_S], head.end_given_start.weight)
        query_SD = linear(self._answer_1H, head.end_query.weight) + given_SD
        ends_SW = starts_S[:, None] + torch.arange(width, device=device)
        keys_SWD = keys.end_TD[ends_SW.clamp(max=num_tokens - 1)]
        # a sum over each pair alone: a matrix product would give it other bits in other company
        match_SW = (keys_SWD * query_SD[:, None]).sum(-1) / SCORE_DIVISOR
        logits_SW = match_SW + head.distance_bias[:width]
        if self._anchor is not None:
            logits_SW = logits_SW + anchor_bias_of(head.anchor_bias[1], ends_SW, *self._anchor)
        logits_SW = logits_SW.masked_fill(ends_SW >= num_tokens, float("-inf"))
        return (logits_SW / self._temperature).log_softmax(-1).cpu()


class _Starts:
    """Where the values of several questions about one context start, of some at a time."""

    def __init__(
        self,
        answers_RH: Tensor,
        keys: SpanKeys,
        temperature: float,
        anchors: Sequence[tuple[int, int] | None],
    ) -> None:
        self._answers_RH, self._keys, self._temperature = answers_RH, keys, temperature
        self._anchors = list(anchors)
        self._num_at_a_time = max(1, min(_ROWS_PER_PASS, _LOGITS_PER_PASS // (keys.num_tokens + 1)))
        self._first, self._held_RZ = -1, answers_RH[:0]

    def log_probabilities(self, row: int) -> Tensor:
        """Return the log-probabilities [Z] of a start at each token and, last, of null."""
        first = row - row % self._num_at_a_time
        if first != self._first:
            self._first, self._held_RZ = first, self._computed(first, first + self._num_at_a_time)
        return self._held_RZ[row - first]

    def _computed(self, first: int, end: int) -> Tensor:
        keys, head, answers_RH = self._keys, self._keys.head, self._answers_RH[first:end]
        match_RT = linear(linear(answers_RH, head.start_query.weight), keys.start_TD)
        match_RT /= SCORE_DIVISOR
        tokens_T = torch.arange(keys.num_tokens, device=answers_RH.device)
        for match_T, anchor in zip(match_RT, self._anchors[first:end], strict=True):
            if anchor is not None:
                match_T += anchor_bias_of(head.anchor_bias[0], tokens_T, *anchor)
        null_R1 = linear(answers_RH, head.null.weight, head.null.bias)
        logits_RZ = torch.cat([match_RT, null_R1], dim=-1)
        # what is decoded is looked at number by number: on the host
        return log_softmax(logits_RZ / self._temperature).cpu()


def _option_logits(head: OptionHead, answer_H: Tensor, options_OH: Tensor) -> Tensor:
    keys_OD = linear(options_OH, head.key.weight)
    query_1D = linear(answer_H[None], head.query.weight)
    match_O = linear(query_1D, keys_OD)[0] / SCORE_DIVISOR
    return match_O + linear(options_OH, head.prior.weight)[:, 0]
