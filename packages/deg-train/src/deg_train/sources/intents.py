"""Queries with one intent each, trained over sampled lists of intents and yes-no questions."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from deg_train.records import Record
from deg_train.sources.confusable import Confusables
from deg_train.sources.draft import Draft
from deg_train.sources.wording import Option, Wording, spoken, wrap

__all__ = ["IntentSampler", "intent_record"]


def intent_record(source: str, text: str, answer: str, labels: Sequence[str], about: str) -> Record:
    """Return a query of the data set *source* that is asked for its intent among *labels*."""
    intent = {"type": "string", "enum": [spoken(label) for label in labels], "description": about}
    schema = {"type": "object", "properties": {"intent": intent}, "required": ["intent"]}
    return Record(text, schema, {"intent": spoken(answer)}, {}, source)


class IntentSampler:
    """Draws records about queries that are known to have one intent.

    Args:
        name: Of the data set.
        examples: Texts and the label of each.
        wording: How to ask for the intent.
        questions: How to ask whether it is a certain one, by `{words}` and what it is `{about}`.
        abouts: What is known to be meant by labels.
        num_options: Draws how many options a list has, given how many there are.
        others: Texts that have none of the labels.
    """

    def __init__(
        self,
        name: str,
        examples: Sequence[tuple[str, str]],
        wording: Wording,
        questions: Sequence[str],
        *,
        num_options: Callable[[random.Random, int], int],
        abouts: Mapping[str, str] | None = None,
        others: Sequence[str] = (),
    ):
        self._name, self._examples, self._others = name, examples, others
        self._wording, self._questions, self._abouts = wording, questions, abouts or {}
        self._num_options = num_options
        texts: defaultdict[str, list[str]] = defaultdict(list)
        for text, label in examples:
            texts[label].append(text)
        self._confusables = Confusables(texts)

    @property
    def labels(self) -> Sequence[str]:
        """Every label, in the order of the first example of each."""
        return self._confusables.labels

    def sample(self, rng: random.Random) -> Record:
        """Draw a query, an option list around its intent, and sometimes a yes-no question."""
        if self._others and rng.random() < 0.05:
            draft = Draft(self._name, wrap(rng.choice(self._others), rng)[0], rng)
            count = self._num_options(rng, len(self.labels))
            draft.choose(self._wording, self._options(rng.sample(self.labels, count)), None)
            return draft.record()
        text, label = rng.choice(self._examples)
        draft = Draft(self._name, wrap(text, rng)[0], rng)
        ask = rng.random()
        if ask < 0.88:
            self._ask_choice(draft, label, rng)
        if ask > 0.72:
            for _ in range(rng.randint(1, 2)):
                self._ask_yes_no(draft, label, rng)
        return draft.record()

    def _ask_choice(self, draft: Draft, label: str, rng: random.Random) -> None:
        count = self._num_options(rng, len(self.labels))
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
        draft.choose(self._wording, self._options(chosen), answer)

    def _options(self, labels: Sequence[str]) -> list[Option]:
        return [Option(label, self._abouts.get(label)) for label in labels]

    def _ask_yes_no(self, draft: Draft, label: str, rng: random.Random) -> None:
        holds = rng.random() < 0.5
        asked = label
        if not holds:
            asked = self._confusables.draw(rng, label, 1, share=float(rng.random() < 0.4))[0]
        words = spoken(asked)
        key = words.replace(" ", "_")
        name = rng.choice((key, f"is_{key}", f"about_{key}", "matches", "answer", "flag", "result"))
        about = self._abouts.get(asked, words)
        question = rng.choice(self._questions).format(words=words, about=about)
        draft.decide(Wording((name,), (question,)), holds)
