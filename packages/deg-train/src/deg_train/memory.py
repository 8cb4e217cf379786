"""What a micro-batch takes of memory, and how a batch is cut so that it fits.

What the backward pass needs is kept from the forward pass, and grows with a few sizes of the batch:
tokens, attention scores, keys and values that forks copy. What each of them costs is measured on
the model itself (`deg_train.probes`); the planner multiplies and adds. It is a value, saved with
the run: a plan follows from it and the batch alone, so that a resumed run plans as an unbroken one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

from deg_model import BackboneConfig
from deg_train.batches import Batch, split_contexts, split_rows
from deg_train.passes import TRUNK_CHUNK

__all__ = ["Costs", "Planner", "Unit", "sizes", "smaller"]

_DELTA_CHUNK = 64
_NUM_OF_TRUNK = 3
# an out-of-memory error says that what was planned for is not there
_AFTER_FAILURE = 0.8
# what the way back takes at a layer beside what was kept of it, in units of that: gradients, and
# products in fp32. The median of fifteen passes on the default base on a CPU, of 2.7 to 7.7
_BACKWARD = 4


@dataclass(frozen=True, slots=True)
class Unit:
    """A micro-batch: what is read, and how.

    Attributes:
        batch: What is read.
        num_parts: Its rows are read in so many parts, which share one pass over the contexts.
        recompute: Keep only the inputs of layers and compute the layers again backward.
        is_measured: What it keeps shall be measured, to correct the planner.
    """

    batch: Batch
    num_parts: int = 1
    recompute: bool = False
    is_measured: bool = False

    @property
    def parts(self) -> list[Batch]:
        """What is read of the rows at once."""
        return split_rows(self.batch, self.num_parts) if self.num_parts > 1 else [self.batch]


@dataclass(frozen=True, slots=True)
class Costs:
    """What each of the `sizes` of a batch costs, in bytes.

    Attributes:
        whole: Where the forward pass keeps what the backward pass needs.
        inputs: Where it keeps the inputs of layers alone.
        standing: What a pass keeps whatever it reads: mostly weights, which are there before.
    """

    whole: tuple[float, ...]
    inputs: tuple[float, ...]
    standing: float

    def trunk(self, batch: Batch, *, recompute: bool) -> float:
        """Return what the contexts of *batch* keep."""
        return _product(self._each(recompute)[:_NUM_OF_TRUNK], sizes(batch)[:_NUM_OF_TRUNK])

    def forks(self, batch: Batch, *, recompute: bool) -> float:
        """Return what the rows of *batch* keep, in the layers and in the heads."""
        return _product(self._each(recompute)[_NUM_OF_TRUNK:], sizes(batch)[_NUM_OF_TRUNK:])

    def _each(self, recompute: bool) -> tuple[float, ...]:
        return self.inputs if recompute else self.whole


@dataclass(frozen=True, slots=True)
class Planner:
    """Cuts batches into units that fit a budget.

    Attributes:
        costs: What a batch keeps, by its sizes.
        num_layers: Of the backbone: of those that are computed again, one is kept at a time.
        state_bytes: What forks continue, for each context token.
        leaf_bytes: What parts of the rows take from a trunk that they share, for each context
            token: state and hidden states, their gradients, and what a part's heads make of them.
        budget: The bytes that a unit may take.
        factor: By what the largest unit that was measured kept more than predicted.
        largest: What that unit was predicted to keep, before the factor.
    """

    costs: Costs
    num_layers: int
    state_bytes: int
    leaf_bytes: int
    budget: int
    factor: float = 1.0
    largest: float = 0.0

    @classmethod
    def of(
        cls, costs: Costs, config: BackboneConfig, *, num_taps: int, item: int, budget: int
    ) -> Planner:
        """Return a planner for a backbone whose hidden states have *item* bytes a value."""
        state = config.token_bytes(item)
        tapped = num_taps * config.hidden_size
        # twice in the dtype of the model, and the features with their squares and norms in fp32
        return cls(costs, config.num_layers, state, 2 * state + (2 * item + 12) * tapped, budget)

    @classmethod
    def from_json(cls, text: str) -> Planner:
        """Return the planner that `to_json` wrote."""
        saved = json.loads(text)
        costs = saved.pop("costs")
        whole, inputs = tuple(costs["whole"]), tuple(costs["inputs"])
        return cls(Costs(whole, inputs, costs["standing"]), **saved)

    def to_json(self) -> str:
        """Return this planner as text, to the last bit."""
        return json.dumps(asdict(self))

    def predict(self, unit: Unit) -> float:
        """Return the bytes that *unit* takes at its height."""
        return self.factor * (self._kept(unit) + self._way_back(unit))

    def keeps(self, unit: Unit) -> float:
        """Return the bytes that the forward pass of *unit* keeps for the way back."""
        return self.factor * self._kept(unit)

    def plan(self, batch: Batch) -> list[Unit]:
        """Return *batch* as units within the budget; a smallest one may be over it.

        What costs least time is tried first: fewer documents at once, then fewer rows over a shared
        trunk, then computing layers again.
        """
        if self._fits(unit := Unit(batch)):
            return [self._marked(unit)]
        if len(batch.contexts) > 1:
            return [unit for half in split_contexts(batch) for unit in self.plan(half)]
        for recompute in (False, True):
            for num_parts in _numbers_of_parts(len(batch.rows)):
                if self._fits(unit := Unit(batch, num_parts, recompute)):
                    return [unit]
        return [Unit(batch, max(1, len(batch.rows)), recompute=True)]

    def corrected(self, measured: Iterable[tuple[Unit, int]]) -> Planner:
        """Return this planner, corrected by the largest unit measured so far and its bytes."""
        planner = self
        for unit, num_bytes in measured:
            kept = self._kept(unit)
            if kept > planner.largest:
                factor = max(0.0, num_bytes - self.costs.standing) / kept
                planner = replace(planner, factor=factor, largest=kept)
        return planner

    def shrunk(self, failed: Iterable[Unit]) -> Planner:
        """Return this planner with less to plan for, where memory *failed*, but half at least.

        What was missing may have been another process's for a moment.
        """
        least = min((self.predict(unit) for unit in failed), default=None)
        if least is None:
            return self
        fitting = min(self.budget, int(_AFTER_FAILURE * least))
        return replace(self, budget=max(self.budget // 2, fitting))

    def _fits(self, unit: Unit) -> bool:
        return self.predict(unit) <= self.budget

    def _marked(self, unit: Unit) -> Unit:
        # few are, as each must be larger than the last, and the largest says most; chunks take most
        # on the way back, which is not measured
        is_chunked = unit.batch.width > TRUNK_CHUNK
        return replace(unit, is_measured=not is_chunked and self._kept(unit) > 1.1 * self.largest)

    def _kept(self, unit: Unit) -> float:
        batch, costs, parts = unit.batch, self.costs, unit.parts
        is_chunked = batch.width > TRUNK_CHUNK
        carried = self.state_bytes if is_chunked else 0
        if len(parts) > 1:
            carried += self.leaf_bytes
        return (
            costs.trunk(batch, recompute=unit.recompute or is_chunked)
            + max(costs.forks(part, recompute=unit.recompute) for part in parts)
            + carried * batch.num_trunk
        )

    def _way_back(self, unit: Unit) -> float:
        """Return what the backward pass takes at its height, at one layer, beside what is kept."""
        batch, costs = unit.batch, self.costs
        # of a chunked trunk, one chunk is read back at a time
        chunk = min(1.0, TRUNK_CHUNK / batch.width) * costs.trunk(batch, recompute=False)
        forks = max(costs.forks(part, recompute=False) for part in unit.parts)
        again = chunk if unit.recompute or batch.width > TRUNK_CHUNK else 0.0
        if unit.recompute:
            again += forks
        return (_BACKWARD * (chunk + forks) + again) / self.num_layers


def sizes(batch: Batch) -> tuple[float, ...]:
    """Return the sizes that memory grows with, three of the contexts and then those of the rows.

    They are the contexts' tokens, attention scores and chunks of the delta rule; then the rows'
    tokens, attention scores, copied keys, chunks of the delta rule, and of heads that point into a
    context its keys and the scores.
    """
    num, width = len(batch.contexts), batch.width
    shapes = [(len(bucket.context_R), bucket.width) for bucket in batch.buckets]
    pointing = [row for row in batch.rows if row.question.fork.head in ("extract", "anchor")]
    num_spans = sum(len(row.question.spans) for row in pointing)
    return (
        num * width,
        num * width * min(width, TRUNK_CHUNK),
        num * -(-width // _DELTA_CHUNK),
        sum(rows * own for rows, own in shapes),
        sum(rows * own * (width + own) for rows, own in shapes),
        sum(rows * (width + own) for rows, own in shapes),
        sum(rows * -(-own // _DELTA_CHUNK) for rows, own in shapes),
        num * width if pointing else 0,
        (len(pointing) + num_spans) * width,
    )


def smaller(unit: Unit) -> list[Unit]:
    """Return *unit* in smaller parts, for when memory failed; none if it is the smallest.

    Parts that shared a trunk are read one by one, each with a pass of its own over the context.
    """
    batch = unit.batch
    if len(batch.contexts) > 1:
        return [Unit(half, recompute=unit.recompute) for half in split_contexts(batch)]
    if unit.num_parts > 1:
        return [Unit(part, recompute=unit.recompute) for part in unit.parts]
    if len(batch.rows) > 1:
        return [Unit(half, recompute=True) for half in split_rows(batch, 2)]
    return [] if unit.recompute else [replace(unit, recompute=True)]


def _numbers_of_parts(num_rows: int) -> list[int]:
    numbers = [1]
    while numbers[-1] < num_rows:
        numbers.append(min(2 * numbers[-1], num_rows))
    return numbers


def _product(costs: Sequence[float], amounts: Sequence[float]) -> float:
    return sum(cost * amount for cost, amount in zip(costs, amounts, strict=True))
