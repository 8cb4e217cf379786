"""`deg-train records`: what files of labelled documents train, what they do not, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from deg_model import MAX_SPAN_TOKENS, EncodedContext, Tokenizer
from deg_schema import FillPlan, compile_schema
from deg_train.gold_outcomes import gold_outcomes
from deg_train.gold_texts import gold_texts
from deg_train.labels import Fault, Labelled, read_labels
from deg_train.questions import example_of
from deg_train.records import lookup

__all__ = ["Survey", "survey"]

_HEADS = ("extract", "choice", "score", "noul", "count", "anchor")


@dataclass(slots=True)
class Survey:
    """What a file holds.

    Attributes:
        path: The file.
        splits: The number of records of each split.
        questions: The number of questions to each head that its records ask.
        nulls: How many of those to `extract` have no value.
        texts: The number of texts, which train where the whole backbone does.
        untaught: Why values, arrays or texts teach nothing, with the line, in order.
        faults: Lines that cannot be used.
    """

    path: Path
    splits: Counter[str] = field(default_factory=Counter)
    questions: Counter[str] = field(default_factory=Counter)
    nulls: int = 0
    texts: int = 0
    untaught: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield the survey as text."""
        num_records = sum(self.splits.values())
        parts = ", ".join(f"{count} {split}" for split, count in sorted(self.splits.items()))
        yield f"{self.path}: {_count(num_records, 'record')} in order" + (
            f" ({parts})" if parts else ""
        )
        for head in _HEADS:
            if self.questions[head]:
                note = f", {self.nulls} of them null" if head == "extract" and self.nulls else ""
                yield f"  {head:<8} {_count(self.questions[head], 'question')}{note}"
        if self.texts:
            yield f"  lm       {_count(self.texts, 'text')}, for deg-train generator, or fit --full"
        for each in self.untaught:
            yield f"  not taught: {each}"
        for fault in self.faults:
            yield f"  refused: {fault}"


def survey(path: Path, tokenizer: Tokenizer) -> Survey:
    """Read every line of *path* and say what it would train."""
    found = Survey(path)
    for each in read_labels(path):
        if isinstance(each, Fault):
            found.faults.append(each)
        else:
            _add(found, each, tokenizer)
    return found


def _add(found: Survey, labelled: Labelled, tokenizer: Tokenizer) -> None:
    record = labelled.record
    example = example_of(record, tokenizer)
    found.splits[labelled.split] += 1
    found.questions.update(question.fork.head for question in example.questions)
    found.nulls += sum(q.fork.head == "extract" and not q.spans for q in example.questions)
    plan = compile_schema(record.schema)
    written = gold_texts(record, plan, example.context, tokenizer)
    found.texts += len(written.texts)
    reasons = (*_untaught_values(labelled, plan, example.context), *written.untaught)
    found.untaught += [f"line {labelled.line} {reason}" for reason in reasons]
    if example.num_skipped:
        found.untaught.append(
            f"line {labelled.line}: {_count(example.num_skipped, 'array')} whose items have no "
            "place of their own, or are more or fewer than the schema allows"
        )


def _untaught_values(labelled: Labelled, plan: FillPlan, context: EncodedContext) -> Iterator[str]:
    """Yield why copied and decided values teach nothing, with their place."""
    record = labelled.record
    for pointer in labelled.missing:
        yield f"{pointer}: {lookup(record.value, pointer)!r} stands nowhere in the context"
    for pointer, places in record.spans.items():
        covers = [context.cover(*place) for place in places]
        if all(last - first >= MAX_SPAN_TOKENS for first, last in covers):
            yield f"{pointer}: more than the {MAX_SPAN_TOKENS} tokens that a copied value may have"
    for pointer in sorted(gold_outcomes(record, plan)[1] - record.probabilities.keys()):
        yield f"{pointer}: a decided field of which the value says nothing"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
