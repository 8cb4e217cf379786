"""The losses of contract 12.4, each a mean over its questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from deg_model import Heads
from torch import Tensor

from deg_train.batches import Batch, Row

# R questions, O options, B contexts, T tokens, H hidden, K features, S spans

__all__ = ["Losses", "batch_losses"]


@dataclass(frozen=True, slots=True)
class Losses:
    """Sums of one batch, with the questions that each sum covers and how many were right."""

    decide: Tensor
    extract: Tensor
    num_decide: int
    num_extract: int
    decide_right: int
    extract_right: int


def batch_losses(heads: Heads, batch: Batch, final_NH: Tensor, features_BTK: Tensor) -> Losses:
    """Return the losses of *batch*.

    Args:
        heads: The heads.
        batch: The batch.
        final_NH: The last hidden state of every flat token, fp32.
        features_BTK: The span features of every context token.
    """
    groups: dict[str, list[Row]] = {"choice": [], "score": [], "noul": [], "extract": []}
    for row in batch.rows:
        groups[row.question.fork.head].append(row)
    decide = final_NH.new_zeros(())
    right = 0
    for name in ("choice", "score", "noul"):
        rows = groups[name]
        if rows:
            logits = _decide_logits(heads, name, rows, final_NH)
            target = torch.tensor([row.question.outcome for row in rows])
            decide = decide + F.cross_entropy(logits, target, reduction="sum")
            right += int((logits.argmax(-1) == target).sum())
    rows = groups["extract"]
    extract, extract_right = (
        _extract_loss(heads, batch, rows, final_NH, features_BTK)
        if rows
        else (final_NH.new_zeros(()), 0)
    )
    num_decide = len(batch.rows) - len(rows)
    return Losses(decide, extract, num_decide, len(rows), right, extract_right)


def _decide_logits(heads: Heads, name: str, rows: Sequence[Row], final_NH: Tensor) -> Tensor:
    answer_RH = final_NH[torch.tensor([row.answer for row in rows])]
    if name == "noul":
        return heads.noul(answer_RH)
    most = max(len(row.options) for row in rows)
    places_RO = torch.zeros(len(rows), most, dtype=torch.long)
    padding_RO = torch.ones(len(rows), most, dtype=torch.bool)
    for number, row in enumerate(rows):
        places_RO[number, : len(row.options)] = torch.tensor(row.options)
        padding_RO[number, : len(row.options)] = False
    head = heads.choice if name == "choice" else heads.score
    logits_RO: Tensor = head(answer_RH, final_NH[places_RO])
    return logits_RO.masked_fill(padding_RO, float("-inf"))


def _extract_loss(
    heads: Heads, batch: Batch, rows: Sequence[Row], final_NH: Tensor, features_BTK: Tensor
) -> tuple[Tensor, int]:
    head = heads.extract
    answer_RH = final_NH[torch.tensor([row.answer for row in rows])]
    context_R = torch.tensor([row.context for row in rows])
    outside_BT = _outside(batch, features_BTK.shape[1])
    start_logits = head.start(answer_RH, head.start_key(features_BTK)[context_R])
    null_column = torch.zeros(len(rows), 1, dtype=torch.bool)
    hidden = torch.cat([outside_BT[context_R], null_column], dim=1)
    log_start = start_logits.masked_fill(hidden, float("-inf")).log_softmax(-1)

    # one line for each right span of each question, null questions have none
    lines = [(r, s, e) for r, row in enumerate(rows) for s, e in row.question.spans]
    absent_R = torch.tensor([not row.question.spans for row in rows])
    total = -log_start[absent_R, -1].sum()
    right = int((log_start.argmax(-1)[absent_R] == log_start.shape[1] - 1).sum())
    if not lines:
        return total, right
    row_S, start_S, end_S = (torch.tensor(column) for column in zip(*lines, strict=True))
    start_S, end_S = start_S + batch.first, end_S + batch.first
    context_S = context_R[row_S]
    end_logits = head.end(
        answer_RH[row_S],
        features_BTK[context_S, start_S],
        start_S,
        head.end_key(features_BTK)[context_S],
    )
    log_end = end_logits.masked_fill(outside_BT[context_S], float("-inf")).log_softmax(-1)
    number_S = torch.arange(len(lines))
    joint_S = log_start[row_S, start_S] + log_end[number_S, end_S]
    table = joint_S.new_full((len(rows), len(lines)), float("-inf"))
    table = table.index_put((row_S, number_S), joint_S)
    total = total - table[~absent_R].logsumexp(-1).sum()
    best_start_S = log_start.argmax(-1)[row_S] == start_S
    best_end_S = log_end.argmax(-1) == end_S
    right += len(set(row_S[best_start_S & best_end_S].tolist()))
    return total, right


def _outside(batch: Batch, width: int) -> Tensor:
    place_T = torch.arange(width)[None]
    end_B = torch.tensor(batch.num_context_tokens) + batch.first
    return (place_T < batch.first) | (place_T >= end_B[:, None])
