"""The model as the runtime sees it: read a context once, then answer forks from its state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from deg_model.adapters import LowRankAdapters
from deg_model.attention import RowAttention
from deg_model.checkpoint import Checkpoint
from deg_model.encoding import EncodedContext, encode_context
from deg_model.errors import CheckpointError, ContextTooLong
from deg_model.family import Backbone
from deg_model.features import tap_features
from deg_model.heads import Heads
from deg_model.layout import Fork
from deg_model.loading import load_backbone
from deg_model.recurrence import RowRecurrence, states_after
from deg_model.scores import SpanKeys, SpanScores, probabilities
from deg_model.state import State
from deg_model.tokenizer import Tokenizer
from deg_model.weights import BaseFiles

# N flat tokens, L tokens of a fork, H hidden

__all__ = ["ContextState", "DegModel"]

_ROW_GRID = 16
_DENSE = 8192
_CHUNK = 4096


@dataclass(frozen=True, slots=True)
class ContextState:
    """A context after it was read: what forks continue, and what spans are chosen from."""

    encoded: EncodedContext
    state: State
    span_keys: SpanKeys


class DegModel:
    """A backbone with its adapters merged in, heads and tokenizer.

    Args:
        backbone: The stack that reads contexts and forks.
        heads: The heads.
        tokenizer: The backbone's tokenizer.
        taps: The layers after which span keys read.
        model_id: The name that responses carry.
    """

    def __init__(
        self,
        backbone: Backbone,
        heads: Heads,
        tokenizer: Tokenizer,
        *,
        taps: tuple[int, ...],
        model_id: str,
    ) -> None:
        self.backbone, self.tokenizer, self.taps, self.model_id = (
            backbone,
            tokenizer,
            taps,
            model_id,
        )
        self.heads = heads.float().eval().requires_grad_(False)

    @classmethod
    def load(
        cls, checkpoint: Checkpoint, files: BaseFiles, dtype: torch.dtype = torch.bfloat16
    ) -> DegModel:
        """Put *checkpoint* on the base weights in *files*.

        Raises:
            CheckpointError: It was trained on another base or another family, or its tensors do
                not fit.
            WeightsError: The base weights are damaged.
        """
        if files.family != checkpoint.base.family:
            raise CheckpointError(
                f"checkpoint {checkpoint.model_id!r} is of family {checkpoint.base.family!r}, "
                f"{files.name!r} of family {files.family!r}"
            )
        if files.sha256 != checkpoint.base.sha256:
            raise CheckpointError(
                f"checkpoint {checkpoint.model_id!r} was trained on {checkpoint.base.name!r} "
                f"(sha256 {checkpoint.base.sha256}), not on {files.name!r} ({files.sha256})"
            )
        backbone = load_backbone(files, dtype)
        hidden = backbone.config.hidden_size
        heads = Heads(hidden, hidden * len(checkpoint.taps))
        adapters = LowRankAdapters(backbone, checkpoint.rank)
        try:
            heads.load_state_dict(checkpoint.heads)
            adapters.load(checkpoint.adapters)
        except RuntimeError as error:
            raise CheckpointError(f"checkpoint {checkpoint.model_id!r}: {error}") from error
        with torch.no_grad():
            backbone = backbone.merged(adapters.pairs(torch.float32))
            backbone.pack()
        return cls(
            backbone,
            heads,
            Tokenizer.load(files.folder, files.family),
            taps=checkpoint.taps,
            model_id=checkpoint.model_id,
        )

    def read(self, context: str) -> ContextState:
        """Read *context* once.

        Raises:
            ContextTooLong: It has more tokens than the backbone has positions.
        """
        return self.read_many([context])[0]

    @torch.inference_mode()
    def read_many(self, contexts: Sequence[str]) -> list[ContextState]:
        """Read each context once, short ones in one pass; each state is as if read alone.

        Raises:
            ContextTooLong: One has more tokens than the backbone has positions.
        """
        encoded = [self._encode(context) for context in contexts]
        read: list[ContextState] = []
        for start, end in _batches([len(one.ids) for one in encoded]):
            read += self._read(encoded[start:end])
        return read

    def _encode(self, context: str) -> EncodedContext:
        encoded = encode_context(context, self.tokenizer)
        limit = self.backbone.config.max_positions
        if len(encoded.ids) > limit:
            raise ContextTooLong(
                f"the context has {len(encoded.ids)} tokens and this model reads at most {limit}: "
                "split the document"
            )
        return encoded

    def _read(self, contexts: Sequence[EncodedContext]) -> list[ContextState]:
        states = [State()] * len(contexts)
        pieces: list[list[Tensor]] = [[] for _ in contexts]
        # only a context that is alone may be longer than a chunk
        longest = max(len(encoded.ids) for encoded in contexts)
        chunk = longest if longest <= _DENSE else _CHUNK
        for start in range(0, longest, chunk):
            rows = [encoded.ids[start : start + chunk] for encoded in contexts]
            tapped, states = self._continue(rows, states)
            own = torch.split(tap_features(tapped), [len(row) for row in rows])
            for piece, own_LK in zip(pieces, own, strict=True):
                piece.append(own_LK)
        read = []
        for encoded, state, piece in zip(contexts, states, pieces, strict=True):
            inside = slice(encoded.first, encoded.first + encoded.num_tokens)
            features_TK = torch.cat(piece)[inside]
            keys = SpanKeys(features_TK, self.heads.extract)
            read.append(ContextState(encoded, state, keys))
        return read

    @torch.inference_mode()
    def answer(
        self, forks: Sequence[Fork], contexts: Sequence[ContextState]
    ) -> list[Tensor | SpanScores]:
        """Answer each fork on the context beside it.

        Returns:
            For a decide fork its probabilities (fp32), for an extract fork its span scores. Each
            is the same whatever forks stand beside it.
        """
        answers: list[Tensor | SpanScores] = []
        last = (self.backbone.config.num_layers,)
        for start, end in _batches([len(fork.ids) for fork in forks]):
            rows = [fork.ids for fork in forks[start:end]]
            states = [context.state for context in contexts[start:end]]
            lengths = [len(row) for row in rows]
            attend, recur = RowAttention(lengths, states), RowRecurrence(lengths, states)
            (final_NH,) = self._pass(rows, states, attend, recur, taps=last)
            own = torch.split(final_NH, [len(row) for row in rows])
            for fork, context, own_LH in zip(
                forks[start:end], contexts[start:end], own, strict=True
            ):
                answers.append(self._head(fork, own_LH, context))
        return answers

    def _head(self, fork: Fork, own_LH: Tensor, context: ContextState) -> Tensor | SpanScores:
        answer_H = own_LH[-1].float()
        if fork.head == "extract":
            return SpanScores(answer_H, context.span_keys, self.heads.temperature("extract"))
        options_OH = own_LH[list(fork.options)].float()
        return probabilities(self.heads, fork.head, answer_H, options_OH)

    def _continue(
        self, rows: Sequence[Sequence[int]], states: Sequence[State]
    ) -> tuple[list[Tensor], list[State]]:
        lengths = [len(row) for row in rows]
        attend = RowAttention(lengths, states, keep=True)
        recur = RowRecurrence(lengths, states, keep=True)
        tapped = self._pass(rows, states, attend, recur, taps=self.taps)
        return tapped, states_after(attend, recur, self.backbone.config.state_layers)

    def _pass(
        self,
        rows: Sequence[Sequence[int]],
        states: Sequence[State],
        attend: RowAttention,
        recur: RowRecurrence,
        *,
        taps: tuple[int, ...],
    ) -> list[Tensor]:
        num = sum(map(len, rows))
        # one product over a multiple of 16 rows gives each row the same bits in any company
        spare = -num % _ROW_GRID
        ids = [token for row in rows for token in row] + [0] * spare
        positions = [
            torch.arange(state.length, state.length + len(row))
            for row, state in zip(rows, states, strict=True)
        ]
        tapped = self.backbone.hidden(
            torch.tensor(ids),
            torch.cat([*positions, torch.zeros(spare, dtype=torch.long)]),
            attend,
            recur,
            taps=taps,
        )
        return [tap_NH[:num] for tap_NH in tapped]


def _batches(lengths: Sequence[int]) -> list[tuple[int, int]]:
    batches, start, size = [], 0, 0
    for index, length in enumerate(lengths):
        if size and size + length > _CHUNK:
            batches.append((start, index))
            start, size = index, 0
        size += length
    return [*batches, (start, len(lengths))] if lengths else batches
