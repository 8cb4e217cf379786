"""`deg-train fit`: train adapters and heads, log each step, keep what a resumed run needs."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

import torch
from deg_model import BASES, DEFAULT_BASE, Tokenizer, load_backbone, resolve_base, save_checkpoint

from deg_train.recipe import default_mixture, drawer
from deg_train.trainer import FitOptions, StepReport, Trainer, run

__all__ = ["fit"]

_STATE = "state.safetensors"


def fit(
    out: Path,
    options: FitOptions,
    *,
    folder: Path | None,
    model_id: str,
    threads: int,
    save_every: int,
) -> None:
    """Train into *out*, going on from its saved state where there is one.

    Args:
        out: Holds `metrics.jsonl`, the state and, at the end, `checkpoint/`.
        options: How to train.
        folder: The public data sets; without it, generated documents alone.
        model_id: The name that the checkpoint gives itself.
        threads: CPU threads of the tensor library.
        save_every: Steps between two saved states.
    """
    torch.set_num_threads(threads)
    out.mkdir(parents=True, exist_ok=True)
    base = BASES[DEFAULT_BASE]
    files = resolve_base(base, report=_say)
    trainer = Trainer(load_backbone(files), base, options)
    if (out / _STATE).is_file():
        trainer.resume(out / _STATE)
        _say(f"resumed at step {trainer.step}")
    draw = drawer(default_mixture(folder), Tokenizer.load(files.folder), options)
    with (out / "metrics.jsonl").open("a", encoding="utf-8") as log:
        reports = run(trainer, draw, save_to=out / _STATE, save_every=save_every)
        for report in _with_progress(reports, options):
            log.write(json.dumps(asdict(report)) + "\n")
            log.flush()
            if report.step % save_every == 0:
                save_checkpoint(trainer.checkpoint(model_id), out / "checkpoint")
    save_checkpoint(trainer.checkpoint(model_id), out / "checkpoint")
    _say(f"wrote {out / 'checkpoint'}")


def _with_progress(reports, options):  # type: ignore[no-untyped-def]
    window: list[StepReport] = []
    began, first = time.monotonic(), None
    for report in reports:
        first = report.step if first is None else first
        window.append(report)
        if len(window) == 20 or report.step == options.steps:
            _say(_line(window, options, (time.monotonic() - began) / (report.step - first + 1)))
            window.clear()
        yield report


def _line(window: list[StepReport], options: FitOptions, seconds_per_step: float) -> str:
    last, num = window[-1], len(window)
    mean = {
        name: sum(getattr(report, name) for report in window) / num
        for name in ("decide", "extract", "decide_right", "extract_right")
    }
    rate = sum(r.tokens for r in window) / sum(r.seconds for r in window)
    left = (options.steps - last.step) * seconds_per_step / 60
    return (
        f"step {last.step}/{options.steps}  decide {mean['decide']:.3f} "
        f"({mean['decide_right']:.2f} right)  extract {mean['extract']:.3f} "
        f"({mean['extract_right']:.2f} right)  {rate:.0f} tokens/s  {left:.0f} min left"
    )


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
