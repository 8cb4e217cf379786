"""What the heads say about a batch, before any temperature: the one place that both the losses and
the calibration take their numbers from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from deg_model import DECIDE_HEADS, Heads, anchor_bias_of
from deg_train.batches import Batch, Row
from deg_train.passes import Hidden

# R questions, O outcomes, B contexts, T tokens, H hidden, S right spans, N counts

__all__ = [
    "AnchorLogits",
    "CountLogits",
    "DecideLogits",
    "ExtractLogits",
    "Guesses",
    "anchor_logits",
    "count_logits",
    "decide_logits",
    "extract_logits",
    "guess_spans",
]


@dataclass(frozen=True, slots=True)
class DecideLogits:
    """The questions of one decide head: logits, -inf beside a question's outcomes, and answers.

    The questions of a context share one vote, so that a long form does not outvote single ones.
    Where `target_RO` is given, it says how likely each outcome is to be right.
    """

    logits_RO: Tensor
    outcome_R: Tensor
    vote_R: Tensor
    target_RO: Tensor | None = None

    def losses(self, temperature: float = 1.0) -> Tensor:
        """Return each question's divergence [R] from what is right, KL(target, logits)."""
        if self.target_RO is None:
            return F.cross_entropy(self.logits_RO / temperature, self.outcome_R, reduction="none")
        log_RO = (self.logits_RO / temperature).log_softmax(-1)
        # beside a question's outcomes nothing is expected
        log_RO = log_RO.masked_fill(log_RO.isinf(), 0.0)
        return (torch.xlogy(self.target_RO, self.target_RO) - self.target_RO * log_RO).sum(-1)

    def right(self) -> Tensor:
        """Say of each question [R] whether its likeliest outcome is the right one."""
        return self.logits_RO.argmax(-1) == self.outcome_R

    def judged(self, temperature: float = 1.0) -> list[tuple[float, bool]]:
        """Return the probability of each likeliest outcome and whether it is right."""
        peak_R = (self.logits_RO / temperature).softmax(-1).amax(-1)
        return list(zip(peak_R.tolist(), self.right().tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class CountLogits:
    """The count questions of a batch: logits, -inf where so many items may not be, and answers."""

    logits_RN: Tensor
    count_R: Tensor

    def losses(self) -> Tensor:
        """Return the negative log-likelihood [R] of each right count."""
        return F.cross_entropy(self.logits_RN, self.count_R, reduction="none")

    def right(self) -> Tensor:
        """Say of each question [R] whether its likeliest count is the right one."""
        return self.logits_RN.argmax(-1) == self.count_R


@dataclass(frozen=True, slots=True)
class AnchorLogits:
    """The anchor questions of a batch.

    Attributes:
        logits_RT: Of each token as the start of an item.
        starts_RT: 1 where one starts, else 0.
        region_RT: Where one may start.
    """

    logits_RT: Tensor
    starts_RT: Tensor
    region_RT: Tensor

    def losses(self) -> Tensor:
        """Return each question's binary cross-entropy [R] over its region, by 1 + its items."""
        losses_RT = F.binary_cross_entropy_with_logits(
            self.logits_RT, self.starts_RT, reduction="none"
        )
        return (losses_RT * self.region_RT).sum(-1) / (1 + self.starts_RT.sum(-1))

    def right(self) -> Tensor:
        """Say of each question [R] whether exactly the right tokens are likelier than not."""
        marked_RT = (self.logits_RT > 0) & self.region_RT
        return (marked_RT == self.starts_RT.bool()).all(-1)


@dataclass(frozen=True, slots=True)
class ExtractLogits:
    """The extract questions of a batch.

    Attributes:
        start_RT: Logits [R, T + 1] of each start token, -inf outside the context, null last.
        row_S: The question of each right span; an absent value has none.
        start_S: The first token of each right span.
        end_S: The last token of each right span.
        end_ST: Logits [S, T] of the end given that start, -inf where it cannot be.
    """

    start_RT: Tensor
    row_S: Tensor
    start_S: Tensor
    end_S: Tensor
    end_ST: Tensor

    @property
    def absent_R(self) -> Tensor:
        """Whether the document does not hold the value."""
        absent_R = torch.ones(len(self.start_RT), dtype=torch.bool)
        absent_R[self.row_S] = False
        return absent_R

    def losses(self, temperature: float = 1.0) -> Tensor:
        """Return the negative log-likelihood [R] of null, or of all right spans together."""
        log_start_RT = (self.start_RT / temperature).log_softmax(-1)
        log_end_ST = (self.end_ST / temperature).log_softmax(-1)
        number_S = torch.arange(len(self.row_S))
        joint_S = log_start_RT[self.row_S, self.start_S] + log_end_ST[number_S, self.end_S]
        # null takes the place of a span where there is none
        null_R = log_start_RT[:, -1].masked_fill(~self.absent_R, float("-inf"))
        table_RS = joint_S.new_full((len(self.start_RT), len(number_S)), float("-inf"))
        table_RS = table_RS.index_put((self.row_S, number_S), joint_S)
        return -torch.cat([null_R[:, None], table_RS], dim=1).logsumexp(-1)

    def right(self) -> Tensor:
        """Say of each question [R] whether the likeliest start and then end are right."""
        best_R = self.start_RT.argmax(-1)
        right_R = self.absent_R & (best_R == self.start_RT.shape[1] - 1)
        starts_S = best_R[self.row_S] == self.start_S
        ends_S = self.end_ST.argmax(-1) == self.end_S
        right_R[self.row_S[starts_S & ends_S]] = True
        return right_R


@dataclass(frozen=True, slots=True)
class Guesses:
    """The likeliest start token of each extract question, and the ends that may follow it.

    Decoding would look at more starts and at the field's grammar; this is what the head alone says.
    """

    logits: ExtractLogits
    start_R: Tensor
    end_RT: Tensor

    def losses(self, temperature: float = 1.0) -> Tensor:
        """Return the negative log-likelihood [R] of the right answers."""
        return self.logits.losses(temperature)

    def judged(self, temperature: float = 1.0) -> list[tuple[float, bool]]:
        """Return the probability of each guess, a span or null, and whether it is right."""
        log_start_RT = (self.logits.start_RT / temperature).log_softmax(-1)
        log_end_RT = (self.end_RT / temperature).log_softmax(-1)
        span_R = log_start_RT.gather(1, self.start_R[:, None])[:, 0] + log_end_RT.amax(-1)
        is_null_R = span_R < log_start_RT[:, -1]
        peak_R = torch.where(is_null_R, log_start_RT[:, -1], span_R).exp()
        right_R = torch.where(is_null_R, self.logits.absent_R, self._is_right())
        return list(zip(peak_R.tolist(), right_R.tolist(), strict=True))

    def _is_right(self) -> Tensor:
        logits, right_R = self.logits, torch.zeros(len(self.start_R), dtype=torch.bool)
        starts_S = self.start_R[logits.row_S] == logits.start_S
        ends_S = self.end_RT.argmax(-1)[logits.row_S] == logits.end_S
        right_R[logits.row_S[starts_S & ends_S]] = True
        return right_R


def decide_logits(heads: Heads, batch: Batch, hidden: Hidden) -> dict[str, DecideLogits]:
    """Return the logits of each decide head that *batch* has questions for."""
    return {
        name: _decide(heads, name, rows, hidden.final_NH)
        for name in DECIDE_HEADS
        if (rows := _rows(batch, name))
    }


def extract_logits(heads: Heads, batch: Batch, hidden: Hidden) -> ExtractLogits | None:
    """Return the logits of the extract questions of *batch*, None where it has none."""
    rows = _rows(batch, "extract")
    if not rows:
        return None
    answer_RH, context_R = hidden.final_NH[_answers(rows)], _contexts(rows)
    keys_BTD = heads.extract.start_key(hidden.features_BTK)
    start_RT = heads.extract.start(answer_RH, keys_BTD[context_R])
    bias_RT = _item_bias(heads, 0, batch, rows)
    if bias_RT is not None:
        start_RT = start_RT + F.pad(bias_RT, (0, 1))
    outside_RT = F.pad(_outside(batch)[context_R], (0, 1), value=False)
    # one line for each right span of each question, null questions have none
    lines = [(r, *span) for r, row in enumerate(rows) for span in row.question.spans]
    row_S, start_S, end_S = (_index([line[part] for line in lines]) for part in range(3))
    start_S, end_S = start_S + batch.first, end_S + batch.first
    return ExtractLogits(
        start_RT=start_RT.masked_fill(outside_RT, float("-inf")),
        row_S=row_S,
        start_S=start_S,
        end_S=end_S,
        end_ST=_ends(heads, batch, hidden, [rows[line[0]] for line in lines], start_S),
    )


def guess_spans(heads: Heads, batch: Batch, hidden: Hidden) -> Guesses | None:
    """Return the extract questions of *batch* with a guess for each, None where it has none."""
    logits = extract_logits(heads, batch, hidden)
    # a context without tokens leaves nothing to guess
    if logits is None or not all(batch.num_context_tokens):
        return None
    rows = _rows(batch, "extract")
    start_R = logits.start_RT[:, :-1].argmax(-1)
    return Guesses(logits, start_R, _ends(heads, batch, hidden, rows, start_R))


def count_logits(
    heads: Heads, batch: Batch, hidden: Hidden, *, is_anchored: bool = False
) -> CountLogits | None:
    """Return the logits of the count questions of *batch*, None where it has none.

    Args:
        heads: What answers.
        batch: The questions.
        hidden: Its tokens as they were read.
        is_anchored: About arrays that have anchors, instead of the others.
    """
    rows = [row for row in _rows(batch, "count") if row.question.is_anchored == is_anchored]
    if not rows:
        return None
    logits_RN = heads.count(hidden.final_NH[_answers(rows)])
    least_R, most_R = (_index([row.question.counts[end] for row in rows]) for end in (0, 1))
    number_1N = torch.arange(logits_RN.shape[1])[None]
    barred_RN = (number_1N < least_R[:, None]) | (number_1N > most_R[:, None])
    count_R = _index([row.question.outcome for row in rows])
    return CountLogits(logits_RN.masked_fill(barred_RN, float("-inf")), count_R)


def anchor_logits(heads: Heads, batch: Batch, hidden: Hidden) -> AnchorLogits | None:
    """Return the logits of the anchor questions of *batch*, None where it has none."""
    rows = _rows(batch, "anchor")
    if not rows:
        return None
    starts_RT = torch.zeros(len(rows), batch.width)
    region_RT = torch.zeros(len(rows), batch.width, dtype=torch.bool)
    for number, row in enumerate(rows):
        starts_RT[number, batch.first + _index(row.question.starts)] = 1
        first, end = row.question.region
        region_RT[number, batch.first + first : batch.first + end] = True
    context_R, head = _contexts(rows), heads.anchor
    keys_BTD, prior_BT = head.key(hidden.features_BTK), head.prior(hidden.features_BTK)[..., 0]
    answer_RH = hidden.final_NH[_answers(rows)]
    logits_RT: Tensor = head(answer_RH, keys_BTD[context_R], prior_BT[context_R])
    return AnchorLogits(logits_RT, starts_RT, region_RT)


def _item_bias(heads: Heads, border: int, batch: Batch, rows: Sequence[Row]) -> Tensor | None:
    """Return the bias [R, T] of tokens as starts, *border* 0, or ends, 1, in anchored items."""
    anchors = [row.question.fork.anchor for row in rows]
    if not any(anchors):
        return None
    first_R1, end_R1 = (
        batch.first + _index([(anchor or (0, 0))[part] for anchor in anchors])[:, None]
        for part in (0, 1)
    )
    table_2B = heads.extract.anchor_bias[border]
    bias_RT = anchor_bias_of(table_2B, torch.arange(batch.width), first_R1, end_R1)
    return bias_RT * torch.tensor([[anchor is not None] for anchor in anchors])


def _ends(
    heads: Heads, batch: Batch, hidden: Hidden, rows_S: Sequence[Row], start_S: Tensor
) -> Tensor:
    answer_SH, context_S = hidden.final_NH[_answers(rows_S)], _contexts(rows_S)
    features_BTK, head = hidden.features_BTK, heads.extract
    keys_STD = head.end_key(features_BTK)[context_S]
    logits_ST = head.end(answer_SH, features_BTK[context_S, start_S], start_S, keys_STD)
    bias_ST = _item_bias(heads, 1, batch, rows_S)
    if bias_ST is not None:
        logits_ST = logits_ST + bias_ST
    return logits_ST.masked_fill(_outside(batch)[context_S], float("-inf"))


def _answers(rows: Sequence[Row]) -> Tensor:
    return _index([row.answer for row in rows])


def _contexts(rows: Sequence[Row]) -> Tensor:
    return _index([row.context for row in rows])


def _rows(batch: Batch, head: str) -> list[Row]:
    return [row for row in batch.rows if row.question.fork.head == head]


def _decide(heads: Heads, name: str, rows: Sequence[Row], final_NH: Tensor) -> DecideLogits:
    answer_RH = final_NH[_answers(rows)]
    outcome_R = _index([row.question.outcome for row in rows])
    vote_R = torch.tensor([row.share for row in rows])
    most = 2 if name == "noul" else max(len(row.options) for row in rows)
    target_RO = _targets(rows, most)
    if name == "noul":
        return DecideLogits(heads.noul(answer_RH), outcome_R, vote_R, target_RO)
    places_RO = torch.zeros(len(rows), most, dtype=torch.long)
    padding_RO = torch.ones(len(rows), most, dtype=torch.bool)
    for number, row in enumerate(rows):
        places_RO[number, : len(row.options)] = _index(row.options)
        padding_RO[number, : len(row.options)] = False
    head = heads.choice if name == "choice" else heads.score
    logits_RO: Tensor = head(answer_RH, final_NH[places_RO])
    logits_RO = logits_RO.masked_fill(padding_RO, float("-inf"))
    return DecideLogits(logits_RO, outcome_R, vote_R, target_RO)


def _targets(rows: Sequence[Row], most: int) -> Tensor | None:
    """Return how likely each outcome is to be right [R, O], None where each answer is certain."""
    if not any(row.question.probabilities for row in rows):
        return None
    target_RO = torch.zeros(len(rows), most)
    for number, row in enumerate(rows):
        known = row.question.probabilities
        if known:
            target_RO[number, : len(known)] = torch.tensor(known)
        else:
            target_RO[number, row.question.outcome] = 1.0
    return target_RO


def _outside(batch: Batch) -> Tensor:
    place_T = torch.arange(batch.width)[None]
    end_B = torch.tensor(batch.num_context_tokens) + batch.first
    return (place_T < batch.first) | (place_T >= end_B[:, None])


def _index(numbers: Sequence[int]) -> Tensor:
    return torch.tensor(numbers, dtype=torch.long)
