"""The model as the runtime sees it: read a context once, then answer forks from its state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from deg_kernels import linear
from torch import Tensor

from deg_model.adapters import LowRankAdapters
from deg_model.attention import RowAttention
from deg_model.checkpoint import Checkpoint
from deg_model.encoding import EncodedContext, encode_context
from deg_model.errors import CheckpointError, ContextTooLong
from deg_model.family import Backbone
from deg_model.features import tap_features
from deg_model.heads import Heads, SpanHead
from deg_model.layout import Fork
from deg_model.llama import Llama
from deg_model.loading import load_backbone
from deg_model.state import State
from deg_model.tokenizer import Tokenizer
from deg_model.weights import BaseFiles

# N flat tokens, T context tokens, R questions, O options, S starts, H hidden, K features, D = 256

__all__ = ["ContextState", "DegModel", "SpanScores"]

_ROW_GRID = 16
_CHUNK = 4096
_FORK_TOKENS = 4096


@dataclass(frozen=True)
class ContextState:
    """A context after it was read: what forks continue, and what spans are chosen from."""

    encoded: EncodedContext
    state: State
    features_TK: Tensor
    _head: SpanHead

    @cached_property
    def start_keys_TD(self) -> Tensor:
        """Keys of possible span starts."""
        return linear(self.features_TK, self._head.start_key.weight)

    @cached_property
    def end_keys_TD(self) -> Tensor:
        """Keys of possible span ends."""
        return linear(self.features_TK, self._head.end_key.weight)


class SpanScores:
    """One extract question's scores over the tokens of a context.

    Attributes:
        log_start: Log-probabilities [T] that the value starts at each token.
        log_null: The log-probability that the context does not hold the value.
    """

    def __init__(self, answer_H: Tensor, context: ContextState, temperature: float) -> None:
        self._answer_H, self._context, self._temperature = answer_H, context, temperature
        head = context._head
        query_1D = linear(answer_H[None], head.start_query.weight)
        match_1T = linear(query_1D, context.start_keys_TD) / 16.0
        null_11 = linear(answer_H[None], head.null.weight) + head.null.bias
        logits_Z = torch.cat([match_1T, null_11], dim=-1)[0] / temperature
        log_Z = logits_Z.log_softmax(-1)
        self.log_start = log_Z[:-1]
        self.log_null = float(log_Z[-1])

    def log_end(self, starts: Sequence[int]) -> Tensor:
        """Return log-probabilities [S, T] of each end token given each start; -inf outside."""
        context, head = self._context, self._context._head
        starts_S = torch.tensor(list(starts), dtype=torch.long)
        query_SD = linear(self._answer_H[None], head.end_query.weight) + linear(
            context.features_TK[starts_S], head.end_given_start.weight
        )
        match_ST = linear(query_SD, context.end_keys_TD) / 16.0
        bias_ST = head.end_bias(starts_S, context.encoded.num_tokens)
        return ((match_ST + bias_ST) / self._temperature).log_softmax(-1)


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
        self.backbone, self.tokenizer, self.taps, self.model_id = backbone, tokenizer, taps, model_id
        self.heads = heads.float().eval().requires_grad_(False)

    @classmethod
    def load(
        cls, checkpoint: Checkpoint, files: BaseFiles, dtype: torch.dtype = torch.bfloat16
    ) -> DegModel:
        """Put *checkpoint* on the base weights in *files*.

        Raises:
            CheckpointError: It was trained on another base, or its tensors do not fit.
        """
        if files.sha256 != checkpoint.base.sha256:
            raise CheckpointError(
                f"checkpoint {checkpoint.model_id!r} was trained on {checkpoint.base.name!r} "
                f"(sha256 {checkpoint.base.sha256}), not on {files.name!r} ({files.sha256})"
            )
        backbone = load_backbone(files, dtype)
        assert isinstance(backbone, Llama)
        hidden = backbone.config.hidden_size
        heads = Heads(hidden, hidden * len(checkpoint.taps))
        adapters = LowRankAdapters(backbone, checkpoint.rank)
        try:
            heads.load_state_dict(checkpoint.heads)
            adapters.load(checkpoint.adapters)
        except RuntimeError as error:
            raise CheckpointError(f"checkpoint {checkpoint.model_id!r}: {error}") from error
        with torch.no_grad():
            merged = backbone.merged(adapters.pairs(torch.float32), 1.0)
        return cls(
            merged,
            heads,
            Tokenizer.load(Path(files.folder)),
            taps=checkpoint.taps,
            model_id=checkpoint.model_id,
        )

    @torch.inference_mode()
    def read(self, context: str) -> ContextState:
        """Read *context* once.

        Raises:
            ContextTooLong: It has more tokens than the backbone has positions.
        """
        encoded = encode_context(context, self.tokenizer)
        limit = self.backbone.config.max_positions
        if len(encoded.ids) > limit:
            raise ContextTooLong(
                f"the context has {len(encoded.ids)} tokens and this model reads at most {limit}: "
                "split the document"
            )
        state, pieces = State(), []
        for start in range(0, len(encoded.ids), _CHUNK):
            chunk = encoded.ids[start : start + _CHUNK]
            attention = RowAttention([len(chunk)], [state], keep=True)
            tapped = self._pass([chunk], [state], attention)
            (state,) = attention.states()
            pieces.append(tap_features(tapped))
        own = slice(encoded.first, encoded.first + encoded.num_tokens)
        return ContextState(encoded, state, torch.cat(pieces)[own], self.heads.extract)

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
        for start, end in _batches(forks):
            rows = [fork.ids for fork in forks[start:end]]
            states = [context.state for context in contexts[start:end]]
            final_NH = self._pass(rows, states, RowAttention([*map(len, rows)], states))[-1].float()
            offset = 0
            for fork, context in zip(forks[start:end], contexts[start:end], strict=True):
                own_LH = final_NH[offset : offset + len(fork.ids)]
                answers.append(self._head(fork, own_LH, context))
                offset += len(fork.ids)
        return answers

    def _head(self, fork: Fork, own_LH: Tensor, context: ContextState) -> Tensor | SpanScores:
        answer_H = own_LH[-1]
        temperature = self.heads.temperature(fork.head)
        if fork.head == "extract":
            return SpanScores(answer_H, context, temperature)
        if fork.head == "noul":
            yes = self.heads.noul.yes
            logit_1 = (linear(answer_H[None], yes.weight) + yes.bias)[0]
            logits_O = torch.cat([logit_1, torch.zeros(1)])
        else:
            head = self.heads.choice if fork.head == "choice" else self.heads.score
            options_OH = own_LH[list(fork.options)]
            keys_OD = linear(options_OH, head.key.weight)
            query_1D = linear(answer_H[None], head.query.weight)
            prior_O = linear(options_OH, head.prior.weight)[:, 0]
            logits_O = linear(query_1D, keys_OD)[0] / 16.0 + prior_O
        return (logits_O / temperature).softmax(-1)

    def _pass(
        self,
        rows: Sequence[Sequence[int]],
        states: Sequence[State],
        attention: RowAttention,
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
            attention,
            taps=self.taps,
        )
        return [tap_NH[:num] for tap_NH in tapped]


def _batches(forks: Sequence[Fork]) -> list[tuple[int, int]]:
    batches, start, size = [], 0, 0
    for index, fork in enumerate(forks):
        if size and size + len(fork.ids) > _FORK_TOKENS:
            batches.append((start, index))
            start, size = index, 0
        size += len(fork.ids)
    return [*batches, (start, len(forks))] if forks else batches
