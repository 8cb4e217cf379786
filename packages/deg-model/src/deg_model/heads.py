"""The heads that turn hidden states into answers, all in fp32 (contract 12.3).

A count head and an anchor head join here when arrays do; each is one more small module.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

# R questions, O options, S spans, T context tokens, H hidden, K tapped features, D = 256

__all__ = [
    "HEAD_NAMES",
    "MAX_SPAN_TOKENS",
    "SCORE_DIVISOR",
    "Heads",
    "OptionHead",
    "SpanHead",
    "YesNoHead",
]

HEAD_NAMES = ("choice", "score", "noul", "extract")
MAX_SPAN_TOKENS = 128
_WIDTH = 256
SCORE_DIVISOR = math.sqrt(_WIDTH)


class OptionHead(nn.Module):
    """Scores option lines against the answer: `q(a) . k(o) / sqrt(256) + u . o`."""

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.query = nn.Linear(hidden_size, _WIDTH, bias=False)
        self.key = nn.Linear(hidden_size, _WIDTH, bias=False)
        self.prior = nn.Linear(hidden_size, 1, bias=False)

    def forward(self, answer_RH: Tensor, options_ROH: Tensor) -> Tensor:
        """Return logits [R, O]."""
        query_RD, key_ROD = self.query(answer_RH), self.key(options_ROH)
        match_RO: Tensor = (key_ROD * query_RD[:, None]).sum(-1) / SCORE_DIVISOR
        prior_RO: Tensor = self.prior(options_ROH)[..., 0]
        return match_RO + prior_RO


class YesNoHead(nn.Module):
    """Scores a yes: `w . a + b`, against 0 for a no."""

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.yes = nn.Linear(hidden_size, 1)

    def forward(self, answer_RH: Tensor) -> Tensor:
        """Return logits [R, 2], yes first."""
        yes_R1: Tensor = self.yes(answer_RH)
        return torch.cat([yes_R1, torch.zeros_like(yes_R1)], dim=-1)


class SpanHead(nn.Module):
    """Points at the start of a span or at null, then at its end given the start.

    The keys read the context's hidden states after several layers, so that the pointer sees both
    the surface of a token and what it means. The end adds what the start token looks like to its
    query, and a learned bias on the distance from it.
    """

    def __init__(self, hidden_size: int, feature_size: int) -> None:
        super().__init__()
        self.start_query = nn.Linear(hidden_size, _WIDTH, bias=False)
        self.start_key = nn.Linear(feature_size, _WIDTH, bias=False)
        self.end_query = nn.Linear(hidden_size, _WIDTH, bias=False)
        self.end_given_start = nn.Linear(feature_size, _WIDTH, bias=False)
        self.end_key = nn.Linear(feature_size, _WIDTH, bias=False)
        self.null = nn.Linear(hidden_size, 1)
        self.distance_bias = nn.Parameter(torch.zeros(MAX_SPAN_TOKENS))

    def start(self, answer_RH: Tensor, keys_RTD: Tensor) -> Tensor:
        """Return logits [R, T + 1] over start tokens, null last; *keys* from `start_key`."""
        query_RD = self.start_query(answer_RH)
        match_RT = (keys_RTD @ query_RD[:, :, None])[..., 0] / SCORE_DIVISOR
        return torch.cat([match_RT, self.null(answer_RH)], dim=-1)

    def end(
        self, answer_SH: Tensor, start_features_SK: Tensor, starts_S: Tensor, keys_STD: Tensor
    ) -> Tensor:
        """Return logits [S, T] over end tokens of spans that begin at *starts*; -inf outside."""
        query_SD = self.end_query(answer_SH) + self.end_given_start(start_features_SK)
        match_ST: Tensor = (keys_STD @ query_SD[:, :, None])[..., 0] / SCORE_DIVISOR
        return match_ST + self.end_bias(starts_S, keys_STD.shape[-2])

    def end_bias(self, starts_S: Tensor, num_tokens: int) -> Tensor:
        """Return the bias [S, T] of each end token on its distance from the start; -inf outside."""
        distance_ST = torch.arange(num_tokens)[None] - starts_S[:, None]
        inside_ST = (distance_ST >= 0) & (distance_ST < MAX_SPAN_TOKENS)
        bias_ST = self.distance_bias[distance_ST.clamp(0, MAX_SPAN_TOKENS - 1)]
        return bias_ST.masked_fill(~inside_ST, float("-inf"))


class Heads(nn.Module):
    """Every head of a checkpoint, with one calibration temperature each."""

    def __init__(self, hidden_size: int, feature_size: int) -> None:
        super().__init__()
        self.choice = OptionHead(hidden_size)
        self.score = OptionHead(hidden_size)
        self.noul = YesNoHead(hidden_size)
        self.extract = SpanHead(hidden_size, feature_size)
        self.register_buffer("temperatures", torch.ones(len(HEAD_NAMES)))

    def temperature(self, head: str) -> float:
        """Return what the logits of *head* are divided by."""
        assert isinstance(self.temperatures, Tensor)
        return float(self.temperatures[HEAD_NAMES.index(head)])
