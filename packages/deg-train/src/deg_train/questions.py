"""Records as questions with targets: what one document teaches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deg_model import MAX_SPAN_TOKENS, EncodedContext, Fork, Tokenizer, encode_context, fork_of
from deg_schema import FieldPlan, compile_schema
from deg_train.records import Record, lookup

__all__ = ["Example", "Question", "example_of"]


@dataclass(frozen=True, slots=True)
class Question:
    """One fork and its answer.

    Attributes:
        fork: The question as tokens.
        outcome: The index of the right outcome of a decide question; for yes-no 0 is yes.
        spans: Every right span of an extract question, as first and last context token; none of
            them means that the document does not hold the value.
    """

    fork: Fork
    outcome: int = -1
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Example:
    """One document and the questions about it."""

    context: EncodedContext
    questions: tuple[Question, ...]

    @property
    def num_tokens(self) -> int:
        """The tokens that a pass over this example reads."""
        return len(self.context.ids) + sum(len(q.fork.ids) for q in self.questions)


def example_of(record: Record, tokenizer: Tokenizer) -> Example:
    """Turn *record* into tokens and targets; a field that cannot be taught is left out."""
    context = encode_context(record.context, tokenizer)
    questions = []
    for field in compile_schema(record.schema).fields:
        question = _question(field, record, context, tokenizer)
        if question is not None:
            questions.append(question)
    return Example(context, tuple(questions))


def _question(
    field: FieldPlan, record: Record, context: EncodedContext, tokenizer: Tokenizer
) -> Question | None:
    if field.mode == "generate" or field.item_steps:
        return None
    value = lookup(record.value, field.pointer)
    fork = fork_of(field, tokenizer)
    if field.mode.startswith("extract"):
        places = record.spans.get(field.pointer, ())
        spans = {context.cover(start, end) for start, end in places}
        within = sorted(span for span in spans if span[1] - span[0] < MAX_SPAN_TOKENS)
        # a value too long to be pointed at is not an absent one
        return None if spans and not within else Question(fork, spans=tuple(within))
    if field.mode == "decide.noul":
        return Question(fork, outcome=0 if value else 1)
    outcomes: tuple[Any, ...] = field.options if field.mode == "decide.choice" else field.levels
    if value is None and field.null_outcome:
        return Question(fork, outcome=len(outcomes))
    typed = [(type(outcome), outcome) for outcome in outcomes]
    return Question(fork, outcome=typed.index((type(value), value)))
