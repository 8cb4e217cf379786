"""`deg-train fit`: train adapters and heads, log each step, keep what a resumed run needs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch

from deg_model import (
    BASES,
    DEFAULT_BASE,
    Tokenizer,
    load_backbone,
    load_checkpoint,
    resolve_base,
    save_checkpoint,
)
from deg_train.console import Stop, say
from deg_train.losses import LOSSES
from deg_train.recipe import drawer
from deg_train.run_log import RunLog
from deg_train.run_plot import plot_run
from deg_train.sources import Sampler
from deg_train.trainer import FitOptions, StepReport, Trainer, run

__all__ = ["fit"]

_STATE = "state.safetensors"
_LOG = "metrics.jsonl"


def fit(
    out: Path,
    options: FitOptions,
    *,
    source: Sampler,
    init: Path | None,
    model_id: str,
    threads: int,
    save_every: int,
    tensorboard: bool = False,
) -> int:
    """Train into *out*, going on from its saved state where there is one.

    Ctrl-C or a termination ends the run after the step at hand, saved.

    Args:
        out: Holds `metrics.jsonl`, `plot.svg`, the state and `checkpoint/`.
        options: How to train.
        source: What records are drawn from.
        init: A checkpoint to start from instead of fresh adapters and heads.
        model_id: The name that the checkpoint gives itself.
        threads: How many batches are read side by side.
        save_every: Steps between two saved states.
        tensorboard: Write `events/` for TensorBoard too.

    Returns:
        0 at the last step, else what a shell gives a command that the signal ended.
    """
    torch.set_num_threads(threads)
    out.mkdir(parents=True, exist_ok=True)
    base = BASES[DEFAULT_BASE]
    files = resolve_base(base, report=say)
    draw = drawer(source, Tokenizer.load(files.folder, files.family), options)
    trainer = Trainer(load_backbone(files), base, options, threads=threads)
    if (out / _STATE).is_file():
        trainer.resume(out / _STATE)
        say(f"resumed at step {trainer.step}")
    elif init is not None:
        trainer.start_from(load_checkpoint(init))
    events = out / "events" if tensorboard else None
    with Stop() as stop, RunLog(out / _LOG, trainer.step, events=events) as log:
        reports = run(
            trainer, draw, save_to=out / _STATE, save_every=save_every, should_stop=stop.is_asked
        )
        for report in _with_progress(reports, options):
            log.add(report)
            if report.step % save_every == 0:
                save_checkpoint(trainer.checkpoint(model_id), out / "checkpoint")
        save_checkpoint(trainer.checkpoint(model_id), out / "checkpoint")
    plot_run(out / _LOG, out / "plot.svg")
    if trainer.step < options.steps:
        say(f"stopped at step {trainer.step}; the same command goes on from there")
    say(f"wrote {out / 'checkpoint'}")
    return stop.status if trainer.step < options.steps else 0


def _with_progress(reports: Iterable[StepReport], options: FitOptions) -> Iterator[StepReport]:
    window: list[StepReport] = []
    began = time.monotonic()
    for num_done, report in enumerate(reports, 1):
        window.append(report)
        if len(window) == 20 or report.step == options.steps:
            say(_line(window, options, (time.monotonic() - began) / num_done))
            window.clear()
        yield report


def _line(window: list[StepReport], options: FitOptions, seconds_per_step: float) -> str:
    last = window[-1]
    parts = []
    for name in LOSSES:
        asked = [report for report in window if name in report.losses]
        if asked:
            loss, right = (
                sum(getattr(report, of)[name] for report in asked) / len(asked)
                for of in ("losses", "right")
            )
            parts.append(f"{name} {loss:.3f} ({right:.2f} right)")
    rate = sum(r.tokens for r in window) / sum(r.seconds for r in window)
    left = (options.steps - last.step) * seconds_per_step / 60
    done = f"step {last.step}/{options.steps}"
    return "  ".join([done, *parts, f"{rate:.0f} tokens/s", f"{left:.0f} min left"])
