"""`deg-train calibrate`: one temperature for each head, fit by likelihood on unseen draws.

The records come from the training mixture by seeds that no training step draws from. Generated
documents are then new; a single example of a public train split may have been seen in training,
in other words and beside other options, so the temperatures may be a little too sure there.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from deg_model import (
    HEAD_NAMES,
    Checkpoint,
    DegModel,
    Tokenizer,
    load_checkpoint,
    resolve_base,
    save_checkpoint,
)
from deg_train.batches import Batch, pack
from deg_train.console import say
from deg_train.kinds import read_with
from deg_train.logits import decide_logits, guess_spans
from deg_train.questions import Example, example_of
from deg_train.recipe import MAX_EXAMPLE_TOKENS, default_mixture
from deg_train.sources import Sampler
from deg_train.temperatures import Scored, TemperatureFit, fit_temperature

__all__ = ["calibrate", "draw_examples", "fit_heads", "with_temperatures"]

_BATCH_TOKENS = 2048
_FEWEST_QUESTIONS = 20


def calibrate(
    folder: Path, *, sets: Path | None, num_records: int, seed: int, threads: int
) -> dict[str, TemperatureFit]:
    """Fit the temperatures of the checkpoint in *folder* and write them into it.

    Args:
        folder: The checkpoint, replaced whole when all is done.
        sets: The public data sets; without it, generated documents alone.
        num_records: How many records to fit on.
        seed: Of the records.
        threads: CPU threads of the tensor library.
    """
    torch.set_num_threads(threads)
    checkpoint = load_checkpoint(folder)
    model = DegModel.load(checkpoint, resolve_base(checkpoint.base, report=say))
    examples = draw_examples(default_mixture(sets), model.tokenizer, num_records, seed)
    fits = fit_heads(model, _with_progress(pack(examples, _BATCH_TOKENS)))
    for head in HEAD_NAMES:
        say(_line(head, fits[head]) if head in fits else f"{head:<8} too few questions: unchanged")
    save_checkpoint(with_temperatures(checkpoint, fits), folder)
    say(f"wrote {folder}")
    return fits


def draw_examples(source: Sampler, tokenizer: Tokenizer, count: int, seed: int) -> list[Example]:
    """Draw examples as training does, by a seed that training never has."""
    rng = random.Random(f"calibrate/{seed}")
    examples: list[Example] = []
    while len(examples) < count:
        example = example_of(source.sample(rng), tokenizer)
        if example.questions and example.num_tokens <= MAX_EXAMPLE_TOKENS:
            examples.append(example)
    return examples


@torch.inference_mode()
def fit_heads(model: DegModel, batches: Iterable[Batch]) -> dict[str, TemperatureFit]:
    """Fit the temperature of each head that *batches* have enough questions for."""
    scored: defaultdict[str, list[Scored]] = defaultdict(list)
    for batch in batches:
        hidden = read_with(model, batch)
        for name, decided in decide_logits(model.heads, batch, hidden).items():
            scored[name].append(decided)
        guesses = guess_spans(model.heads, batch, hidden)
        if guesses is not None:
            scored["extract"].append(guesses)
    fits = {
        name: fit_temperature(scored[name], model.heads.temperature(name))
        for name in HEAD_NAMES
        if name in scored
    }
    # a handful of questions would fit its own luck
    return {name: fit for name, fit in fits.items() if fit.count >= _FEWEST_QUESTIONS}


def with_temperatures(checkpoint: Checkpoint, fits: Mapping[str, TemperatureFit]) -> Checkpoint:
    """Return *checkpoint* with the fitted temperatures; a head without a fit keeps its own."""
    temperatures = checkpoint.heads["temperatures"].clone()
    for name, fit in fits.items():
        temperatures[HEAD_NAMES.index(name)] = fit.temperature
    return replace(checkpoint, heads={**checkpoint.heads, "temperatures": temperatures})


def _with_progress(batches: Sequence[Batch]) -> Iterator[Batch]:
    for number, batch in enumerate(batches):
        if number % 20 == 0:
            say(f"batch {number}/{len(batches)}")
        yield batch


def _line(head: str, fit: TemperatureFit) -> str:
    (loss, new_loss), (error, new_error) = fit.loss, fit.error
    return (
        f"{head:<8} temperature {fit.temperature:.3f}   NLL {loss:.4f} -> {new_loss:.4f}   "
        f"ECE {error:.4f} -> {new_error:.4f}   n {fit.count}"
    )
