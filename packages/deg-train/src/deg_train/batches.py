"""Examples packed into flat passes: padded contexts first, then their forks in buckets of width.

Padding is the cost of a batch, so examples of like length are put together: a context never gets
more than a quarter of its length in padding, nor does a fork.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from deg_model import EncodedContext, ForkBucket
from deg_train.questions import Example, Question

# B contexts, T tokens of a context, N flat tokens

__all__ = ["Batch", "Row", "collate", "pack", "split_contexts", "split_rows"]


@dataclass(frozen=True, slots=True)
class Row:
    """Where one question's answer and options lie among the flat tokens of a batch.

    Attributes:
        share: Of the votes in the decide loss: n questions that a document asks the same head have
            the root of n together, however few of them stand in this batch. What they ask is alike.
    """

    question: Question
    context: int
    answer: int
    options: tuple[int, ...]
    share: float


@dataclass(frozen=True, slots=True)
class Batch:
    """One pass: flat tokens, how they attend, the rows to answer, and the arrays left out.

    Attributes:
        contexts: The documents, in the order in which they lie.
        num_skipped: Arrays of its documents that teach nothing; those of a part are the whole's.
    """

    contexts: tuple[EncodedContext, ...]
    ids_N: Tensor
    positions_N: Tensor
    context_lengths_B: Tensor
    first: int
    num_context_tokens: tuple[int, ...]
    width: int
    buckets: tuple[ForkBucket, ...]
    rows: tuple[Row, ...]
    num_real_tokens: int
    num_skipped: int = 0

    @property
    def num_trunk(self) -> int:
        """The flat tokens of the padded contexts; those of the forks follow."""
        return len(self.contexts) * self.width


def pack(examples: Iterable[Example], max_tokens: int) -> list[Batch]:
    """Sort *examples* by length and cut them into batches of at most *max_tokens* each."""
    batches: list[Batch] = []
    group: list[Example] = []
    size = 0
    for example in sorted(examples, key=_order):
        too_wide = group and len(example.context.ids) > 1.25 * len(group[0].context.ids) + 8
        if group and (too_wide or size + example.num_tokens > max_tokens):
            batches.append(collate(group))
            group, size = [], 0
        group.append(example)
        size += example.num_tokens
    return [*batches, collate(group)] if group else batches


def collate(examples: Sequence[Example]) -> Batch:
    """Lay *examples* out as one batch."""
    asked = []
    for number, example in enumerate(examples):
        heads = Counter(question.fork.head for question in example.questions)
        asked += [_Asked(q, number, heads[q.fork.head] ** -0.5) for q in example.questions]
    num_skipped = sum(example.num_skipped for example in examples)
    return _laid_out([example.context for example in examples], asked, num_skipped)


def split_contexts(batch: Batch) -> list[Batch]:
    """Return *batch*, of two contexts or more, as two: each row goes with its document."""
    half = len(batch.contexts) // 2
    parts = []
    for first, end in ((0, half), (half, len(batch.contexts))):
        asked = [
            _Asked(row.question, row.context - first, row.share)
            for row in batch.rows
            if first <= row.context < end
        ]
        parts.append(_laid_out(batch.contexts[first:end], asked))
    return parts


def split_rows(batch: Batch, num: int) -> list[Batch]:
    """Return *num* batches over all contexts of *batch*, each with a part of its rows."""
    borders = [len(batch.rows) * part // num for part in range(num + 1)]
    return [
        _laid_out(
            batch.contexts,
            [_Asked(row.question, row.context, row.share) for row in batch.rows[first:end]],
        )
        for first, end in zip(borders, borders[1:], strict=False)
    ]


def _order(example: Example) -> tuple[object, ...]:
    # by its length, then by all that it says: the batches do not depend on the order of examples
    forks = [question.fork.ids for question in example.questions]
    return len(example.context.ids), example.num_tokens, example.context.ids, forks


@dataclass(frozen=True, slots=True)
class _Asked:
    question: Question
    context: int
    share: float

    @property
    def length(self) -> int:
        return len(self.question.fork.ids)


def _laid_out(
    contexts: Sequence[EncodedContext], asked: Sequence[_Asked], num_skipped: int = 0
) -> Batch:
    lengths = [len(context.ids) for context in contexts]
    width = max(lengths)
    ids = [_padded(context.ids, width) for context in contexts]
    positions = [torch.arange(width)] * len(contexts)
    rows, buckets = [], []
    offset = width * len(contexts)
    for members in _buckets(sorted(asked, key=lambda each: each.length)):
        own = max(each.length for each in members)
        for each in members:
            fork = each.question.fork
            ids.append(_padded(fork.ids, own))
            positions.append(lengths[each.context] + torch.arange(own))
            places = tuple(offset + place for place in fork.options)
            answer = offset + each.length - 1
            rows.append(Row(each.question, each.context, answer, places, each.share))
            offset += own
        buckets.append(
            ForkBucket(
                context_R=torch.tensor([each.context for each in members]),
                lengths_R=torch.tensor([each.length for each in members]),
                width=own,
            )
        )
    return Batch(
        contexts=tuple(contexts),
        ids_N=torch.cat(ids),
        positions_N=torch.cat(positions),
        context_lengths_B=torch.tensor(lengths),
        first=contexts[0].first,
        num_context_tokens=tuple(context.num_tokens for context in contexts),
        width=width,
        buckets=tuple(buckets),
        rows=tuple(rows),
        num_real_tokens=sum(lengths) + sum(each.length for each in asked),
        num_skipped=num_skipped,
    )


def _buckets(rows: list[_Asked]) -> list[list[_Asked]]:
    buckets: list[list[_Asked]] = []
    for row in rows:
        if buckets and row.length <= 1.25 * buckets[-1][0].length + 4:
            buckets[-1].append(row)
        else:
            buckets.append([row])
    return buckets


def _padded(ids: Sequence[int], width: int) -> Tensor:
    return torch.tensor([*ids, *[0] * (width - len(ids))])
