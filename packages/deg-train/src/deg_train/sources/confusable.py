"""Which labels are easily taken for each other: TF-IDF centroids of their texts, by cosine."""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

__all__ = ["Confusables", "nearest_labels"]

_WORD = re.compile(r"[a-z0-9']+")


class Confusables:
    """Draws wrong labels for a right one, some of them the ones most like it."""

    def __init__(self, texts_by_label: Mapping[str, Sequence[str]], *, num_nearest: int = 12):
        self.labels = tuple(texts_by_label)
        self.nearest = nearest_labels(texts_by_label, num_nearest)

    def draw(
        self,
        rng: random.Random,
        answer: str,
        count: int,
        *,
        share: float = 0.5,
        without: frozenset[str] = frozenset(),
    ) -> list[str]:
        """Draw `count` labels other than `answer`, a `share` of them confusable with it."""
        near = [label for label in self.nearest.get(answer, ()) if label not in without]
        num_near = min(len(near), round(count * share))
        # a narrow pool keeps the drawn ones close: twice as many as are wanted
        drawn = rng.sample(near[: 2 * num_near], num_near)
        taken = {answer, *drawn} | without
        others = [label for label in self.labels if label not in taken]
        return drawn + rng.sample(others, min(count - num_near, len(others)))


def nearest_labels(
    texts_by_label: Mapping[str, Sequence[str]], count: int
) -> dict[str, tuple[str, ...]]:
    """Rank for every label the `count` labels whose texts are most like its own."""
    centroids = _centroids(texts_by_label)
    index: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    for label, centroid in centroids.items():
        for word, weight in centroid.items():
            index[word].append((label, weight))
    ranked = {}
    for label, centroid in centroids.items():
        similarity: defaultdict[str, float] = defaultdict(float)
        for word, weight in centroid.items():
            for other, other_weight in index[word]:
                similarity[other] += weight * other_weight
        similarity.pop(label, None)
        by_likeness = sorted(similarity.items(), key=lambda item: (-item[1], item[0]))
        ranked[label] = tuple(other for other, _ in by_likeness[:count])
    return ranked


def _centroids(texts_by_label: Mapping[str, Sequence[str]]) -> dict[str, dict[str, float]]:
    words_by_label = {
        label: [_WORD.findall(text.lower()) for text in texts]
        for label, texts in texts_by_label.items()
    }
    num_texts = sum(len(texts) for texts in words_by_label.values())
    frequency = Counter(
        word for texts in words_by_label.values() for words in texts for word in set(words)
    )
    rarity = {word: math.log((1 + num_texts) / (1 + n)) + 1 for word, n in frequency.items()}
    return {label: _centroid(texts, rarity) for label, texts in words_by_label.items()}


def _centroid(texts: Sequence[Sequence[str]], rarity: Mapping[str, float]) -> dict[str, float]:
    total: defaultdict[str, float] = defaultdict(float)
    for words in texts:
        weights = {word: n * rarity[word] for word, n in Counter(words).items()}
        for word, weight in _unit(weights).items():
            total[word] += weight
    return _unit(total)


def _unit(weights: Mapping[str, float]) -> dict[str, float]:
    norm = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
    return {word: weight / norm for word, weight in weights.items()}
