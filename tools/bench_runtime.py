"""What the runtime adds and saves, as ratios of one run on one thread with the default checkpoint.

python tools/bench_runtime.py [PART ...] [--repeats N]

Parts: `repeat` a cached context, `short` and `medium` requests together or one by one, `overhead`
of a fill around the model, `long` contexts beside shorter ones. All of them take some minutes, most
of which `long` takes. Time is processor time, which on one thread is the time a run takes where
nothing else runs; the best of the repeats counts, `long` runs once.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from bench_fill import CONTEXT, SCHEMA, best_of

from deg_model import attention, scores
from deg_runtime import Engine, load

TWO_FIELDS = {
    "type": "object",
    "properties": {name: SCHEMA["properties"][name] for name in ("topic", "amount")},
}


class Clock:
    """Adds up the processor time of what it is put around."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._is_running = False

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return *function*, timed, save where one that is timed calls it."""

        def timed(*args: Any, **kwargs: Any) -> Any:
            if self._is_running:
                return function(*args, **kwargs)
            self._is_running, began = True, time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                self._is_running = False
                self.seconds += time.process_time() - began

        return timed

    @contextmanager
    def inside(self, *places: tuple[object, str]) -> Iterator[None]:
        """Time the functions at *places*, each an owner and a name."""
        self.seconds, usual = 0.0, [getattr(owner, name) for owner, name in places]
        for (owner, name), function in zip(places, usual, strict=True):
            setattr(owner, name, self.around(function))
        try:
            yield
        finally:
            for (owner, name), function in zip(places, usual, strict=True):
                setattr(owner, name, function)


def main() -> None:
    """Print the ratios of the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - PARTS.keys():
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    torch.set_num_threads(1)
    engine = load(report=print)
    for part in arguments.parts or PARTS:
        PARTS[part](engine, arguments.repeats)


def repeat(engine: Engine, repeats: int) -> None:
    """Fill from a context of 1,000 tokens, then from the same one again."""
    text = text_of(engine, 1000)
    first_s, again_s = best_of(
        repeats,
        lambda: fresh(engine).fill(text, SCHEMA),
        lambda: engine.fill(text, SCHEMA),
    )
    report("repeat of a cached 1,000-token context / first", again_s, first_s, most=0.35)


def short(engine: Engine, repeats: int) -> None:
    """Fill 64 requests on contexts of 30 tokens with 2 fields."""
    together(engine, repeats, number=64, num_tokens=30, schema=TWO_FIELDS, most=0.6)


def medium(engine: Engine, repeats: int) -> None:
    """Fill 16 requests on contexts of 500 tokens."""
    together(engine, repeats, number=16, num_tokens=500, schema=SCHEMA, most=1.0)


def overhead(engine: Engine, repeats: int) -> None:
    """Fill 8 fields from 300 tokens, and see what is spent neither in the stack nor on heads."""
    clock, text, shares = Clock(), text_of(engine, 300), []
    for _ in range(repeats + 1):
        fresh(engine)
        with clock.inside((engine.model.backbone, "hidden"), (scores, "linear")):
            began = time.process_time()
            engine.fill(text, SCHEMA)
            whole_s = time.process_time() - began
        shares.append(((whole_s - clock.seconds) / whole_s, whole_s))
    # the first one compiles what later ones find
    share, whole_s = min(shares[1:])
    report("overhead / fill of 300 tokens", share * whole_s, whole_s, most=0.1)


def long(engine: Engine, _repeats: int) -> None:
    """Read 32,000 tokens and 4,000, with and without what attention takes."""
    clock, rates, others = Clock(), [], []
    text_of(engine, 64)
    for num_tokens in (4000, 32000):
        text = text_of(engine, num_tokens)
        fresh(engine)
        with clock.inside((attention, "fork_attention")):
            began = time.process_time()
            (read,) = engine.contexts.read_many([text])
            whole_s = time.process_time() - began
        size = len(read.state.encoded.ids)
        rates.append(size / whole_s)
        others.append(size / (whole_s - clock.seconds))
        print(
            f"{size} tokens: {rates[-1]:.0f} tokens/s, attention {clock.seconds / whole_s:.0%}, "
            f"without it {others[-1]:.0f} tokens/s, state {read.state.num_bytes / size:.0f} B/token"
        )
    report("tokens/s of 32,000 / of 4,000, without attention", others[1], others[0], least=0.75)
    print(f"  with attention {rates[1] / rates[0]:.2f}")
    engine.fill(text, SCHEMA)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    report("peak memory with a fill of 32,000 tokens / GB", peak, 1e9, most=3.0)


PARTS = {
    "repeat": repeat,
    "short": short,
    "medium": medium,
    "overhead": overhead,
    "long": long,
}


def together(
    engine: Engine,
    repeats: int,
    *,
    number: int,
    num_tokens: int,
    schema: dict[str, Any],
    most: float,
) -> None:
    """Fill *number* requests by `fill_many`, and one by one."""
    texts = [f"{100 + n} {text_of(engine, num_tokens - 4)}" for n in range(number)]
    requests = [(text, schema) for text in texts]

    def one_by_one() -> None:
        for request in requests:
            fresh(engine).fill(*request)

    many_s, one_s = best_of(repeats, lambda: fresh(engine).fill_many(requests), one_by_one)
    name = f"{number} requests of {num_tokens} tokens in fill_many / one by one"
    report(name, many_s, one_s, most=most)


def fresh(engine: Engine) -> Engine:
    """Let *engine* forget what it read."""
    engine.contexts.clear()
    return engine


def text_of(engine: Engine, num_tokens: int) -> str:
    """Return a text that is read as about *num_tokens* tokens, without repeating a line."""
    words = f"{CONTEXT} ".split(" ")
    lines, number = [], 0
    encode = engine.model.tokenizer.encode_with_offsets
    per_word = len(encode(CONTEXT)[0]) / len(words)
    while len(lines) * per_word < num_tokens:
        number += 1
        lines += [f"{number}." if number > 1 else "", *words]
    text = " ".join(lines)
    _, offsets = encode(text)
    return text[: offsets[min(num_tokens, len(offsets)) - 1][1]]


def report(
    name: str, part: float, whole: float, *, most: float | None = None, least: float | None = None
) -> None:
    """Print a ratio and what it should be."""
    target = f"at most {most}" if most is not None else f"at least {least}"
    print(f"{name}: {part / whole:.2f} ({target})", flush=True)


if __name__ == "__main__":
    main()
