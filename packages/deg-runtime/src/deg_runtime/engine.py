"""The engine: one model in this process that fills schemas from documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from torch import Tensor

from deg_model import (
    DEFAULT_CHECKPOINT,
    ContextState,
    DegModel,
    Fork,
    SpanScores,
    fork_of,
    load_checkpoint,
    resolve_base,
)
from deg_runtime.decode import decode
from deg_schema import (
    ArrayPlan,
    FieldPlan,
    FillError,
    FillPlan,
    Options,
    assemble,
    compile_schema,
    parse_options,
    render_context,
    why_unsupported,
)

__all__ = ["Engine", "load"]

Context: TypeAlias = str | Mapping[str, Any] | list[Any]


@dataclass(frozen=True, slots=True)
class _Job:
    """A document as it is asked about."""

    text: str
    schema: Mapping[str, Any]
    plan: FillPlan
    forks: list[Fork]


class Engine:
    """Fills schemas; holds no state between calls, so one may serve many threads in turn."""

    def __init__(self, model: DegModel) -> None:
        self.model = model

    @property
    def model_id(self) -> str:
        """The name that responses carry."""
        return self.model.model_id

    def fill(
        self,
        context: Context,
        schema: Mapping[str, Any],
        *,
        options: Options | Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Fill *schema* from *context* and return the response of contract section 8.

        Raises:
            SchemaError: The schema is outside the contract; it lists every problem.
            RequestError: The context or an option is.
            FillError: A required field that may not be null has no valid value, or the schema
                asks for an array or for a text to be written, which this version does not fill.
            ContextTooLong: The context has more tokens than the model can read.
        """
        (response,) = self.fill_many([(context, schema)], options=options)
        if isinstance(response, FillError):
            raise response
        return response

    def fill_many(
        self,
        documents: Sequence[tuple[Context, Mapping[str, Any]]],
        *,
        options: Options | Mapping[str, Any] | None = None,
    ) -> list[dict[str, Any] | FillError]:
        """Fill each schema from the context beside it, in shared passes, as `fill` would alone.

        A document whose schema cannot be filled has its error in place of a response.

        Raises:
            SchemaError: A schema is outside the contract.
            RequestError: A context or an option is.
            ContextTooLong: A context has more tokens than the model can read.
        """
        chosen = options if isinstance(options, Options) else parse_options(options or {})
        jobs = [self._job(context, schema) for context, schema in documents]
        responses = iter(self._answer([job for job in jobs if isinstance(job, _Job)], chosen))
        return [next(responses) if isinstance(job, _Job) else job for job in jobs]

    def _job(self, context: Context, schema: Mapping[str, Any]) -> _Job | FillError:
        plan = compile_schema(schema)
        text = render_context(context)
        parts: tuple[ArrayPlan | FieldPlan, ...] = (*plan.arrays, *plan.fields)
        for part in parts:
            if message := why_unsupported(part):
                return FillError(message, part.pointer)
        forks = [fork_of(field, self.model.tokenizer) for field in plan.fields]
        return _Job(text, schema, plan, forks)

    def _answer(self, jobs: Sequence[_Job], options: Options) -> list[dict[str, Any] | FillError]:
        states = self.model.read_many([job.text for job in jobs])
        forks = [fork for job in jobs for fork in job.forks]
        spread = [state for job, state in zip(jobs, states, strict=True) for _ in job.forks]
        answers = iter(self.model.answer(forks, spread))
        return [
            self._respond(job, state, list(islice(answers, len(job.forks))), options)
            for job, state in zip(jobs, states, strict=True)
        ]

    def _respond(
        self,
        job: _Job,
        state: ContextState,
        answers: Sequence[Tensor | SpanScores],
        options: Options,
    ) -> dict[str, Any] | FillError:
        num_tokens = len(state.encoded.ids) + sum(len(fork.ids) for fork in job.forks)
        try:
            outcomes = {
                field.pointer: decode(field, answer, job.text, state, options)
                for field, answer in zip(job.plan.fields, answers, strict=True)
            }
            return assemble(
                job.plan, job.schema, outcomes, model=self.model_id, prompt_tokens=num_tokens
            )
        except FillError as error:
            return error


def load(checkpoint: Path | None = None, *, report: Callable[[str], None] | None = None) -> Engine:
    """Load a checkpoint, the embedded default where none is named, with its base weights.

    Args:
        checkpoint: A folder that `deg-train fit` wrote.
        report: Called with a line on each step that takes time, such as a download.

    Raises:
        CheckpointError: The checkpoint is damaged or of another version.
        WeightsError: The base weights are not here and cannot be fetched.
    """
    loaded = load_checkpoint(checkpoint or DEFAULT_CHECKPOINT)
    files = resolve_base(loaded.base, report=report or (lambda _: None))
    return Engine(DegModel.load(loaded, files))
