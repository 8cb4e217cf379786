"""Requests on their way: in order, asked, written, answered; each fails alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from deg_model import ArrayMode, DegModel, State
from deg_runtime.contexts import ReadContext
from deg_runtime.rounds import Asked
from deg_runtime.writing import Page, Text
from deg_schema import (
    DegError,
    FillError,
    FillPlan,
    Generated,
    Options,
    Outcome,
    Unwritten,
    assemble,
    compile_schema,
    parse_options,
    render_context,
    settle,
)

__all__ = [
    "Answered",
    "Context",
    "Job",
    "OptionsLike",
    "Request",
    "Response",
    "prepare",
    "read_options",
]

Context: TypeAlias = str | Mapping[str, Any] | list[Any]
OptionsLike: TypeAlias = Options | Mapping[str, Any] | None
Request: TypeAlias = (
    tuple[Context, Mapping[str, Any]] | tuple[Context, Mapping[str, Any], OptionsLike]
)
"""A document and its schema, with options of its own or those of the call."""
Response: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Job:
    """A request that is in order."""

    text: str
    schema: Mapping[str, Any]
    plan: FillPlan
    options: Options

    @property
    def has_texts(self) -> bool:
        """Whether any field is to be written."""
        return any(leaf.mode == "generate" for leaf in self.plan.fields)

    def asked(self, read: ReadContext, mode: ArrayMode | None) -> Asked:
        """Begin to ask about the document as it was read."""
        return Asked(self.plan, self.text, read.state, self.options, mode)


@dataclass(slots=True)
class Answered:
    """A request whose questions are answered; no more is kept of the document than writing needs.

    Attributes:
        job: The request.
        outcomes: What was found, by pointer.
        prompt_tokens: How many tokens the document and the questions have.
        cached_tokens: How many of them had been read before.
        num_questions: How many questions were asked.
        error: Why the request cannot be filled.
        texts: What is left to write.
        state: What the writer remembers of the document, if it is to go on from there.
    """

    job: Job
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    prompt_tokens: int = 0
    cached_tokens: int = 0
    num_questions: int = 0
    error: DegError | None = None
    texts: list[Unwritten] = field(default_factory=list)
    state: State | None = None

    @classmethod
    def of(cls, job: Job, asked: Asked, cached_tokens: int, model: DegModel) -> Answered:
        """Take over what was found."""
        writes_on = asked.error is None and job.has_texts and model.writes_on
        return cls(
            job,
            asked.outcomes,
            prompt_tokens=len(asked.context.encoded.ids) + asked.num_tokens,
            cached_tokens=cached_tokens,
            num_questions=asked.num_questions,
            error=asked.error,
            state=asked.context.state if writes_on else None,
        )

    def page(self) -> Page | None:
        """Return what is to be written and from what, if anything is."""
        if self.error is not None or not self.job.has_texts:
            return None
        try:
            settled = settle(self.job.plan, self.outcomes)
        except FillError as error:
            self.error = error
            return None
        self.texts = settled.texts
        texts = tuple(Text(text.field, text.pointer) for text in settled.texts)
        if not texts:
            return None
        return Page(self.job.text, settled.known, texts, self.job.options, self.state)

    def take(self, written: Sequence[Generated | FillError]) -> None:
        """Take up the texts of the page."""
        for text, result in zip(self.texts, written, strict=True):
            if isinstance(result, Generated):
                self.outcomes[text.source] = result
            else:
                self.error = self.error or result

    def response(self, model_id: str) -> Response | DegError:
        """Return the response, or why there is none."""
        if self.error is not None:
            return self.error
        try:
            return assemble(
                self.job.plan,
                self.job.schema,
                self.outcomes,
                model=model_id,
                prompt_tokens=self.prompt_tokens,
                cached_tokens=self.cached_tokens,
            )
        except FillError as error:
            return error


def prepare(requests: Sequence[Request], shared: Options, model: DegModel) -> list[Job | DegError]:
    """Bring each request in order, or tell why it is not."""
    # a batch often has one schema
    plans: dict[int, FillPlan] = {}
    jobs: list[Job | DegError] = []
    for context, schema, *own in requests:
        try:
            if id(schema) not in plans:
                plans[id(schema)] = compile_schema(schema)
            plan = plans[id(schema)]
            _check_arrays(plan, model)
            options = shared if not own or own[0] is None else read_options(own[0])
            jobs.append(Job(render_context(context), schema, plan, options))
        except DegError as error:
            jobs.append(error)
    return jobs


def read_options(options: OptionsLike) -> Options:
    """Read options that may have been read already.

    Raises:
        RequestError: An option is unknown or of a wrong value.
    """
    return options if isinstance(options, Options) else parse_options(options or {})


def _check_arrays(plan: FillPlan, model: DegModel) -> None:
    if plan.arrays and model.arrays is None:
        raise FillError(
            f"the checkpoint {model.model_id!r} was not trained on arrays: use one that was, or "
            "ask for each value as a property of its own",
            plan.arrays[0].pointer,
        )
