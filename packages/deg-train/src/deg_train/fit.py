"""`deg-train fit`: train a checkpoint, log each step, keep what a resumed run needs."""

from __future__ import annotations

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
from deg_runtime import Stop
from deg_train.console import say
from deg_train.fit_options import FitOptions
from deg_train.fit_progress import FitProgress
from deg_train.recipe import drawer
from deg_train.run_log import RunLog
from deg_train.run_plot import plot_run
from deg_train.sources import Sampler, StepSampler
from deg_train.trainer import Trainer, run

__all__ = ["fit", "took_up"]

_STATE = "state.safetensors"
_LOG = "metrics.jsonl"


def fit(
    out: Path,
    options: FitOptions,
    *,
    source: Sampler | StepSampler,
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
        init: A checkpoint to start from instead of the base with fresh adapters and heads.
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
    tokenizer = Tokenizer.load(files.folder, files.family)
    # adapters never write: the base does, and has nothing to learn
    draw = drawer(source, tokenizer, options, texts=not options.plan.names)
    trainer = Trainer(load_backbone(files), base, options, threads=threads)
    if not took_up(trainer, out / _STATE) and init is not None:
        trainer.start_from(load_checkpoint(init))
    events = out / "events" if tensorboard else None
    progress = FitProgress(options.steps)
    with Stop("step") as stop, RunLog(out / _LOG, trainer.step, events=events) as log, progress:
        reports = run(
            trainer, draw, save_to=out / _STATE, save_every=save_every, should_stop=stop.is_asked
        )
        for report in reports:
            log.add(report)
            progress.add(report)
            if report.rerun or report.lost:
                say(
                    f"step {report.step}: memory failed {report.rerun + report.lost} times; "
                    f"{report.rerun} micro-batches were read again in smaller parts, "
                    f"{report.lost} questions are left out; a smaller --memory plans for less"
                )
            if report.step % save_every == 0:
                save_checkpoint(trainer.checkpoint(model_id), out / "checkpoint")
        save_checkpoint(trainer.checkpoint(model_id), out / "checkpoint")
    plot_run(out / _LOG, out / "plot.svg")
    if trainer.step < options.steps:
        say(f"stopped at step {trainer.step}; the same command goes on from there")
    say(f"wrote {out / 'checkpoint'}")
    return stop.status if trainer.step < options.steps else 0


def took_up(trainer: Trainer, state: Path) -> bool:
    """Go on from *state* where there is such a file, tell of it, and say whether there is.

    Raises:
        ValueError: The file is damaged or of another run.
    """
    if not state.is_file():
        return False
    changed = trainer.resume(state)
    say(f"resumed at step {trainer.step}")
    if changed:
        say(f"not as an unbroken run would go on: changed are {', '.join(changed)}")
    return True
