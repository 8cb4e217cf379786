"""Reading contexts: from their first token or from where an earlier read agrees, to a state.

A context is read in passes that end where the *grid* says, a multiple of tokens counted from its
start, and short contexts share a pass. Neither changes a bit: a token's numbers follow from the
tokens before it alone.

A read may start from what an earlier one left behind after the same tokens. Keys and values of the
first tokens are a view of those of all, so attention can go on from any position; reuse ends at a
multiple of 64 of them, a tile of `deg_kernels.fork_attention`. State layers remember one moment
only, so their states are kept at the points of the grid, which is as fine as they are small: one
moment of them takes no more memory than the keys and values of the tokens between two points. For
Qwen3.5-0.8B, 19 MB a moment, these are 2048 tokens, for LFM2.5-1.2B, 80 kB a moment, 512.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from deg_model.attention import RowAttention
from deg_model.encoding import EncodedContext
from deg_model.family import Backbone
from deg_model.features import TapFeatures
from deg_model.heads import Heads
from deg_model.passes import run_pass
from deg_model.recurrence import RowRecurrence, states_after
from deg_model.scores import SpanKeys
from deg_model.state import Moment, State

# T context tokens, C taps, H hidden

__all__ = ["ContextState", "Progress", "Reader", "Start"]

_PASS_TOKENS = 4096
_REUSE_TOKENS = 64
_FINEST_GRID = 512
# the attention scores of a group of queries, and what becomes of them
_SCORE_BYTES = 1 << 26

Progress = Callable[[int, int], None]
"""Called with how many tokens are read and how many there are to read."""


@dataclass(frozen=True, slots=True)
class Start:
    """The first tokens of a context as an earlier read of the same tokens left them.

    Attributes:
        state: What every layer remembers of them.
        taps_TCH: The tapped hidden states of those that belong to the context itself.
        moments: What the state layers remembered at the points of the grid up to there.
    """

    state: State
    taps_TCH: Tensor
    moments: tuple[Moment, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextState:
    """A context after it was read: what forks continue, and what spans are chosen from.

    Attributes:
        encoded: Its tokens.
        state: What every layer remembers after the last one.
        span_keys: Its tokens as borders of spans.
        moments: What the state layers remembered at each point of the grid, where there are any.
    """

    encoded: EncodedContext
    state: State
    span_keys: SpanKeys
    moments: tuple[Moment, ...] = ()

    @property
    def num_bytes(self) -> int:
        """The memory that it takes once all keys are computed."""
        moments = sum(moment.num_bytes for moment in self.moments)
        return self.state.num_bytes + moments + self.span_keys.num_bytes

    def alone(self) -> ContextState:
        """Return this context in memory of its own, whichever others were read with it."""
        moments = tuple(moment.alone() for moment in self.moments)
        return replace(self, state=self.state.alone(), moments=moments)

    def start(self, num_tokens: int) -> Start | None:
        """Return where a context with the same first *num_tokens* tokens can start, if it can."""
        taps = self.span_keys.features_TK
        assert isinstance(taps, TapFeatures)
        # behind its last context token nothing is tapped
        num_tokens = min(num_tokens, self.encoded.first + self.encoded.num_tokens)
        state = self._state_before(num_tokens)
        if state is None:
            return None
        return Start(
            state,
            taps.taps_NTH[: max(0, state.length - self.encoded.first)],
            tuple(moment for moment in self.moments if moment.length <= state.length),
        )

    def _state_before(self, num_tokens: int) -> State | None:
        if self.state.recurrent:
            fitting = [moment for moment in self.moments if moment.length <= num_tokens]
            return self.state.at(fitting[-1]) if fitting else None
        num_tokens -= num_tokens % _REUSE_TOKENS
        return self.state.at(Moment(num_tokens)) if num_tokens else None


class Reader:
    """Reads contexts.

    Args:
        backbone: What reads them.
        taps: The layers after which the heads read.
        heads: The heads that look at context tokens.

    Attributes:
        grid: The number of tokens at whose multiples passes end.
        step: The number of tokens at whose multiples a read can start.
    """

    def __init__(self, backbone: Backbone, taps: tuple[int, ...], heads: Heads) -> None:
        self._backbone, self._taps, self._heads = backbone, taps, heads
        self.grid = _grid(backbone)
        self.step = self.grid if backbone.config.state_layers else _REUSE_TOKENS

    @torch.inference_mode()
    def read(
        self,
        contexts: Sequence[EncodedContext],
        starts: Sequence[Start | None],
        on_progress: Progress | None = None,
    ) -> list[ContextState]:
        """Read each context on from the start beside it, where there is one."""
        reads = [self._begun(*pair) for pair in zip(contexts, starts, strict=True)]
        total = sum(map(len, reads))
        for some in self._passes(reads):
            self._read_on(some)
            if on_progress:
                on_progress(total - sum(map(len, reads)), total)
        return [self._finished(read) for read in reads]

    def num_bytes(self, num_tokens: int) -> int:
        """Return the memory that a context of so many tokens takes once it is read."""
        config, item = self._backbone.config, self._backbone.dtype.itemsize
        keys = 3 * len(self._heads.extract.start_key.weight) + 1
        token = config.token_bytes(item) + keys * torch.float32.itemsize
        token += len(self._taps) * config.hidden_size * item
        return num_tokens * token + (num_tokens // self.grid + 1) * config.moment_bytes(item)

    def pass_bytes(self, num_tokens: int) -> int:
        """Return about how much memory a pass over so many tokens takes beside that."""
        config, item = self._backbone.config, self._backbone.dtype.itemsize
        widths = 6 * config.hidden_size + 4 * config.intermediate_size
        widths += 8 * config.num_heads * config.head_size
        return min(num_tokens, _PASS_TOKENS) * widths * item + _SCORE_BYTES

    def _begun(self, encoded: EncodedContext, start: Start | None) -> _Read:
        shape = (encoded.num_tokens, len(self._taps), self._backbone.config.hidden_size)
        taps = torch.empty(
            shape, dtype=self._backbone.dtype, device=self._backbone.embedding_VH.device
        )
        read = _Read(encoded, taps, State(), [])
        if start is not None:
            read.state, read.moments = start.state, list(start.moments)
            read.taps_TCH[: len(start.taps_TCH)] = start.taps_TCH[: encoded.num_tokens]
        return read

    def _passes(self, reads: Sequence[_Read]) -> Iterator[list[_Read]]:
        """Yield which contexts are read on together, until all are read."""
        waiting = [read for read in reads if len(read)]
        while waiting:
            some: list[_Read] = []
            size = 0
            for read in waiting:
                size += len(read.next_ids(self.grid))
                if some and size > _PASS_TOKENS:
                    break
                some.append(read)
            yield some
            rest = waiting[len(some) :]
            waiting = [read for read in some if len(read)] + rest

    def _read_on(self, reads: Sequence[_Read]) -> None:
        rows = [read.next_ids(self.grid) for read in reads]
        lengths, states = [len(row) for row in rows], [read.state for read in reads]
        room = [len(read.encoded.ids) for read in reads]
        attend = RowAttention(lengths, states, keep=True, room=room)
        recur = RowRecurrence(lengths, states, keep=True)
        tapped = run_pass(self._backbone, rows, states, attend, recur, taps=self._taps)
        after = states_after(attend, recur, self._backbone.config.state_layers)
        pieces = zip(*(torch.split(tap_NH, lengths) for tap_NH in tapped), strict=True)
        for read, state, own in zip(reads, after, pieces, strict=True):
            read.keep(state, own, is_moment=state.length % self.grid == 0)

    def _finished(self, read: _Read) -> ContextState:
        keys = SpanKeys(TapFeatures(read.taps_TCH), self._heads.extract, self._heads.anchor)
        return ContextState(read.encoded, read.state, keys, tuple(read.moments))


@dataclass(slots=True)
class _Read:
    """A context that is being read; its length is what is left to read."""

    encoded: EncodedContext
    taps_TCH: Tensor
    state: State
    moments: list[Moment]

    def __len__(self) -> int:
        return len(self.encoded.ids) - self.state.length

    def next_ids(self, grid: int) -> tuple[int, ...]:
        start = self.state.length
        return self.encoded.ids[start : (start // grid + 1) * grid]

    def keep(self, state: State, tapped: Sequence[Tensor], *, is_moment: bool) -> None:
        # tokens of the trunk around the context are not pointed at
        first, num_tokens = self.encoded.first, self.encoded.num_tokens
        start = max(self.state.length, first)
        end = min(state.length, first + num_tokens)
        if start < end:
            inside = slice(start - self.state.length, end - self.state.length)
            for number, tap_LH in enumerate(tapped):
                self.taps_TCH[start - first : end - first, number] = tap_LH[inside]
        self.state = state
        if is_moment and state.recurrent:
            self.moments.append(Moment(state.length, state.recurrent))


def _grid(backbone: Backbone) -> int:
    config, item = backbone.config, backbone.dtype.itemsize
    if not config.state_layers:
        return _PASS_TOKENS
    tokens = config.moment_bytes(item) // max(1, config.token_bytes(item))
    return min(_PASS_TOKENS, max(_FINEST_GRID, 1 << tokens.bit_length()))
