"""A checkpoint's heads applied to one question at a time, so that its bits are its own.

Every product runs through `deg_kernels.linear`: a question gets the same bits in any company.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor

from deg_kernels import linear
from deg_model.heads import MAX_SPAN_TOKENS, SCORE_DIVISOR, Heads, OptionHead, SpanHead

# T context tokens, S starts, W span lengths, O options, H hidden, K features, D = 256
# Z = T + 1 outcomes

__all__ = ["SpanKeys", "SpanScores", "probabilities"]

_STARTS_PER_PASS = 64


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


class SpanKeys:
    """The tokens of a context as places where spans start and end.

    Args:
        features_TK: What the heads read of each context token.
        head: The span head.
    """

    def __init__(self, features_TK: Tensor, head: SpanHead) -> None:
        self.features_TK, self.head = features_TK, head

    @property
    def num_tokens(self) -> int:
        """How many tokens the context has."""
        return len(self.features_TK)

    @cached_property
    def start_TD(self) -> Tensor:
        """Keys of possible span starts."""
        return linear(self.features_TK, self.head.start_key.weight)

    @cached_property
    def end_TD(self) -> Tensor:
        """Keys of possible span ends."""
        return linear(self.features_TK, self.head.end_key.weight)


class SpanScores:
    """One extract question's scores over the tokens of a context.

    Attributes:
        log_start: Log-probabilities [T] that the value starts at each token.
        log_null: The log-probability that the context does not hold the value.
    """

    def __init__(self, answer_H: Tensor, keys: SpanKeys, temperature: float) -> None:
        self._answer_1H, self._keys, self._temperature = answer_H[None], keys, temperature
        head = keys.head
        match_1T = linear(linear(self._answer_1H, head.start_query.weight), keys.start_TD)
        null_11 = linear(self._answer_1H, head.null.weight, head.null.bias)
        logits_Z = torch.cat([match_1T / SCORE_DIVISOR, null_11], dim=-1)[0]
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
        logits_SW = logits_SW.masked_fill(ends_SW >= num_tokens, float("-inf"))
        return (logits_SW / self._temperature).log_softmax(-1)


def _option_logits(head: OptionHead, answer_H: Tensor, options_OH: Tensor) -> Tensor:
    keys_OD = linear(options_OH, head.key.weight)
    query_1D = linear(answer_H[None], head.query.weight)
    match_O = linear(query_1D, keys_OD)[0] / SCORE_DIVISOR
    return match_O + linear(options_OH, head.prior.weight)[:, 0]
