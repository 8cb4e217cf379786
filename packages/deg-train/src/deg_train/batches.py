"""Examples packed into flat passes: padded contexts first, then their forks in buckets of width.

Padding is the cost of a batch, so examples of like length are put together: a context never gets
more than a quarter of its length in padding, nor does a fork.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from deg_model import ForkBucket
from deg_train.questions import Example, Question

# B contexts, T tokens of a context, N flat tokens

__all__ = ["Batch", "Row", "collate", "pack"]


@dataclass(frozen=True, slots=True)
class Row:
    """Where one question's answer and options lie among the flat tokens of a batch."""

    question: Question
    context: int
    answer: int
    options: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """One pass: flat tokens, how they attend, the rows to answer, and the arrays left out."""

    ids_N: Tensor
    positions_N: Tensor
    context_lengths_B: Tensor
    first: int
    num_context_tokens: tuple[int, ...]
    width: int
    buckets: tuple[ForkBucket, ...]
    rows: tuple[Row, ...]
    num_real_tokens: int
    num_skipped: int


def pack(examples: Iterable[Example], max_tokens: int) -> list[Batch]:
    """Sort *examples* by length and cut them into batches of at most *max_tokens* each."""
    batches: list[Batch] = []
    group: list[Example] = []
    size = 0
    for example in sorted(examples, key=lambda e: len(e.context.ids)):
        too_wide = group and len(example.context.ids) > 1.25 * len(group[0].context.ids) + 8
        if group and (too_wide or size + example.num_tokens > max_tokens):
            batches.append(collate(group))
            group, size = [], 0
        group.append(example)
        size += example.num_tokens
    return [*batches, collate(group)] if group else batches


def collate(examples: Sequence[Example]) -> Batch:
    """Lay *examples* out as one batch."""
    lengths = [len(example.context.ids) for example in examples]
    width = max(lengths)
    ids = [_padded(example.context.ids, width) for example in examples]
    positions = [torch.arange(width)] * len(examples)
    flat = [
        (number, question)
        for number, example in enumerate(examples)
        for question in example.questions
    ]
    rows, buckets = [], []
    offset = width * len(examples)
    for members in _buckets(sorted(flat, key=lambda item: len(item[1].fork.ids))):
        own = max(len(question.fork.ids) for _, question in members)
        for number, question in members:
            fork = question.fork
            ids.append(_padded(fork.ids, own))
            positions.append(lengths[number] + torch.arange(own))
            places = tuple(offset + place for place in fork.options)
            rows.append(Row(question, number, offset + len(fork.ids) - 1, places))
            offset += own
        buckets.append(
            ForkBucket(
                context_R=torch.tensor([number for number, _ in members]),
                lengths_R=torch.tensor([len(question.fork.ids) for _, question in members]),
                width=own,
            )
        )
    return Batch(
        ids_N=torch.cat(ids),
        positions_N=torch.cat(positions),
        context_lengths_B=torch.tensor(lengths),
        first=examples[0].context.first,
        num_context_tokens=tuple(example.context.num_tokens for example in examples),
        width=width,
        buckets=tuple(buckets),
        rows=tuple(rows),
        num_real_tokens=sum(example.num_tokens for example in examples),
        num_skipped=sum(example.num_skipped for example in examples),
    )


def _buckets(rows: list[tuple[int, Question]]) -> list[list[tuple[int, Question]]]:
    buckets: list[list[tuple[int, Question]]] = []
    for row in rows:
        length = len(row[1].fork.ids)
        if buckets and length <= 1.25 * len(buckets[-1][0][1].fork.ids) + 4:
            buckets[-1].append(row)
        else:
            buckets.append([row])
    return buckets


def _padded(ids: Sequence[int], width: int) -> Tensor:
    return torch.tensor([*ids, *[0] * (width - len(ids))])
