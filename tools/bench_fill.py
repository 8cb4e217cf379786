"""What one fill costs beside one plain transformers forward over as many tokens, on one thread.

python tools/bench_fill.py [--repeats N]

Both sides run in turn in one process, in bf16 on the same base weights; the best run of each
counts. Time is processor time, which on one thread is the time a run takes where nothing else runs.
The adapters and heads are random: what they hold changes no amount of work.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from deg_model import (
    BASES,
    DEFAULT_BASE,
    BaseFiles,
    DegModel,
    Heads,
    LowRankAdapters,
    Tokenizer,
    default_taps,
    load_backbone,
    load_weights,
    resolve_base,
)
from deg_runtime import Engine

CONTEXT = """\
From: Maria Keller <maria.keller@example.org>
To: support
Subject: parcel 4471 and an invoice that was paid twice

Dear team, the parcel that I ordered on 3 March 2024 has still not arrived at 14 Rose Lane in
Dublin, and the invoice of 129.50 EUR was taken from my account twice, on the 4th and again on the
11th. I called last Tuesday and was told that the courier had lost it, that a new one would leave
the warehouse the same day, and that I would get a mail with the tracking number. No such mail has
come. The order holds two pairs of hiking boots, a rain jacket and a stove, and we leave for the
mountains on 28 March, so I need all of it by the 26th at the latest. If that cannot be done,
please cancel the order and return both payments to the card ending in 4471. I have been a customer
for nine years and never had any trouble before, which makes it all the more disappointing that
nobody has answered the two letters that I wrote since. Please call me in the afternoon, I am at my
desk until half past five, or write to this address. The reference on the invoice is INV-2024-0381.
With kind regards, Maria Keller
"""
SCHEMA = {
    "type": "object",
    "properties": {
        "topic": {
            "enum": ["billing", "delivery", "returns", "other"],
            "description": "What the writer mostly asks about",
        },
        "channel": {
            "enum": ["phone", "mail", "letter"],
            "description": "How the writer wants to be answered",
        },
        "needs_reply_today": {
            "type": "boolean",
            "description": "True if the writer needs an answer before the end of the day",
        },
        "is_customer": {
            "type": "boolean",
            "description": "True if the writer has bought something from us before",
        },
        "customer_name": {
            "type": "string",
            "description": "The full name of the person who wrote, as printed in the message",
        },
        "email": {
            "type": "string",
            "format": "email",
            "description": "The address that an answer should be sent to",
        },
        "amount": {
            "type": "number",
            "minimum": 0,
            "description": "The amount of money that was taken from the account",
        },
        "order_date": {
            "type": "string",
            "format": "date",
            "description": "The day on which the parcel was ordered",
        },
    },
}


def main() -> None:
    """Print the processor time of both sides and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10)
    repeats = parser.parse_args().repeats
    torch.set_num_threads(1)
    torch.manual_seed(0)
    files = resolve_base(BASES[DEFAULT_BASE], report=print)
    engine, plain = Engine(filling_model(files)), plain_model(files)
    num_fields = len(SCHEMA["properties"])
    num_tokens = engine.fill(CONTEXT, SCHEMA)["usage"]["prompt_tokens"]
    num_context = len(engine.model.read(CONTEXT).encoded.ids)
    ids = torch.randint(0, plain.config.vocab_size, (1, num_tokens))

    def forward() -> None:
        with torch.inference_mode():
            plain(ids, use_cache=False)

    fill_s, forward_s = best_of(repeats, lambda: engine.fill(CONTEXT, SCHEMA), forward)
    print(f"{num_context} context tokens, {num_fields} fields, {num_tokens} tokens in all")
    print(f"fill {1e3 * fill_s:.0f} ms, transformers forward {1e3 * forward_s:.0f} ms")
    print(f"ratio {fill_s / forward_s:.2f}")


def filling_model(files: BaseFiles) -> DegModel:
    """Return the base with random adapters merged in, and random heads."""
    backbone = load_backbone(files)
    adapters = LowRankAdapters(backbone, rank=24)
    for parameter in adapters.parameters():
        torch.nn.init.normal_(parameter, std=0.01)
    taps = default_taps(backbone.config.num_layers)
    hidden = backbone.config.hidden_size
    with torch.no_grad():
        merged = backbone.merged(adapters.pairs(torch.float32))
    tokenizer = Tokenizer.load(files.folder, files.family)
    return DegModel(merged, Heads(hidden, hidden * len(taps)), tokenizer, taps=taps, model_id="")


def plain_model(files: BaseFiles) -> LlamaForCausalLM:
    """Return the same base as transformers runs it."""
    model = LlamaForCausalLM(LlamaConfig(**files.config)).to(torch.bfloat16).eval()
    weights = load_weights(files)
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    model.load_state_dict(weights)
    return model


def best_of(repeats: int, *sides: Callable[[], object]) -> list[float]:
    """Return the least processor time of each side, run in turn."""
    best = [float("inf")] * len(sides)
    for _ in range(repeats):
        for number, run in enumerate(sides):
            began = time.process_time()
            run()
            best[number] = min(best[number], time.process_time() - began)
    return best


if __name__ == "__main__":
    main()
