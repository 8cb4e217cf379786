"""What a training run reads, and in which proportion: the recipe of the default checkpoint."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from deg_model import Tokenizer
from deg_train.batches import Batch, pack
from deg_train.generate import (
    DOCUMENT_SHARES,
    LIST_SHARES,
    QUESTION_SHARES,
    BareSource,
    ContradictionSource,
    DocumentSource,
    ForeignSource,
    ListSource,
    WiderSource,
)
from deg_train.questions import Example, example_of
from deg_train.sources import (
    Banking77,
    Mixture,
    NluEvaluation,
    NluPlusPlus,
    Restaurant8k,
    Sampler,
    Snips,
)
from deg_train.trainer import FitOptions

__all__ = ["MAX_EXAMPLE_TOKENS", "default_mixture", "drawer"]

MAX_EXAMPLE_TOKENS = 1600
"""What a document and its questions may have: of longer ones a window, or a part, is drawn."""

_WEIGHTS = {
    "generated": 0.42,
    "lists": 0.50,
    "bare": 0.02,
    "foreign": 0.02,
    "contradictions": 0.03,
    "banking77": 0.21,
    "nlu-evaluation": 0.03,
    "snips": 0.02,
    "nlupp": 0.06,
    "restaurant8k": 0.05,
}


def default_mixture(folder: Path | None) -> Mixture:
    """Return the mixture over generated documents and the public sets under *folder*."""
    documents = DocumentSource("train")
    asked = WiderSource(documents, QUESTION_SHARES)
    sources: list[tuple[Sampler, float]] = [
        (WiderSource(ListSource("train"), LIST_SHARES, others=documents), _WEIGHTS["lists"]),
        (WiderSource(asked, DOCUMENT_SHARES, others=documents), _WEIGHTS["generated"]),
        (BareSource(), _WEIGHTS["bare"]),
        (ForeignSource(), _WEIGHTS["foreign"]),
        (ContradictionSource(), _WEIGHTS["contradictions"]),
    ]
    if folder is not None:
        sources += [
            (Banking77(folder / "banking77"), _WEIGHTS["banking77"]),
            (NluEvaluation(folder / "nlu-evaluation"), _WEIGHTS["nlu-evaluation"]),
            (Snips(folder / "snips"), _WEIGHTS["snips"]),
            (NluPlusPlus(folder / "nlupp"), _WEIGHTS["nlupp"]),
            (Restaurant8k(folder / "restaurant8k"), _WEIGHTS["restaurant8k"]),
        ]
    return Mixture(sources)


def drawer(
    source: Sampler, tokenizer: Tokenizer, options: FitOptions
) -> Callable[[int], Sequence[Batch]]:
    """Return the function from a step's number to its batches, the same in every run."""
    forms = DocumentSource("nonsense")

    def draw(step: int) -> Sequence[Batch]:
        rng = random.Random(f"{options.seed}/{step}")
        # matching a question to a label comes first: learned from forms alone it takes minutes,
        # and the rest builds on it
        chosen = forms if step < options.form_steps else source
        examples: list[Example] = []
        size = 0
        while size < options.tokens_per_step:
            record = chosen.sample(rng)
            example = example_of(record, tokenizer, rng, max_tokens=MAX_EXAMPLE_TOKENS)
            if example.questions and example.num_tokens <= MAX_EXAMPLE_TOKENS:
                examples.append(example)
                size += example.num_tokens
        return pack(examples, options.tokens_per_batch)

    return draw
