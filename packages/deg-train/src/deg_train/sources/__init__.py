"""Public data sets as records, read from a user's own download of each."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from deg_train.records import Record
from deg_train.sources.banking77 import Banking77
from deg_train.sources.clinc150 import Clinc150
from deg_train.sources.files import MissingFile, UnreadableFile
from deg_train.sources.nlu_evaluation import NluEvaluation
from deg_train.sources.nlupp import NluPlusPlus
from deg_train.sources.restaurant8k import Restaurant8k
from deg_train.sources.snips import Snips

__all__ = [
    "Banking77",
    "Clinc150",
    "MissingFile",
    "Mixture",
    "NluEvaluation",
    "NluPlusPlus",
    "Restaurant8k",
    "Sampler",
    "Snips",
    "StepSampler",
    "UnreadableFile",
]


class Sampler(Protocol):
    """Whatever yields records for training without an end."""

    def sample(self, rng: random.Random) -> Record:
        """Draw one record."""
        ...


@runtime_checkable
class StepSampler(Protocol):
    """What training draws from, where that depends on the step."""

    def at(self, step: int) -> Sampler:
        """Return what is drawn from at *step*, the same in every run."""
        ...


class Mixture:
    """Draws each record from one of several sources, as often as its weight says."""

    def __init__(self, sources: Sequence[tuple[Sampler, float]]):
        if not sources or any(weight <= 0 for _, weight in sources):
            raise ValueError("a mixture needs sources, each with a weight above 0")
        self._sources = [source for source, _ in sources]
        self._cumulative = list(itertools.accumulate(weight for _, weight in sources))

    def sample(self, rng: random.Random) -> Record:
        """Draw a source by weight, then a record from it."""
        (source,) = rng.choices(self._sources, cum_weights=self._cumulative)
        return source.sample(rng)
