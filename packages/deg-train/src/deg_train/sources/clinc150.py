"""CLINC150: 150 intents of ten domains, held out whole: it measures and never trains."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Literal

from deg_train.records import Record
from deg_train.sources.files import as_published, read_json
from deg_train.sources.wording import spoken

__all__ = ["Clinc150"]

_FIXED_ABOUT = "What does the user want?"


class Clinc150:
    """Queries to an assistant, for choices among labels that no training has seen."""

    name = "clinc150"

    def __init__(self, folder: Path, split: Literal["train", "val", "test"] = "test"):
        published = read_json(folder, "data_full.json")
        with as_published(folder):
            self._examples = [(row[0], row[1]) for row in published[split]]
        self._labels = sorted({label for _, label in self._examples})

    def records(
        self, limit: int | None = None, seed: int = 0, *, num_options: int | None = 10
    ) -> list[Record]:
        """List queries in a seeded order.

        Args:
            limit: How many queries, all of them when absent.
            seed: Of the order and of the options.
            num_options: The answer and random other labels; every label when absent.
        """
        rng = random.Random(seed)
        examples = list(self._examples)
        rng.shuffle(examples)
        return [self._record(*example, num_options, rng) for example in examples[:limit]]

    def _record(
        self, text: str, answer: str, num_options: int | None, rng: random.Random
    ) -> Record:
        labels = list(self._labels)
        if num_options is not None:
            others = [label for label in labels if label != answer]
            labels = [answer, *rng.sample(others, min(num_options - 1, len(others)))]
            rng.shuffle(labels)
        options = [spoken(label) for label in labels]
        intent = {"type": "string", "enum": options, "description": _FIXED_ABOUT}
        schema = {"type": "object", "properties": {"intent": intent}, "required": ["intent"]}
        return Record(text, schema, {"intent": spoken(answer)}, {}, self.name)
