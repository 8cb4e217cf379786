"""BANKING77: one of 77 intents of a bank's customers, trained over sampled lists of options."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Literal

from deg_train.records import Record
from deg_train.sources.confusable import Confusables
from deg_train.sources.draft import Draft
from deg_train.sources.files import as_published, read_csv
from deg_train.sources.wording import Option, Wording, load_abouts, spoken, wrap

__all__ = ["Banking77"]

_FIXED_ABOUT = "What is the customer asking about?"


class Banking77:
    """Questions to a bank, each with the one intent behind it."""

    name = "banking77"

    def __init__(self, folder: Path, split: Literal["train", "test"] = "train"):
        rows = read_csv(folder, f"{split}.csv")
        with as_published(folder):
            self._examples = [(row["text"].strip(), row["category"]) for row in rows]
        texts: defaultdict[str, list[str]] = defaultdict(list)
        for text, label in self._examples:
            texts[label].append(text)
        self._confusables = Confusables(texts)

    def sample(self, rng: random.Random) -> Record:
        """Draw a query, an option list around its intent, and sometimes a yes-no question."""
        text, label = rng.choice(self._examples)
        draft = Draft(self.name, wrap(text, rng)[0], rng)
        ask = rng.random()
        if ask < 0.88:
            self._ask_choice(draft, label, rng)
        if ask > 0.72:
            for _ in range(rng.randint(1, 2)):
                self._ask_yes_no(draft, label, rng)
        return draft.record()

    def records(self, limit: int | None = None, seed: int = 0) -> list[Record]:
        """List queries in a seeded order, each asked with every intent as an option."""
        examples = list(self._examples)
        random.Random(seed).shuffle(examples)
        options = sorted(map(spoken, self._confusables.labels))
        intent = {"type": "string", "enum": options, "description": _FIXED_ABOUT}
        schema = {"type": "object", "properties": {"intent": intent}, "required": ["intent"]}
        return [
            Record(text, schema, {"intent": spoken(label)}, {}, self.name)
            for text, label in examples[:limit]
        ]

    def _ask_choice(self, draft: Draft, label: str, rng: random.Random) -> None:
        count = _num_options(rng, len(self._confusables.labels))
        # a short list is where the near misses are: they decide among all the options too
        labels = self._confusables.draw(rng, label, count - 1, share=0.8 if count < 12 else 0.5)
        answer: str | None = label
        if rng.random() < 0.04:
            # none of the options: a near miss among them would make the label a matter of taste
            near = frozenset(self._confusables.nearest[label])
            far = self._confusables.draw(rng, label, min(count, 30), share=0.0, without=near)
            answer, labels = (None, far) if far else (label, labels)
        elif rng.random() < 0.02:
            labels = labels[:1]
        chosen = labels if answer is None else [*labels, answer]
        draft.choose(_INTENT, [_option(each) for each in chosen], answer)

    def _ask_yes_no(self, draft: Draft, label: str, rng: random.Random) -> None:
        holds = rng.random() < 0.5
        asked = label
        if not holds:
            asked = self._confusables.draw(rng, label, 1, share=float(rng.random() < 0.4))[0]
        words, about = spoken(asked), _ABOUTS.get(asked, spoken(asked))
        key = words.replace(" ", "_")
        name = rng.choice((key, f"is_{key}", f"about_{key}", "matches", "answer", "flag", "result"))
        question = rng.choice(_YES_NO).format(words=words, about=about)
        draft.decide(Wording((name,), (question,)), holds)


def _num_options(rng: random.Random, most: int) -> int:
    size = rng.random()
    if size < 0.72:
        return min(most, rng.randint(4, 10))
    if size < 0.90:
        return min(most, rng.randint(13, 30))
    return most


def _option(label: str) -> Option:
    return Option(label, _ABOUTS.get(label))


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
