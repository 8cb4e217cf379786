"""The engine: one model in this process that fills schemas from documents."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from deg_model import DEFAULT_CHECKPOINT, DegModel, Progress, load_checkpoint, resolve_base
from deg_runtime.contexts import Contexts
from deg_runtime.events import Event, Filled, Finished, TextPiece
from deg_runtime.jobs import (
    Answered,
    Context,
    Job,
    OptionsLike,
    Request,
    Response,
    prepare,
    read_options,
)
from deg_runtime.logs import log_filled
from deg_runtime.rounds import Asked, run_rounds
from deg_runtime.trace import Trace
from deg_runtime.writing import Pieces, text_pieces
from deg_schema import DegError, FillError, Generated

__all__ = ["Engine", "load"]


class Engine:
    """Fills schemas; one may serve many threads in turn.

    Args:
        model: What reads and answers.
        contexts: Where contexts that were read are kept for the next call.
    """

    def __init__(self, model: DegModel, contexts: Contexts | None = None) -> None:
        self.model = model
        self.contexts = Contexts(model) if contexts is None else contexts

    @property
    def model_id(self) -> str:
        """The name that responses carry."""
        return self.model.model_id

    def fill(
        self,
        context: Context,
        schema: Mapping[str, Any],
        *,
        options: OptionsLike = None,
        trace: Trace | None = None,
        on_progress: Progress | None = None,
    ) -> Response:
        """Fill *schema* from *context* and return the response of contract section 8.

        Args:
            context: The document.
            schema: What to fill.
            options: Of the request.
            trace: Filled in with what the call did.
            on_progress: Called with tokens read and to read, again and again while it reads.

        Raises:
            SchemaError: The schema is outside the contract; it lists every problem.
            RequestError: The context or an option is.
            FillError: A required field that may not be null has no valid value, or the schema has
                an array and the checkpoint was not trained on any.
            ContextTooLong: The context does not fit the memory that is free.
        """
        (response,) = self.fill_many(
            [(context, schema)], options=options, trace=trace, on_progress=on_progress
        )
        if isinstance(response, DegError):
            raise response
        return response

    def fill_many(
        self,
        requests: Sequence[Request],
        *,
        options: OptionsLike = None,
        trace: Trace | None = None,
        on_progress: Progress | None = None,
    ) -> list[Response | DegError]:
        """Fill each request in shared passes, as `fill` would alone.

        A request that fails does so alone: what `fill` would raise stands in place of its response.

        Args:
            requests: Documents with their schemas, and options where they have their own.
            options: Of the others.
            trace: Filled in with what the call did.
            on_progress: Called with tokens read and to read of the documents that are read
                together, again and again while it reads.

        Raises:
            RequestError: Of *options*.
        """
        start = time.perf_counter()
        trace = Trace() if trace is None else trace
        shared = read_options(options)
        with trace.phase("compile"):
            jobs = prepare(requests, shared, self.model)
        trace.num_requests += len(jobs)
        responses: list[Response | DegError | None]
        responses = [job if isinstance(job, DegError) else None for job in jobs]
        for indices in self._batches(jobs):
            some = [job for index in indices if isinstance(job := jobs[index], Job)]
            for index, response in zip(indices, self._fill(some, trace, on_progress), strict=True):
                responses[index] = response
        filled = [response for response in responses if response is not None]
        log_filled(filled, self.model_id, start)
        return filled

    def stream(
        self, context: Context, schema: Mapping[str, Any], *, options: OptionsLike = None
    ) -> Iterator[Event]:
        """Fill *schema* and yield what comes to stand; the last event has the response of `fill`.

        Fields outside arrays come first, those in an array when all of it is answered, texts in
        pieces at last. To close the iterator is to stop the work.

        Raises:
            DegError: What `fill` raises; events that came before it hold all the same.
        """
        start, trace = time.perf_counter(), Trace(num_requests=1)
        (job,) = prepare([(context, schema)], read_options(options), self.model)
        if isinstance(job, DegError):
            raise job
        ((asked, cached_tokens),) = self._read([job], trace)
        if isinstance(asked, DegError):
            raise asked
        finished = Finished(asked)
        for _ in run_rounds(self.model, [asked], trace):
            yield from finished.events()
        answered = Answered.of(job, asked, cached_tokens, self.model)
        # of what was remembered of the document, no more is needed than texts go on from
        del asked, finished
        yield from _write([answered], self.model, trace)
        response = answered.response(self.model_id)
        log_filled([response], self.model_id, start)
        if isinstance(response, DegError):
            raise response
        yield Filled(response)

    def _batches(self, jobs: Sequence[Job | DegError]) -> Iterator[list[int]]:
        """Cut the jobs, those on one document together, where memory would not hold more."""
        by_text: dict[str, list[int]] = {}
        for index, job in enumerate(jobs):
            if isinstance(job, Job):
                by_text.setdefault(job.text, []).append(index)
        texts = list(by_text)
        for piece in self.contexts.batches(texts):
            yield [index for text in texts[piece] for index in by_text[text]]

    def _fill(
        self, jobs: Sequence[Job], trace: Trace, on_progress: Progress | None
    ) -> list[Response | DegError]:
        answered = self._answer(jobs, trace, on_progress)
        for _ in _write(answered, self.model, trace):
            # a piece is of use to nobody here
            pass
        with trace.phase("assemble"):
            return [one.response(self.model_id) for one in answered]

    def _answer(
        self, jobs: Sequence[Job], trace: Trace, on_progress: Progress | None
    ) -> list[Answered]:
        read = self._read(jobs, trace, on_progress)
        with trace.phase("ask"):
            requests = [asked for asked, _ in read if isinstance(asked, Asked)]
            for _ in run_rounds(self.model, requests, trace):
                # nobody waits for what is known by now
                pass
        return [
            Answered.of(job, asked, cached_tokens, self.model)
            if isinstance(asked, Asked)
            else Answered(job, error=asked)
            for job, (asked, cached_tokens) in zip(jobs, read, strict=True)
        ]

    def _read(
        self, jobs: Sequence[Job], trace: Trace, on_progress: Progress | None = None
    ) -> list[tuple[Asked | DegError, int]]:
        """Read the documents, and return a request on each, with how many tokens were kept."""
        with trace.phase("read"):
            texts = [job.text for job in jobs]
            read = self.contexts.read_many(texts, on_progress=on_progress)
        contexts = {job.text: one for job, one in zip(jobs, read, strict=True)}
        for one in contexts.values():
            if not isinstance(one, DegError):
                trace.read(len(one.state.encoded.ids), one.cached_tokens)
        return [
            (one, 0)
            if isinstance(one, DegError)
            else (job.asked(one, self.model.arrays), one.cached_tokens)
            for job, one in zip(jobs, read, strict=True)
        ]


def _write(answered: Sequence[Answered], model: DegModel, trace: Trace) -> Iterator[TextPiece]:
    """Write the texts of all requests, and yield them in pieces."""
    pages = [(one, page) for one in answered if (page := one.page()) is not None]
    if not pages:
        return
    with trace.phase("write"):
        pieces = text_pieces(model, [page for _, page in pages], trace=trace)
        written = yield from _told(pieces)
    for (one, _), texts in zip(pages, written, strict=True):
        one.take(texts)


def _told(pieces: Pieces) -> Generator[TextPiece, None, list[list[Generated | FillError]]]:
    while True:
        try:
            _, pointer, text = next(pieces)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        yield TextPiece(pointer, text)


def load(
    checkpoint: Path | None = None,
    *,
    device: str = "cpu",
    generate: str = "self",
    report: Callable[[str], None] | None = None,
) -> Engine:
    """Load a checkpoint, the embedded default where none is named, with its base weights.

    Args:
        checkpoint: A folder that `deg-train fit` wrote.
        device: Where the model computes, such as `cuda`.
        generate: Who writes texts: `self`, the checkpoint's own backbone; `base`, a frozen base
            beside it, which takes its memory too and differs where the whole backbone was trained;
            or `base+lora:DIR`, that base with what `deg-train generator` wrote to a folder.
        report: Called with a line on each step that takes time, such as a download.

    Raises:
        CheckpointError: The checkpoint or the generator is damaged, of another version or made for
            another base, or *generate* is something else.
        WeightsError: The base weights are not here and cannot be fetched.
        DeviceError: There is no such device here.
    """
    loaded = load_checkpoint(checkpoint or DEFAULT_CHECKPOINT)
    files = resolve_base(loaded.base, report=report or (lambda _: None))
    return Engine(DegModel.load(loaded, files, device=device, generate=generate))
