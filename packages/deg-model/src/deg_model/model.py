"""The model as the runtime sees it: read a context once, then answer forks from its state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate

import torch
from torch import Tensor

from deg_model.adapters import BASE_READS, FORK_HEADS, LowRankAdapters
from deg_model.attention import RowAttention
from deg_model.checkpoint import ArrayMode, Checkpoint
from deg_model.encoding import EncodedContext, encode_context
from deg_model.errors import CheckpointError, WeightsError
from deg_model.family import Backbone
from deg_model.generator import Generator, generator_folder, load_generator
from deg_model.heads import Heads, load_heads
from deg_model.layout import Fork
from deg_model.loading import checked_device, load_backbone
from deg_model.passes import run_pass
from deg_model.reading import ContextState, Progress, Reader
from deg_model.recurrence import RowRecurrence
from deg_model.scores import (
    SpanScores,
    anchor_logits,
    count_logits,
    probabilities,
)
from deg_model.state import State
from deg_model.tokenizer import Tokenizer
from deg_model.weights import BaseFiles
from deg_model.writing import Writer

# N flat tokens, L those of a row that are read, H hidden

__all__ = ["DegModel"]

_CHUNK = 4096


class DegModel:
    """A backbone with its adapters merged in, heads and tokenizer.

    Each adapter is merged into projections of its own, so that forks are read as fast as by plain
    weights: `decide` and `extract` over a context that the base reads take the memory of three sets
    of projections, beside one of token embeddings.

    Args:
        backbone: The stack that reads contexts and, unless said otherwise, forks.
        heads: The heads.
        tokenizer: The backbone's tokenizer.
        taps: The layers after which span keys read.
        model_id: The name that responses carry.
        arrays: How the heads find the items of arrays; None where they never learned to.
        fork_stacks: What reads the forks of a head, by its name, where it is not the backbone.
        load_writer: Loads what writes texts; where it is not given the backbone itself does.
    """

    def __init__(
        self,
        backbone: Backbone,
        heads: Heads,
        tokenizer: Tokenizer,
        *,
        taps: tuple[int, ...],
        model_id: str,
        arrays: ArrayMode | None = None,
        fork_stacks: Mapping[str, Backbone] | None = None,
        load_writer: Callable[[], Writer] | None = None,
    ) -> None:
        self.backbone, self.tokenizer = backbone, tokenizer
        self.taps, self.model_id, self.arrays = taps, model_id, arrays
        self.heads = heads.float().eval().requires_grad_(False)
        self._fork_stacks = dict(fork_stacks or {})
        self._load_writer = load_writer
        self.reader = Reader(backbone, taps, self.heads)

    @classmethod
    def load(
        cls,
        checkpoint: Checkpoint,
        files: BaseFiles,
        dtype: torch.dtype = torch.bfloat16,
        device: torch.device | str = "cpu",
        *,
        generate: str = "self",
    ) -> DegModel:
        """Put *checkpoint* on the base weights in *files*, all of it on *device*.

        Args:
            checkpoint: What was trained.
            files: The base that it was trained on.
            dtype: Of the weights.
            device: Where they go.
            generate: Who writes texts: `self`, the checkpoint's own stack without adapters; `base`,
                a frozen base beside it, which differs where the whole backbone was trained; or
                `base+lora:DIR`, that base with the generator in a folder.

        Raises:
            CheckpointError: It was trained on another base or another family, or its tensors do
                not fit; or the generator's, or *generate* is something else.
            WeightsError: The base weights are damaged.
            DeviceError: There is no such device here.
        """
        device = checked_device(device)
        generator = _generator(generate, files)
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
        backbone = load_backbone(files, dtype, device)
        hidden, plan = backbone.config.hidden_size, checkpoint.plan
        heads = Heads(hidden, hidden * len(checkpoint.taps))
        adapters = LowRankAdapters(backbone, checkpoint.rank, plan.names)
        try:
            load_heads(heads, checkpoint.heads, arrays=checkpoint.arrays is not None)
            adapters.load(checkpoint.adapters)
            if checkpoint.backbone is not None:
                backbone = backbone.with_weights(checkpoint.backbone)
        except (RuntimeError, WeightsError) as error:
            raise CheckpointError(f"checkpoint {checkpoint.model_id!r}: {error}") from error
        heads, adapters = heads.to(device), adapters.to(device)
        with torch.no_grad():
            stacks = {
                name: backbone.merged(adapters.pairs(torch.float32, name)) for name in plan.names
            }
            stacks.setdefault(plan.context, backbone)
            for stack in stacks.values():
                stack.pack()
        tokenizer, reading = Tokenizer.load(files.folder, files.family), stacks[plan.context]
        is_base = generator is None and (checkpoint.backbone is None or generate == "self")
        writes = plan.context == BASE_READS and is_base
        return cls(
            reading,
            heads,
            tokenizer,
            taps=checkpoint.taps,
            model_id=checkpoint.model_id,
            arrays=checkpoint.arrays,
            fork_stacks={
                head: stacks[name]
                for head in FORK_HEADS
                if (name := plan.adapter_of(head)) is not None
            },
            load_writer=lambda: Writer.load(
                files,
                tokenizer,
                dtype,
                device,
                backbone=reading if writes else None,
                generator=generator,
            ),
        )

    @property
    def device(self) -> torch.device:
        """Where the model computes; what it answers lies in the memory of the host."""
        return self.backbone.embedding_VH.device

    @cached_property
    def writer(self) -> Writer:
        """The base without adapters, which writes texts; loaded when first asked for.

        Raises:
            WeightsError: The base weights are gone or damaged.
        """
        if self._load_writer is None:
            return Writer(self.backbone, self.backbone.embedding_VH, self.tokenizer)
        return self._load_writer()

    @property
    def writes_on(self) -> bool:
        """Whether the writer goes on from a context's state: it is the stack that read it."""
        return self.writer.backbone is self.backbone

    def stack_of(self, head: str) -> Backbone:
        """Return what reads the forks of *head*."""
        return self._fork_stacks.get(head, self.backbone)

    def read(self, context: str) -> ContextState:
        """Read *context* once."""
        return self.read_many([context])[0]

    def read_many(
        self, contexts: Sequence[str], *, on_progress: Progress | None = None
    ) -> list[ContextState]:
        """Read each context once, short ones in one pass; each state is as if read alone.

        A context may be longer than any that the base was trained on: its rotary positions simply
        go on, and how well the model reads there is not known.

        Args:
            contexts: The texts.
            on_progress: Called after each pass.
        """
        encoded = [self.encode(context) for context in contexts]
        return self.reader.read(encoded, [None] * len(encoded), on_progress)

    def encode(self, context: str) -> EncodedContext:
        """Return the tokens that `read` would read for *context*."""
        return encode_context(context, self.tokenizer)

    @torch.inference_mode()
    def answer(
        self, forks: Sequence[Fork], contexts: Sequence[ContextState]
    ) -> list[Tensor | SpanScores]:
        """Answer each fork on the context beside it.

        Returns:
            All in fp32. For a decide fork its probabilities, for an extract fork its span scores,
            for a count fork a logit for each number of items, for an anchor fork one for each
            context token. Each is the same whatever forks stand beside it.
        """
        answers: dict[int, Tensor | SpanScores] = {}
        for stack, indices in self._by_stack(forks):
            lengths = [len(forks[index].ids) for index in indices]
            for start, end in _batches(lengths):
                own = indices[start:end]
                some, about = [forks[index] for index in own], [contexts[index] for index in own]
                read = _read_rows(stack, some, [context.state for context in about])
                answers |= zip(own, self._heads(some, about, read), strict=True)
        return [answers[index] for index in range(len(forks))]

    def _by_stack(self, forks: Sequence[Fork]) -> Iterator[tuple[Backbone, list[int]]]:
        """Yield each stack with the forks that it reads."""
        indices: dict[int, list[int]] = {}
        for index, fork in enumerate(forks):
            indices.setdefault(id(self.stack_of(fork.head)), []).append(index)
        for own in indices.values():
            yield self.stack_of(forks[own[0]].head), own

    def _heads(
        self, forks: Sequence[Fork], contexts: Sequence[ContextState], read: Sequence[Tensor]
    ) -> list[Tensor | SpanScores]:
        answers: dict[int, Tensor | SpanScores] = {}
        # questions about one context share the products with its keys
        spans: dict[int, list[int]] = {}
        for index, (fork, context) in enumerate(zip(forks, contexts, strict=True)):
            if fork.head == "extract":
                spans.setdefault(id(context), []).append(index)
            else:
                answers[index] = self._head(fork, read[index], context)
        for indices in spans.values():
            each = SpanScores.each(
                torch.stack([read[index][-1] for index in indices]),
                contexts[indices[0]].span_keys,
                self.heads.temperature("extract"),
                [forks[index].anchor for index in indices],
            )
            answers |= zip(indices, each, strict=True)
        return [answers[index] for index in range(len(forks))]

    def _head(self, fork: Fork, read_LH: Tensor, context: ContextState) -> Tensor:
        answer_H = read_LH[-1]
        if fork.head == "count":
            return count_logits(self.heads, answer_H).cpu()
        if fork.head == "anchor":
            return anchor_logits(answer_H, context.span_keys).cpu()
        # sums run in the order of the text, which the order of a schema's options does not change
        written = sorted(range(len(fork.options)), key=fork.options.__getitem__)
        found_O = probabilities(self.heads, fork.head, answer_H, read_LH[:-1][written]).cpu()
        return found_O if fork.head == "noul" else found_O[torch.tensor(written).argsort()]


def _generator(generate: str, files: BaseFiles) -> Generator | None:
    folder = generator_folder(generate)
    if folder is None:
        return None
    generator = load_generator(folder)
    if (generator.base.family, generator.base.sha256) != (files.family, files.sha256):
        raise CheckpointError(
            f"the generator in {folder} was trained on {generator.base.name!r} (sha256 "
            f"{generator.base.sha256}), not on {files.name!r} ({files.sha256})"
        )
    return generator


def _read_rows(stack: Backbone, forks: Sequence[Fork], states: Sequence[State]) -> Sequence[Tensor]:
    """Return what the heads read of each fork: its options' hidden states, then its answer's.

    They are copied out, so that the other tokens' hidden states die here.
    """
    rows = [fork.ids for fork in forks]
    lengths = [len(row) for row in rows]
    attend, recur = RowAttention(lengths, states), RowRecurrence(lengths, states)
    last = (stack.config.num_layers,)
    (final_NH,) = run_pass(stack, rows, states, attend, recur, taps=last)
    read = [
        first + position
        for first, fork in zip(accumulate(lengths, initial=0), forks, strict=False)
        for position in (*fork.options, len(fork.ids) - 1)
    ]
    return torch.split(final_NH[read].float(), [len(fork.options) + 1 for fork in forks])


def _batches(lengths: Sequence[int]) -> list[tuple[int, int]]:
    batches, start, size = [], 0, 0
    for index, length in enumerate(lengths):
        if size and size + length > _CHUNK:
            batches.append((start, index))
            start, size = index, 0
        size += length
    return [*batches, (start, len(lengths))] if lengths else batches
