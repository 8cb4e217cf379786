"""The model that writes texts: a stack without adapters (contract 12.7).

Where no adapter reads contexts it is the very stack that does, and goes on from what that remembers
of one: the base, or, in a checkpoint that holds a whole backbone, that one. Elsewhere it is a
frozen copy of the base, which reads a context anew, since what an adapted or a trained stack
remembers is not what the base would: adapter-off generation, and the two-copy hybrid, into whose
base a generator may be merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate

import torch
from torch import Tensor

from deg_kernels import linear_small, packed_weight
from deg_model.attention import RowAttention
from deg_model.decode_graph import Decoder
from deg_model.family import Backbone
from deg_model.generator import Generator
from deg_model.loading import load_backbone, load_head
from deg_model.recurrence import RowRecurrence, states_after
from deg_model.state import State
from deg_model.tokenizer import Tokenizer
from deg_model.weights import BaseFiles

# N flat tokens, R rows, H hidden, V vocabulary

__all__ = ["Writer"]

_CHUNK = 4096
# elsewhere a step that starts from the host is as fast
_HAS_GRAPHS = ("cuda",)


class Writer:
    """A stack with a head over the vocabulary, which reads rows and says what may come next.

    Args:
        backbone: The stack.
        head_VH: The head; the token embeddings where the family ties the two.
        tokenizer: The stack's tokenizer.
    """

    def __init__(self, backbone: Backbone, head_VH: Tensor, tokenizer: Tokenizer) -> None:
        self.backbone, self.tokenizer = backbone, tokenizer
        self._head_VH = packed_weight(head_VH)
        self._decoders: list[Decoder] = []

    @classmethod
    def load(
        cls,
        files: BaseFiles,
        tokenizer: Tokenizer,
        dtype: torch.dtype,
        device: torch.device | str = "cpu",
        *,
        backbone: Backbone | None = None,
        generator: Generator | None = None,
    ) -> Writer:
        """Load the base weights in *files*.

        Args:
            files: The base.
            tokenizer: The base's.
            dtype: Of the weights.
            device: Where they go.
            backbone: A stack that is loaded already, to which *files* only add the head.
            generator: What is merged into the base where no stack is given.

        Raises:
            WeightsError: They are damaged.
            CheckpointError: The generator does not fit them.
        """
        head_VH = load_head(files, dtype, device)
        if backbone is None:
            backbone = load_backbone(files, dtype, device)
            if generator is not None:
                backbone = generator.merged(backbone)
            backbone.pack()
        return cls(backbone, backbone.embedding_VH if head_VH is None else head_VH, tokenizer)

    @property
    def vocab_size(self) -> int:
        """How many logits a row has."""
        return len(self._head_VH)

    @torch.inference_mode()
    def read(self, ids: Sequence[int], state: State | None = None) -> State:
        """Return what is remembered of *ids*, read in pieces where they are many.

        Args:
            ids: The tokens.
            state: What they continue, if anything.
        """
        state = State() if state is None else state
        for start in range(0, len(ids), _CHUNK):
            _, (state,) = self._pass([ids[start : start + _CHUNK]], [state])
        return state

    @torch.inference_mode()
    def extend(
        self, rows: Sequence[Sequence[int]], states: Sequence[State]
    ) -> tuple[Tensor, list[State]]:
        """Read each row on from its state.

        Returns:
            The logits of what comes after each row [R, V], and each row's new state; a row's are
            the same whatever rows are read with it.
        """
        hidden_NH, after = self._pass(rows, states)
        last = [end - 1 for end in accumulate(len(row) for row in rows)]
        return linear_small(hidden_NH[last], self._head_VH), after

    @contextmanager
    def decoder(self) -> Iterator[Writer | Decoder]:
        """Lend what reads rows on token by token, as `extend` does: graphs, or this writer.

        The graphs and their buffers serve one loop after another.
        """
        if self._head_VH.device.type not in _HAS_GRAPHS:
            yield self
            return
        idle = self._decoders
        decoder = idle.pop() if idle else Decoder(self.backbone, self._head_VH, self.extend)
        try:
            yield decoder
        finally:
            idle.append(decoder)

    def _pass(
        self, rows: Sequence[Sequence[int]], states: Sequence[State]
    ) -> tuple[Tensor, list[State]]:
        lengths = [len(row) for row in rows]
        attend = RowAttention(lengths, states, keep=True)
        recur = RowRecurrence(lengths, states, keep=True)
        device = self.backbone.embedding_VH.device
        positions = [
            torch.arange(state.length, state.length + len(row), device=device)
            for row, state in zip(rows, states, strict=True)
        ]
        (hidden_NH,) = self.backbone.hidden(
            torch.tensor([token for row in rows for token in row], device=device),
            torch.cat(positions),
            attend,
            recur,
            taps=(self.backbone.config.num_layers,),
        )
        return hidden_NH, states_after(attend, recur, self.backbone.config.state_layers)
