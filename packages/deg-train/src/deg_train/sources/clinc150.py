"""CLINC150: 150 intents of ten domains, one in five or so held out as a label nothing trains."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Literal
from zlib import crc32

from deg_train.records import Record
from deg_train.sources.files import as_published, read_json
from deg_train.sources.intents import IntentSampler, intent_record
from deg_train.sources.wording import Wording

__all__ = ["Clinc150", "is_held_out_intent"]

_FIXED_ABOUT = "What does the user want?"
_FOLDS = 5


def is_held_out_intent(label: str) -> bool:
    """Say whether the intent is kept from training, as label and as queries; some 30 are."""
    return crc32(label.encode()) % _FOLDS == 0


class Clinc150:
    """Queries to an assistant, and what each of them wants."""

    name = "clinc150"

    def __init__(self, folder: Path, split: Literal["train", "val", "test"] = "train"):
        published = read_json(folder, "data_full.json")
        with as_published(folder):
            self._examples = [(row[0], row[1]) for row in published[split]]
            outside = [row[0] for row in published[f"oos_{split}"]]
        self._labels = sorted({label for _, label in self._examples})
        trained = [each for each in self._examples if not is_held_out_intent(each[1])]
        self._sampler = IntentSampler(
            self.name, trained, _INTENT, _YES_NO, num_options=_num_options, others=outside
        )

    def sample(self, rng: random.Random) -> Record:
        """Draw a query about no held-out intent, and questions of which none names one."""
        return self._sampler.sample(rng)

    def records(
        self, limit: int | None = None, seed: int = 0, *, num_options: int | None = 10
    ) -> list[Record]:
        """List queries in a seeded order.

        Args:
            limit: How many queries, all of them when absent.
            seed: Of the order and of the options.
            num_options: The answer and random other labels, of held-out intents alone; when absent,
                every label, and queries of every intent.
        """
        rng = random.Random(seed)
        examples, labels = self._examples, self._labels
        if num_options is not None:
            examples = [each for each in examples if is_held_out_intent(each[1])]
            labels = [label for label in labels if is_held_out_intent(label)]
        examples = rng.sample(examples, len(examples))
        return [self._record(*each, labels, num_options, rng) for each in examples[:limit]]

    def _record(
        self, text: str, answer: str, labels: list[str], num_options: int | None, rng: random.Random
    ) -> Record:
        if num_options is not None:
            others = [label for label in labels if label != answer]
            labels = [answer, *rng.sample(others, min(num_options - 1, len(others)))]
            rng.shuffle(labels)
        return intent_record(self.name, text, answer, labels, _FIXED_ABOUT)


def _num_options(rng: random.Random, most: int) -> int:
    size = rng.random()
    if size < 0.76:
        return min(most, rng.randint(4, 12))
    if size < 0.95:
        return min(most, rng.randint(13, 40))
    return most


_INTENT = Wording(
    (
        "intent",
        "intent",
        "user_intent",
        "request",
        "command",
        "skill",
        "action",
        "wanted",
        "purpose",
        "category",
        "goal",
        "request_type",
        "label",
        "topic",
    ),
    (
        _FIXED_ABOUT,
        _FIXED_ABOUT,
        "What is the user asking for?",
        "The intent of the request",
        "Which of these does the assistant have to do?",
        "What should the assistant answer?",
        "Classify what was said.",
        "The action that is asked for",
        "Which command is meant?",
        "Pick the request that fits the words best.",
        "Purpose of the message to the assistant",
    ),
)

_YES_NO = (
    "Is the user asking for this: {words}?",
    "Is the request about {words}?",
    "Does this fit the command '{words}'?",
    "True if the intent is {words}.",
    "Is {words} what the user wants?",
    "Does the user mean {words}?",
    "Whether {words} is asked for",
)
