"""BANKING77: one of 77 intents of a bank's customers, trained over sampled lists of options."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Literal

from deg_train.records import Record
from deg_train.sources.files import as_published, read_csv
from deg_train.sources.intents import IntentSampler, intent_record
from deg_train.sources.wording import Wording, load_abouts, spoken

__all__ = ["Banking77"]

_FIXED_ABOUT = "What is the customer asking about?"


class Banking77:
    """Questions to a bank, each with the one intent behind it."""

    name = "banking77"

    def __init__(self, folder: Path, split: Literal["train", "test"] = "train"):
        rows = read_csv(folder, f"{split}.csv")
        with as_published(folder):
            self._examples = [(row["text"].strip(), row["category"]) for row in rows]
        self._sampler = IntentSampler(
            self.name, self._examples, _INTENT, _YES_NO, num_options=_num_options, abouts=_ABOUTS
        )

    def sample(self, rng: random.Random) -> Record:
        """Draw a query, an option list around its intent, and sometimes a yes-no question."""
        return self._sampler.sample(rng)

    def records(self, limit: int | None = None, seed: int = 0) -> list[Record]:
        """List queries in a seeded order, each asked with every intent as an option."""
        examples = list(self._examples)
        random.Random(seed).shuffle(examples)
        labels = sorted(self._sampler.labels, key=spoken)
        return [
            intent_record(self.name, text, label, labels, _FIXED_ABOUT)
            for text, label in examples[:limit]
        ]


def _num_options(rng: random.Random, most: int) -> int:
    size = rng.random()
    if size < 0.80:
        return min(most, rng.randint(4, 10))
    if size < 0.94:
        return min(most, rng.randint(13, 30))
    return most


_INTENT = Wording(
    (
        "intent",
        "intent",
        "intent",
        "topic",
        "category",
        "label",
        "subject",
        "issue",
        "reason_for_contact",
        "request_type",
        "customer_intent",
        "queue",
        "problem",
        "query_class",
        "what_about",
        "classification",
    ),
    (
        _FIXED_ABOUT,
        _FIXED_ABOUT,
        "What does the customer want?",
        "The intent of the message",
        "Intent behind the customer's question",
        "Which of these topics fits the message best?",
        "Best matching support topic",
        "Pick the option that describes the problem.",
        "Classify the request.",
        "Reason why the customer contacts the bank",
        "What is this message about?",
        "The category that a support agent would file this under",
        "Which help page answers this question?",
        "Main issue raised",
        "Route the message to the right queue.",
        "The single most fitting label for the text",
    ),
)

_YES_NO = (
    "Is the customer asking about this: {words}?",
    "Is the message about {words}?",
    "Does this fit the topic '{words}'?",
    "True if the topic is {words}.",
    "Does the message say that {about}?",
    "Is it the case that {about}?",
    "True when {about}.",
    "Whether {about}",
    "Does the text match this description: {about}?",
)

_ABOUTS = load_abouts("banking77")
