"""How many items an array has and where each starts: pure functions of its own logits (12.6).

A draw goes to what comes first, and each token is looked at with its neighbours alone, so that
nothing depends on the machine or on what else was asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from torch import Tensor

from deg_model import MAX_COUNT
from deg_schema import ArrayPlan, Items, Options

# T context tokens, N counts

__all__ = ["PEAK_RADIUS", "Anchors", "find_anchors", "regions_of", "take_count"]

PEAK_RADIUS = 4
"""No two peaks are this near each other, in tokens: an item has one."""

# where no limit is given, of items that are told apart by their number
_MOST_BY_INDEX = 32


@dataclass(frozen=True, slots=True)
class Anchors:
    """Where the items of one array start.

    Attributes:
        tokens: A context token an item, in the order of the document.
        limit: What ended the count, as in `deg_schema.Items`.
    """

    tokens: tuple[int, ...]
    limit: str | None = None


def take_count(logits_N: Tensor, array: ArrayPlan, options: Options) -> Items:
    """Return how many items an array has whose items are told apart by their number."""
    most = array.limit(options.max_items)
    if most is None:
        most = max(_MOST_BY_INDEX, array.min_items)
    count, ended_at = _likeliest(logits_N, array.min_items, most)
    return Items(count, _limit_of(ended_at, array, options))


def find_anchors(
    logits_T: Tensor,
    region: tuple[int, int],
    array: ArrayPlan,
    options: Options,
    count_logits_N: Tensor | None = None,
) -> Anchors:
    """Return where the items of an array start in *region*, as `options.array_decode` says.

    There are fewer than `minItems` where the region has no more places.

    Args:
        logits_T: What the anchor head gives each context token.
        region: The context tokens, the last exclusive, that may start an item.
        array: The array.
        options: Of the request.
        count_logits_N: What the count head says; needed unless the mode is `threshold`.
    """
    start, end = region
    logits = logits_T[start:end].tolist()
    marked = _marked(logits)
    chosen, count, limit = marked, 0, None
    if count_logits_N is not None and _goes_by_count(marked, options):
        count, limit = _count_of(count_logits_N, len(marked), array, options)
        chosen = _peaks(logits, count)
    most = array.limit(options.max_items)
    if most is not None and len(chosen) > most:
        chosen, limit = _best(logits, chosen)[:most], _limit_of(most, array, options)
    chosen = _filled_up(logits, chosen, array.min_items)
    if limit is None and len(chosen) < count:
        limit = "places"
    return Anchors(tuple(start + token for token in sorted(chosen)), limit)


def regions_of(anchors: Sequence[int], end: int) -> list[tuple[int, int]]:
    """Return each item's region: from its anchor to the next, the last one's to *end*."""
    return list(pairwise([*anchors, end]))


def _goes_by_count(marked: Sequence[int], options: Options) -> bool:
    return options.array_decode == "count_peaks" or (
        options.array_decode == "hybrid" and not marked
    )


def _count_of(
    logits_N: Tensor, num_marked: int, array: ArrayPlan, options: Options
) -> tuple[int, str | None]:
    """Return the number of peaks to take: at the count head's last outcome the marks may add."""
    most = array.limit(options.max_items)
    count, ended_at = _likeliest(logits_N, array.min_items, MAX_COUNT if most is None else most)
    if count >= MAX_COUNT and num_marked > count:
        return num_marked, None
    return count, _limit_of(ended_at, array, options)


def _likeliest(logits_N: Tensor, least: int, most: int) -> tuple[int, int | None]:
    """Return the likeliest count from *least* to *most*, and where it ended if more is likelier."""
    if least >= MAX_COUNT:
        return least, least
    logits = logits_N.tolist()
    allowed = range(least, min(most, MAX_COUNT) + 1)
    count = max(allowed, key=logits.__getitem__)
    wanted = max(range(least, MAX_COUNT + 1), key=logits.__getitem__)
    return count, allowed[-1] if wanted > allowed[-1] or count == MAX_COUNT else None


def _limit_of(ended_at: int | None, array: ArrayPlan, options: Options) -> str | None:
    """Name what ended a count."""
    if ended_at is None:
        return None
    if ended_at == array.max_items:
        return "maxItems"
    is_option = options.max_items is not None and ended_at == array.limit(options.max_items)
    return "max_items" if is_option else "count_head"


def _marked(logits: Sequence[float]) -> list[int]:
    """Return the best token of each run of tokens that are likelier than not to start an item."""
    best: list[int] = []
    last = -2
    for token, logit in enumerate(logits):
        if logit <= 0:
            continue
        if token > last + 1:
            best.append(token)
        elif logit > logits[best[-1]]:
            best[-1] = token
        last = token
    return best


def _peaks(logits: Sequence[float], count: int) -> list[int]:
    """Return the *count* best peaks, then the best tokens that are near none of them."""
    order = _best(logits, range(len(logits)))
    peaks = [token for token in order if _is_peak(logits, token)]
    chosen = _spread([], peaks, count, PEAK_RADIUS)
    return _spread(chosen, order, count, PEAK_RADIUS)


def _is_peak(logits: Sequence[float], token: int) -> bool:
    # of a level stretch, its first token
    left, right = logits[token - 1 : token], logits[token + 1 : token + 2]
    return all(logits[token] > logit for logit in left) and all(
        logits[token] >= logit for logit in right
    )


def _filled_up(logits: Sequence[float], chosen: list[int], least: int) -> list[int]:
    if len(chosen) >= least:
        return chosen
    return _spread(chosen, _best(logits, range(len(logits))), least, 1)


def _spread(chosen: Iterable[int], order: Iterable[int], count: int, radius: int) -> list[int]:
    """Add tokens in *order* until there are *count*, each farther than *radius* from the others."""
    spread = list(chosen)
    near = {other for token in spread for other in range(token - radius, token + radius + 1)}
    for token in order:
        if len(spread) >= count:
            break
        if token not in near:
            spread.append(token)
            near.update(range(token - radius, token + radius + 1))
    return spread


def _best(logits: Sequence[float], tokens: Iterable[int]) -> list[int]:
    return sorted(tokens, key=lambda token: (-logits[token], token))
