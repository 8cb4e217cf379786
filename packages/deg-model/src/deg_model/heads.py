"""The heads that turn hidden states into answers, all in fp32 (contract 12.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

# R questions, O options, S spans, T context tokens, H hidden, K tapped features, D = 256
# N = MAX_COUNT + 1 counts

__all__ = [
    "HEAD_NAMES",
    "MAX_COUNT",
    "MAX_SPAN_TOKENS",
    "SCORE_DIVISOR",
    "AnchorHead",
    "CountHead",
    "Heads",
    "OptionHead",
    "SpanHead",
    "YesNoHead",
    "anchor_bias_of",
    "load_heads",
]

HEAD_NAMES = ("choice", "score", "noul", "extract")
"""The heads that have a temperature."""

MAX_COUNT = 64
"""The most items that the count head tells apart: its last outcome is this many, or more."""

MAX_SPAN_TOKENS = 128
_WIDTH = 256
SCORE_DIVISOR = math.sqrt(_WIDTH)
# an item starts at few of many tokens
_ANCHOR_BIAS = -6.0
# where the buckets of a token's distance from its item's anchor begin, in tokens
_BUCKET_EDGES = (-256, -64, -16, -4, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256)
# what checkpoints lack that were trained before there were arrays
_OF_ARRAYS = ("count.", "anchor.", "extract.anchor_bias")


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
        # for starts and ends, outside and inside the item, by distance from where it starts
        self.anchor_bias = nn.Parameter(torch.zeros(2, 2, len(_BUCKET_EDGES) + 1))

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


def anchor_bias_of(
    table_2B: Tensor, tokens: Tensor, anchors: Tensor | int, ends: Tensor | int
) -> Tensor:
    """Return the bias of context *tokens* as borders of a value in an anchored item.

    Shapes broadcast: tokens [T] against anchors and ends [R, 1] give [R, T].

    Args:
        table_2B: `SpanHead.anchor_bias[0]` for starts, `[1]` for ends.
        tokens: Indices of context tokens.
        anchors: The token where each question's item starts.
        ends: The token after the item's region.
    """
    distance = tokens - anchors
    edges = torch.tensor(_BUCKET_EDGES, device=table_2B.device)
    bucket = torch.bucketize(distance, edges, right=True)
    inside = (distance >= 0) & (tokens < ends)
    return table_2B[inside.long(), bucket]


class CountHead(nn.Module):
    """Tells how many items an array has: 0 to `MAX_COUNT`."""

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.counts = nn.Linear(hidden_size, MAX_COUNT + 1)

    def forward(self, answer_RH: Tensor) -> Tensor:
        """Return logits [R, N]."""
        logits_RN: Tensor = self.counts(answer_RH)
        return logits_RN


class AnchorHead(nn.Module):
    """Tells of each context token whether an item starts there: `q(a) . k(c) / 16 + u . c + b`."""

    def __init__(self, hidden_size: int, feature_size: int) -> None:
        super().__init__()
        self.query = nn.Linear(hidden_size, _WIDTH, bias=False)
        self.key = nn.Linear(feature_size, _WIDTH, bias=False)
        self.prior = nn.Linear(feature_size, 1, bias=False)
        self.bias = nn.Parameter(torch.tensor(_ANCHOR_BIAS))

    def forward(self, answer_RH: Tensor, keys_RTD: Tensor, prior_RT: Tensor) -> Tensor:
        """Return logits [R, T], each token's its own; *keys* from `key`, *prior* from `prior`."""
        query_RD = self.query(answer_RH)
        match_RT: Tensor = (keys_RTD @ query_RD[:, :, None])[..., 0] / SCORE_DIVISOR
        return match_RT + prior_RT + self.bias


class Heads(nn.Module):
    """Every head of a checkpoint, with a calibration temperature for each of `HEAD_NAMES`."""

    def __init__(self, hidden_size: int, feature_size: int) -> None:
        super().__init__()
        self.choice = OptionHead(hidden_size)
        self.score = OptionHead(hidden_size)
        self.noul = YesNoHead(hidden_size)
        self.extract = SpanHead(hidden_size, feature_size)
        self.count = CountHead(hidden_size)
        self.anchor = AnchorHead(hidden_size, feature_size)
        self.register_buffer("temperatures", torch.ones(len(HEAD_NAMES)))

    def temperature(self, head: str) -> float:
        """Return what the logits of *head* are divided by."""
        assert isinstance(self.temperatures, Tensor)
        return float(self.temperatures[HEAD_NAMES.index(head)])


def load_heads(heads: Heads, tensors: Mapping[str, Tensor], *, arrays: bool = False) -> None:
    """Take up *tensors*; those of arrays may be missing, all of them, and stay as they are.

    Args:
        heads: What takes them up.
        tensors: By name, as in a checkpoint.
        arrays: Those of arrays may not be missing.

    Raises:
        RuntimeError: A tensor is missing, has another shape, or belongs to no head.
    """
    if unknown := tensors.keys() - heads.state_dict().keys():
        raise RuntimeError(f"no head has {min(unknown)!r}")
    missing = heads.state_dict().keys() - tensors.keys()
    of_arrays = {name for name in heads.state_dict() if name.startswith(_OF_ARRAYS)}
    heads.load_state_dict(dict(tensors), strict=arrays or missing != of_arrays)
