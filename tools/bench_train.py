"""What a step of training costs beside a plain transformers and LoRA loop, on one thread.

python tools/bench_train.py [--steps N] [--seed N]

Needs `pip install peft==0.21.2`, used here alone.

Both sides take the batches of the default recipe on the default base in bf16, with adapters of
rank 24 on every projection, and end each step with AdamW. deg makes its own step: contexts, forks
that share them, heads and losses. The plain loop reads the very tokens of each batch, contexts and
forks, as rows of equal length, one for each context: nothing shared, nothing padded, no head and no
vocabulary, its loss a mean over the final hidden states. Its adapters are bf16 too, one pair for
each of the seven projections that transformers has; deg's are fp32 masters, one pair for each of
its four joined ones. It runs once for each kind of attention that transformers offers here, and
the faster one counts.

The sides take turns step by step. Time is processor time, which on one thread is the time a step
takes where nothing else runs; tokens are real ones, padding not counted.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence

import torch
from peft import LoraConfig, get_peft_model
from torch import Tensor
from transformers import LlamaConfig, LlamaModel

from deg_model import (
    BASES,
    DEFAULT_BASE,
    BaseFiles,
    Tokenizer,
    load_backbone,
    load_weights,
    resolve_base,
)
from deg_train.batches import Batch
from deg_train.fit_options import FitOptions
from deg_train.recipe import default_mixture, drawer
from deg_train.trainer import Trainer

PROJECTIONS = [f"{name}_proj" for name in "q k v o gate up down".split()]
ATTENTION = ("sdpa", "eager")
TARGET = 1.3

Step = Callable[[Sequence[Batch]], object]

# N flat tokens, B rows, T tokens of a row, H hidden


def main() -> None:
    """Print the tokens per second of each side and how much slower deg is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=12, help="timed, after one that is not")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    options = FitOptions(seed=arguments.seed, form_steps=0)
    files = resolve_base(BASES[DEFAULT_BASE], report=print)
    draw = drawer(default_mixture(None), Tokenizer.load(files.folder, files.family), options)
    sides: dict[str, Step] = {
        "deg": Trainer(load_backbone(files), BASES[DEFAULT_BASE], options).train_step
    }
    sides |= {name: plain_step(files, options, attention=name) for name in ATTENTION}
    steps = [draw(number) for number in range(arguments.steps + 1)]
    report(steps[1:], timed(sides, steps))


def plain_step(files: BaseFiles, options: FitOptions, *, attention: str) -> Step:
    """Return the step of a plain loop over the same base."""
    torch.manual_seed(options.seed)
    config = LlamaConfig(**files.config, attn_implementation=attention)
    base = LlamaModel(config).to(torch.bfloat16)
    base.load_state_dict({n.removeprefix("model."): w for n, w in load_weights(files).items()})
    lora = LoraConfig(r=options.rank, lora_alpha=options.rank, target_modules=PROJECTIONS)
    # peft would keep the adapters in fp32 and cast around them, which costs more
    model = get_peft_model(base, lora, autocast_adapter_dtype=False)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=options.learning_rate)

    def step(batches: Sequence[Batch]) -> None:
        for batch in batches:
            hidden_BTH = model(input_ids=packed(batch), use_cache=False).last_hidden_state
            hidden_BTH.mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def packed(batch: Batch) -> Tensor:
    """Return the real tokens of *batch* as rows [B, T], one for each context.

    At most B - 1 tokens that fill no row are left out.
    """
    num = len(batch.context_lengths_B)
    padded = [(batch.context_lengths_B, batch.width)]
    padded += [(bucket.lengths_R, bucket.width) for bucket in batch.buckets]
    real = [(torch.arange(width) < lengths[:, None]).flatten() for lengths, width in padded]
    ids_N = batch.ids_N[torch.cat(real)]
    return ids_N[: len(ids_N) // num * num].view(num, -1)


def timed(sides: dict[str, Step], steps: Sequence[Sequence[Batch]]) -> dict[str, list[float]]:
    """Return the processor time of each side for each step but the first, which warms up."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for batches in steps:
        for name, step in sides.items():
            began = time.process_time()
            step(batches)
            seconds[name].append(time.process_time() - began)
    return {name: each[1:] for name, each in seconds.items()}


def report(steps: Sequence[Sequence[Batch]], seconds: dict[str, list[float]]) -> None:
    """Print medians over the steps, and the quartiles of the ratio beside its target."""
    real = [sum(batch.num_real_tokens for batch in step) for step in steps]
    padded = sum(len(batch.ids_N) for step in steps for batch in step)
    print(f"{len(steps)} steps of {sum(real) / len(steps):.0f} tokens")
    print(f"deg pads {padded / sum(real) - 1:.1%}, the plain loop nothing")
    rates = {
        name: [num / each for num, each in zip(real, times, strict=True)]
        for name, times in seconds.items()
    }
    for name, rate in rates.items():
        print(f"{name:6}{statistics.median(rate):8.1f} tokens/s")
    plain = max(ATTENTION, key=lambda name: statistics.median(rates[name]))
    ratios = [own / other for own, other in zip(seconds["deg"], seconds[plain], strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    print(f"deg / {plain}: {middle:.2f} ({low:.2f} to {high:.2f}), target <= {TARGET}")


if __name__ == "__main__":
    main()
