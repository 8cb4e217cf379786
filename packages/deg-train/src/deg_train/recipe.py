"""What a training run reads, and in which proportion: the recipe of the default checkpoint."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from deg_model import Tokenizer
from deg_train.batches import Batch, pack
from deg_train.fit_options import FitOptions
from deg_train.generate import (
    DECIDED_SHARES,
    DOCUMENT_SHARES,
    INTENT_SHARES,
    LIST_SHARES,
    QUESTION_SHARES,
    BareSource,
    ContradictionSource,
    DocumentSource,
    ForeignSource,
    FurtherSource,
    ListSource,
    LongSource,
    StatementSource,
    WiderSource,
)
from deg_train.questions import Example, example_of
from deg_train.sources import (
    Banking77,
    Clinc150,
    Mixture,
    NluEvaluation,
    NluPlusPlus,
    Restaurant8k,
    Sampler,
    Snips,
    StepSampler,
)

__all__ = ["MAX_EXAMPLE_TOKENS", "default_mixture", "drawer"]

MAX_EXAMPLE_TOKENS = FitOptions().tokens_per_example
"""What a document and its questions have at most, unless a run says otherwise."""

# in a row that teach nothing: then the whole source is taken to be so
_MOST_UNUSED = 1000

_WEIGHTS = {
    "generated": 0.70,
    "further": 0.80,
    "lists": 0.25,
    "nested": 0.50,
    "decided": 0.45,
    "statements": 0.40,
    "long": 0.03,
    "bare": 0.02,
    "foreign": 0.02,
    "contradictions": 0.03,
    "banking77": 0.65,
    "clinc150": 0.65,
    "nlu-evaluation": 0.03,
    "snips": 0.02,
    "nlupp": 0.08,
    "restaurant8k": 0.04,
}


def default_mixture(folder: Path | None) -> Mixture:
    """Return the mixture over generated documents and the public sets under *folder*."""
    documents = DocumentSource("train")
    further, decided = FurtherSource("further"), FurtherSource("decided")
    asked = WiderSource(documents, QUESTION_SHARES)
    nested = ListSource("train", nested=True)
    sources: list[tuple[Sampler, float]] = [
        (WiderSource(ListSource("train"), LIST_SHARES, others=documents), _WEIGHTS["lists"]),
        (WiderSource(nested, LIST_SHARES, others=documents), _WEIGHTS["nested"]),
        (WiderSource(asked, DOCUMENT_SHARES, others=documents), _WEIGHTS["generated"]),
        (WiderSource(further, DOCUMENT_SHARES, others=documents), _WEIGHTS["further"]),
        (WiderSource(decided, DECIDED_SHARES, others=documents), _WEIGHTS["decided"]),
        (StatementSource(), _WEIGHTS["statements"]),
        (LongSource("train"), _WEIGHTS["long"]),
        (BareSource(), _WEIGHTS["bare"]),
        (ForeignSource(), _WEIGHTS["foreign"]),
        (ContradictionSource(), _WEIGHTS["contradictions"]),
    ]
    if folder is not None:
        banking, assistant = Banking77(folder / "banking77"), Clinc150(folder / "clinc150", "train")
        sources += [
            (WiderSource(banking, INTENT_SHARES, others=documents), _WEIGHTS["banking77"]),
            (WiderSource(assistant, INTENT_SHARES, others=documents), _WEIGHTS["clinc150"]),
            (NluEvaluation(folder / "nlu-evaluation"), _WEIGHTS["nlu-evaluation"]),
            (Snips(folder / "snips"), _WEIGHTS["snips"]),
            (NluPlusPlus(folder / "nlupp"), _WEIGHTS["nlupp"]),
            (Restaurant8k(folder / "restaurant8k"), _WEIGHTS["restaurant8k"]),
        ]
    return Mixture(sources)


def drawer(
    source: Sampler | StepSampler,
    tokenizer: Tokenizer,
    options: FitOptions,
    *,
    texts: bool = False,
) -> Callable[[int], Sequence[Batch]]:
    """Return the function from a step's number to its batches, the same in every run.

    Args:
        source: What records are drawn from.
        tokenizer: The base's.
        options: How much a step draws.
        texts: Teach `x-generate` fields too, as `example_of` says.

    Raises:
        ValueError: The drawing function finds nothing to ask, in many draws.
    """
    forms, most = DocumentSource("nonsense"), options.tokens_per_example

    def draw(step: int) -> Sequence[Batch]:
        rng = random.Random(f"{options.seed}/{step}")
        # matching a question to a label comes first: learned from forms alone it takes minutes,
        # and the rest builds on it
        here = source.at(step) if isinstance(source, StepSampler) else source
        chosen = forms if step < options.form_steps else here
        examples: list[Example] = []
        size = num_unused = 0
        while size < options.tokens_per_step:
            record = chosen.sample(rng)
            example = example_of(record, tokenizer, rng, max_tokens=most, texts=texts)
            # one question that is too long for its room is asked all the same, by itself
            if example.questions:
                examples.append(example)
                size, num_unused = size + example.num_tokens, 0
                continue
            num_unused += 1
            if num_unused == _MOST_UNUSED:
                raise ValueError(
                    f"none of {num_unused} records drawn for step {step} has a question that "
                    "training can ask: see what `deg-train records` says of them"
                )
        return pack(examples, options.tokens_per_batch)

    return draw
