"""Contexts that were read before: the next request on one, or on its beginning, reads no more.

What is handed out has the bits of a fresh read. A text that was read is found by itself; any other
goes on from the longest beginning that it shares with one that was, where `deg_model` can start.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from deg_model import ContextState, ContextTooLong, DegModel, EncodedContext, Progress, Start
from deg_runtime.memory import free_bytes
from deg_runtime.prefixes import PrefixIndex

__all__ = ["Contexts", "ReadContext"]

_BUDGET = 1 << 30
# of the free memory, for the states of the contexts of one call
_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class ReadContext:
    """A context that was read.

    Attributes:
        state: What forks continue.
        cached_tokens: How many of its tokens were not read again.
    """

    state: ContextState
    cached_tokens: int


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be read of a text."""

    encoded: EncodedContext
    start: Start | None


class Contexts:
    """Reads contexts, and keeps what it read while the budget lasts; the least used goes first.

    Args:
        model: What reads them.
        budget_bytes: The memory that kept contexts may take; with 0 none is kept.
    """

    def __init__(self, model: DegModel, budget_bytes: int = _BUDGET) -> None:
        self._model, self._budget = model, budget_bytes
        self._kept: OrderedDict[str, ContextState] = OrderedDict()
        self._prefixes = PrefixIndex(model.reader.step)
        self.num_bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        """Let every context go."""
        while self._kept:
            self._drop()

    def read_many(
        self, texts: Sequence[str], *, on_progress: Progress | None = None
    ) -> list[ReadContext | ContextTooLong]:
        """Read each text that is not kept, together and each once, as if each were alone.

        Args:
            texts: The contexts.
            on_progress: Called with tokens read and to read after each pass, if there is one.

        Returns:
            What was read; for a text that does not fit the memory free now, the error, which is
            found before anything is read.
        """
        found: dict[str, ReadContext | ContextTooLong] = {}
        plans: dict[str, _Plan] = {}
        for text in dict.fromkeys(texts):
            if text in self._kept:
                self._kept.move_to_end(text)
                state = self._kept[text]
                found[text] = ReadContext(state, len(state.encoded.ids))
            else:
                plans[text] = self._plan(text)
        refused = self._refused(plans)
        fitting = {text: plan for text, plan in plans.items() if text not in refused}
        found |= refused
        found |= self._read(fitting, on_progress)
        return [found[text] for text in texts]

    def batches(self, texts: Sequence[str]) -> Iterator[slice]:
        """Cut *texts* where the memory free now would not hold more of them at a time."""
        room, start, used = _SHARE * free_bytes(self._model.device), 0, 0
        for index, text in enumerate(texts):
            # rarely has a text more tokens than letters
            size = self._model.reader.num_bytes(len(text))
            if index > start and used + size > room:
                yield slice(start, index)
                start, used = index, 0
            used += size
        if start < len(texts):
            yield slice(start, len(texts))

    def _plan(self, text: str) -> _Plan:
        encoded = self._model.encode(text)
        shared = self._prefixes.longest(encoded.ids)
        if shared is None:
            return _Plan(encoded, None)
        name, num_tokens = shared
        self._kept.move_to_end(name)
        return _Plan(encoded, self._kept[name].start(num_tokens))

    def _refused(self, plans: Mapping[str, _Plan]) -> dict[str, ContextTooLong]:
        """Return an error for each text that does not fit beside those before it."""
        refused: dict[str, ContextTooLong] = {}
        reader, free, taken = self._model.reader, free_bytes(self._model.device) if plans else 0, 0
        for text, plan in plans.items():
            num_tokens = len(plan.encoded.ids)
            size = reader.num_bytes(num_tokens)
            needed = taken + size + reader.pass_bytes(num_tokens)
            if needed > free + self.num_bytes:
                left = free + self.num_bytes - taken
                refused[text] = ContextTooLong(num_tokens, needed - taken, left)
                continue
            while needed > free and self._kept:
                self._drop()
                free = free_bytes(self._model.device)
            taken += size
        return refused

    def _read(
        self, plans: Mapping[str, _Plan], on_progress: Progress | None
    ) -> dict[str, ReadContext]:
        contexts = [plan.encoded for plan in plans.values()]
        starts = [plan.start for plan in plans.values()]
        states = self._model.reader.read(contexts, starts, on_progress)
        read = {}
        for text, start, state in zip(plans, starts, states, strict=True):
            read[text] = ReadContext(state, start.state.length if start else 0)
            self._keep(text, state)
        return read

    def _keep(self, text: str, state: ContextState) -> None:
        if state.num_bytes > self._budget:
            return
        while self.num_bytes + state.num_bytes > self._budget:
            self._drop()
        self._kept[text] = state.alone()
        self._prefixes.add(text, state.encoded.ids)
        self.num_bytes += state.num_bytes

    def _drop(self) -> None:
        text, state = self._kept.popitem(last=False)
        self._prefixes.remove(text)
        self.num_bytes -= state.num_bytes
