"""`deg-train generator`: an adapter that writes texts as labelled documents have them (12.7).

It trains on texts alone, in the layout that the runtime writes them in, and reads all of it. What
is kept is the step whose texts of validation are likeliest, token by token; a run that has not
found a better one for a while ends.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch

from deg_model import (
    BASES,
    DEFAULT_BASE,
    Generator,
    Tokenizer,
    encode_context,
    load_backbone,
    resolve_base,
    save_generator,
)
from deg_runtime import Stop
from deg_schema import compile_schema
from deg_train.batches import Batch, pack
from deg_train.console import say
from deg_train.fit import took_up
from deg_train.fit_options import FitOptions
from deg_train.fit_progress import FitProgress
from deg_train.gold_texts import gold_texts
from deg_train.losses import texts_of
from deg_train.parameters import TrainedAdapters
from deg_train.questions import Example, Question
from deg_train.records import Record
from deg_train.run_log import RunLog
from deg_train.run_plot import plot_run
from deg_train.text_loss import next_token_losses, text_places
from deg_train.trainer import Trainer, run

__all__ = ["TextRun", "TextSet", "fit_generator", "text_set", "token_loss"]

_STATE, _LOG, _MARKS = "state.safetensors", "metrics.jsonl", "validation.jsonl"


@dataclass(frozen=True, slots=True)
class TextRun:
    """How long a run goes on.

    Attributes:
        every: Steps between two measurements of validation, with the state saved.
        patience: Measurements in a row, none of them the best so far, that end the run.
    """

    every: int = 25
    patience: int = 4


@dataclass(frozen=True, slots=True)
class TextSet:
    """Documents with the texts that are to be written about them.

    Attributes:
        examples: A document each, with its texts as questions.
        untaught: What cannot be taught, and why.
    """

    examples: tuple[Example, ...]
    untaught: tuple[str, ...]

    @property
    def num_texts(self) -> int:
        """How many texts there are."""
        return sum(len(example.questions) for example in self.examples)


def text_set(records: Sequence[Record], tokenizer: Tokenizer) -> TextSet:
    """Return the texts of *records*; a text over its limit is left out, never cut."""
    examples: list[Example] = []
    untaught: list[str] = []
    for record in records:
        context = encode_context(record.context, tokenizer)
        found = gold_texts(record, compile_schema(record.schema), context, tokenizer)
        untaught += found.untaught
        asked = [Question(t.fork, t.field.pointer, targets=t.targets) for t in found.texts]
        if asked:
            examples.append(Example(context, tuple(asked)))
    return TextSet(tuple(examples), tuple(untaught))


@torch.no_grad()
def token_loss(trainer: Trainer, batches: Sequence[Batch]) -> float:
    """Return the mean cross-entropy of the tokens of all texts in *batches*, in nats."""
    total, num_tokens = 0.0, 0
    for batch in batches:
        answers, targets = zip(*texts_of(batch), strict=True)
        final_NH = trainer.read(batch).final_NH
        places_N = text_places(answers, targets, final_NH.device)
        wanted_N = torch.tensor([token for each in targets for token in each])
        head_VH = trainer.backbone.embedding_VH
        losses_N, _ = next_token_losses(final_NH[places_N], head_VH, wanted_N.to(final_NH.device))
        total, num_tokens = total + float(losses_N.sum()), num_tokens + len(wanted_N)
    return total / num_tokens


def fit_generator(
    out: Path,
    options: FitOptions,
    how: TextRun,
    *,
    records: Sequence[Record],
    validation: Sequence[Record],
    threads: int,
) -> int:
    """Train a generator into *out*, going on from its saved state where there is one.

    Args:
        out: Holds `metrics.jsonl`, `validation.jsonl`, `plot.svg`, the state and `generator/`.
        options: How to train.
        how: How long.
        records: What is learned.
        validation: What the best step is chosen by.
        threads: How many batches are read side by side.

    Returns:
        0, or 1 where no step writes better than the base, or what a shell gives a command that a
        signal ended.

    Raises:
        ValueError: There is no text to learn, or none to choose by; or the saved state is of
            another run.
    """
    torch.set_num_threads(threads)
    base = BASES[DEFAULT_BASE]
    files = resolve_base(base, report=say)
    tokenizer = Tokenizer.load(files.folder, files.family)
    taught = _told("train", text_set(records, tokenizer))
    held_out = pack(
        _told("val", text_set(validation, tokenizer)).examples, options.tokens_per_batch
    )
    out.mkdir(parents=True, exist_ok=True)
    trainer = Trainer(load_backbone(files), base, options, threads=threads)
    took_up(trainer, out / _STATE)
    marks = _Marks(out / _MARKS, trainer.step)

    def measure() -> None:
        loss = token_loss(trainer, held_out)
        if trainer.step and loss < marks.least:
            facts = {"step": trainer.step, "token_loss": loss, "base_token_loss": marks.losses[0]}
            facts |= {"documents": len(taught.examples), "texts": taught.num_texts}
            save_generator(_generator(trainer, facts), out / "generator")
        # last: a step that was not noted is measured again when the run goes on
        marks.add(trainer.step, loss)

    def is_due() -> bool:
        return trainer.step % how.every == 0 or trainer.step == options.steps

    # at first, the base; later the step that was saved last, if the run ended before measuring it
    if is_due() and trainer.step not in marks.losses:
        measure()
    draw = _drawer(taught.examples, options)
    with (
        Stop("step") as stop,
        RunLog(out / _LOG, trainer.step) as log,
        FitProgress(options.steps) as progress,
    ):
        steps = run(
            trainer, draw, save_to=out / _STATE, save_every=how.every, should_stop=stop.is_asked
        )
        while not marks.is_over(how) and (report := next(steps, None)) is not None:
            log.add(report)
            progress.add(report)
            if is_due():
                measure()
                say(f"step {report.step}: {marks.losses[report.step]:.4f} nats a token, held out")
    plot_run(out / _LOG, out / "plot.svg")
    if trainer.step < options.steps and not marks.is_over(how):
        say(f"stopped at step {trainer.step}; the same command goes on from there")
        return stop.status
    if not marks.best:
        say(
            f"no step wrote better than the base ({marks.losses[0]:.4f} nats a token): nothing was "
            "written; label more documents, or lower --learning-rate"
        )
        return 1
    say(
        f"wrote {out / 'generator'}: step {marks.best}, {marks.least:.4f} nats a "
        f"token on texts held out, the base {marks.losses[0]:.4f}"
    )
    return 0


class _Marks:
    """The loss of validation at each step that it was measured at, kept as a line of JSON each."""

    def __init__(self, path: Path, step: int) -> None:
        self._path = path
        self.losses: dict[int, float] = {}
        if path.is_file() and step:
            for line in path.read_text("utf-8").splitlines():
                mark = json.loads(line)
                # what was measured after the saved state is measured again
                if mark["step"] <= step:
                    self.losses[mark["step"]] = mark["token_loss"]

    @property
    def best(self) -> int:
        """The step with the least loss, the first of them; 0 is the base."""
        return min(self.losses, key=lambda step: (self.losses[step], step))

    @property
    def least(self) -> float:
        """The least loss so far."""
        return self.losses[self.best]

    def add(self, step: int, loss: float) -> None:
        """Note *loss*."""
        self.losses[step] = loss
        part = self._path.with_suffix(".part")
        lines = [json.dumps({"step": at, "token_loss": each}) for at, each in self.losses.items()]
        part.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        os.replace(part, self._path)

    def is_over(self, how: TextRun) -> bool:
        """Say whether the last measurements found nothing better."""
        return sum(step > self.best for step in self.losses) >= how.patience


def _drawer(examples: Sequence[Example], options: FitOptions) -> Callable[[int], Sequence[Batch]]:
    def draw(step: int) -> Sequence[Batch]:
        rng = Random(f"{options.seed}/{step}")
        drawn: list[Example] = []
        while sum(example.num_tokens for example in drawn) < options.tokens_per_step:
            drawn.append(rng.choice(examples))
        return pack(drawn, options.tokens_per_batch)

    return draw


def _generator(trainer: Trainer, facts: dict[str, Any]) -> Generator:
    trained, options = trainer.trained, trainer.options
    assert isinstance(trained, TrainedAdapters)
    how = {"learning_rate": options.learning_rate, "kl_base": options.lm_kl_base}
    return Generator.of(trained.adapters, trainer.backbone, trainer.base, facts | how)


def _told(split: str, found: TextSet) -> TextSet:
    for each in found.untaught:
        say(f"left out of {split}: {each}")
    if not found.examples:
        raise ValueError(
            f"no record with the split {split!r} has a text: give a field 'x-generate': true, and "
            "the value that is to be written"
        )
    return found
